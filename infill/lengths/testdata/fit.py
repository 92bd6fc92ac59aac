"""Writes fit.json: examples of two states of three values, and what scikit-learn 1.9 fits to them."""
import json
import pathlib

import numpy as np
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(5)
x = rng.normal(size=(400, 6)).astype(np.float32)
w = rng.normal(size=(6, 8))
y = (x @ w + rng.gumbel(size=(400, 8)) + np.linspace(1, -1, 8)).argmax(1)
fit = LogisticRegression(C=.5, tol=1e-10, max_iter=10000).fit(x, y)
out = {"x": x.astype(float).round(6).tolist(), "y": y.tolist(), "c": .5}
fit = LogisticRegression(C=.5, tol=1e-10, max_iter=10000).fit(np.array(out["x"]), y)
out["log_p"] = fit.predict_log_proba(np.array(out["x"])[:20]).round(8).tolist()
out["weight"] = fit.coef_.round(8).tolist()
pathlib.Path(__file__).with_name("fit.json").write_text(json.dumps(out))
