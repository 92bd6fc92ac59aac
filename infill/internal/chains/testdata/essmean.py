# Writes essmean.json: effective sample sizes of several chains by ArviZ (0.23.4).
import json, pathlib
import arviz, numpy as np

rng = np.random.default_rng(1)


def ends(x):
    """Whether a pair of autocorrelations is negative before the lags end: ArviZ cuts off there, and
    otherwise leaves the last pair out."""
    h = x.shape[1] // 2
    y = np.vstack([x[:, :h], x[:, -h:]])
    d = y - y.mean(axis=1, keepdims=True)
    acov = np.array([(d[:, : h - t] * d[:, t:]).sum(axis=1).mean() / h for t in range(h)])
    within = acov[0] * h / (h - 1)
    rho = 1 - (within - acov) / (acov[0] + y.mean(axis=1).var(ddof=1))
    return any(rho[t] + rho[t + 1] < 0 for t in range(2, h - 2, 2))


def cases():
    for m, n, r in [(4, 60, 0.5), (25, 25, 0.9), (25, 25, 0.3), (25, 80, 0.5), (1, 300, 0.6),
                    (2, 9, 0.3), (3, 41, -0.6), (10, 200, 0.97)]:
        x = np.zeros((m, n))
        x[:, 0] = rng.normal(size=m)
        for t in range(1, n):
            x[:, t] = r * x[:, t - 1] + np.sqrt(1 - r * r) * rng.normal(size=m)
        yield x
        yield (x > 0.5).astype(float)


out = []
for x in cases():
    x = np.round(x, 3)
    out.append({"chains": x.tolist(), "ess": float(arviz.ess(x, method="mean")), "ends": bool(ends(x))})
    print(x.shape, out[-1]["ess"], out[-1]["ends"])
path = pathlib.Path(__file__).with_name("essmean.json")
path.write_text(json.dumps(out, separators=(",", ":")) + "\n")
