"""Masked-LM accuracy on held-out text: 15 % of the word pieces of each line masked, always [MASK].

Each line is one sequence, cut at 510 pieces; max(1, round(0.15 n)) of its n pieces are masked, chosen by a
generator seeded with (seed, line number), so every line's masks are the same in any run.
"""

import argparse
import json

import numpy as np
import torch

import data
import model
import prepare

SHARE, SEED, ROOM = 0.15, 1, 510


def examples(path: str, vocab: str, limit: int | None = None):
    """The lines of a file as (ids with [CLS] and [SEP], masked positions), both arrays."""
    tok = prepare.tokenizer(vocab)
    out = []
    with open(path, encoding="utf-8") as f:
        lines = [line.strip() for line in f][:limit]
    for number, e in enumerate(tok.encode_batch(lines, add_special_tokens=False)):
        ids = np.array([data.CLS, *e.ids[:ROOM], data.SEP])
        n = len(ids) - 2
        if n:
            rng = np.random.default_rng([SEED, number])
            out.append((ids, 1 + np.sort(rng.choice(n, max(1, round(SHARE * n)), replace=False))))
    return out


@torch.no_grad()
def evaluate(net: model.MaskedLM, todo: list, tokens: int = 8192) -> dict:
    """top-1, top-5 (shares of the masked pieces), perplexity, and the number of masked pieces."""
    todo = sorted(todo, key=lambda x: len(x[0]))
    first = five = count = 0
    nll, at = 0.0, 0
    while at < len(todo):
        end = at + 1
        while end < len(todo) and (end + 1 - at) * len(todo[end][0]) <= tokens:
            end += 1
        part, at = todo[at:end], end
        length = len(part[-1][0])
        ids = np.full((len(part), length), data.PAD)
        for row, (line, _) in zip(ids, part):
            row[: len(line)] = line
        where = np.concatenate([r * length + m for r, (_, m) in enumerate(part)])
        target = torch.from_numpy(ids.reshape(-1)[where])
        real = torch.from_numpy(ids != data.PAD)
        ids.reshape(-1)[where] = data.MASK
        x = net.encode(torch.from_numpy(ids), None if bool(real.all()) else real)
        logp = net.head(x.reshape(-1, x.shape[-1])[torch.from_numpy(where)]).float().log_softmax(-1)
        own = logp.gather(1, target[:, None])
        rank = (logp > own).sum(1)
        first += int((rank < 1).sum())
        five += int((rank < 5).sum())
        count += len(target)
        nll -= float(own.double().sum())
    return {"top1": first / count, "top5": five / count, "perplexity": float(np.exp(nll / count)), "masked": count}


def load(path: str) -> model.MaskedLM:
    """The network of a checkpoint.pt or of a model folder (float16 weights, computed in float32)."""
    if path.endswith(".pt"):
        saved = torch.load(path, map_location="cpu")
        config, state = saved["config"], saved["model"]
    else:
        import safetensors.torch

        with open(f"{path}/config.json", encoding="utf-8") as f:
            config = json.load(f)
        wide = {n: t.float() for n, t in safetensors.torch.load_file(f"{path}/model.safetensors").items()}
        state = model.narrow(wide, config)
    net = model.MaskedLM(config)
    net.load_state_dict(state)
    return net.eval()


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--model", required=True, help="checkpoint.pt or a model folder")
    p.add_argument("--vocab", help="vocab.txt; that of the folder if not given")
    p.add_argument("--limit", type=int, help="only so many lines of each file")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("text", nargs="+")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    net = load(a.model)
    for path in a.text:
        r = evaluate(net, examples(path, a.vocab or f"{a.model}/vocab.txt", a.limit))
        print(f"{path}: top-1 {r['top1']:.4f} top-5 {r['top5']:.4f} perplexity {r['perplexity']:.2f} ({r['masked']})")


if __name__ == "__main__":
    main()
