"""Masked-LM accuracy on held-out text: 15 % of the word pieces of each line masked, always [MASK].

Each line is one sequence, cut at 510 pieces; max(1, round(0.15 n)) of its n pieces are masked, chosen by a
generator seeded with (seed, line number), so every line's masks are the same in any run. With --teacher, a model
of the same vocabulary, also the mean Kullback-Leibler divergence from it, in nats a masked piece, and its top-1.

With --gaps N, a gap of N whole words side by side is masked in each line that has one, all at once, and each piece
counts by itself: what a search begins with.
"""

import argparse
import itertools
import json

import numpy as np
import torch

import data
import model
import prepare
import text
import weights

SHARE, SEED, ROOM = 0.15, 1, 510


def examples(path: str, vocab: str, limit: int | None = None, gaps: int = 0):
    """The lines of a file as (ids with [CLS] and [SEP], masked positions), both arrays."""
    tok, special, kind = prepare.tokenizer(vocab), data.special(vocab), data.kinds(vocab)
    out = []
    with open(path, encoding="utf-8") as f:
        lines = [line.strip() for line in f][:limit]
    for number, e in enumerate(tok.encode_batch(lines, add_special_tokens=False)):
        ids = np.array([special.cls, *e.ids[:ROOM], special.sep])
        n = len(ids) - 2
        rng = np.random.default_rng([SEED, number])
        if gaps:
            found = [(i, end) for i in range(1, n + 1) if kind[ids[i]] == 1 and (end := data.gap_end(kind[ids], i, gaps))]
            if found:
                out.append((ids, np.arange(*found[rng.integers(len(found))])))
        elif n:
            out.append((ids, 1 + np.sort(rng.choice(n, max(1, round(SHARE * n)), replace=False))))
    return out


@torch.no_grad()
def evaluate(net: model.MaskedLM, todo: list, special: data.Special, teacher: model.MaskedLM | None = None,
             tokens: int = 8192) -> dict:  # fmt: skip
    """top-1, top-5 (shares of the masked pieces), perplexity, the number of masked pieces, and with a teacher kl and
    its top-1 at the same places."""
    todo = sorted(todo, key=lambda x: len(x[0]))
    first = five = count = taught = 0
    nll, kl, at = 0.0, 0.0, 0
    while at < len(todo):
        end = at + 1
        while end < len(todo) and (end + 1 - at) * len(todo[end][0]) <= tokens:
            end += 1
        part, at = todo[at:end], end
        length = len(part[-1][0])
        ids = np.full((len(part), length), special.pad)
        for row, (line, _) in zip(ids, part):
            row[: len(line)] = line
        where = torch.from_numpy(np.concatenate([r * length + m for r, (_, m) in enumerate(part)]))
        target = torch.from_numpy(ids.reshape(-1)[where])
        real = torch.from_numpy(ids != special.pad)
        ids.reshape(-1)[where] = special.mask
        inputs = torch.from_numpy(ids), None if bool(real.all()) else real, where
        logp = net.logits(*inputs).log_softmax(-1)
        own = logp.gather(1, target[:, None])
        rank = (logp > own).sum(1)
        first += int((rank < 1).sum())
        five += int((rank < 5).sum())
        count += len(target)
        nll -= float(own.double().sum())
        if teacher is not None:
            known = teacher.logits(*inputs).log_softmax(-1)
            kl += float((known.exp() * (known - logp)).sum(-1).double().sum())
            taught += int((known.argmax(-1) == target).sum())
    out = {"top1": first / count, "top5": five / count, "perplexity": float(np.exp(nll / count)), "masked": count}
    return out if teacher is None else {**out, "kl": kl / count, "teacher": taught / count}


def whole(path: str, vocab: str, limit: int | None = None) -> float:
    """The share of a text's words, runs of letters, that are one piece of the vocabulary."""
    pieces = set(data.vocabulary(vocab))
    with open(path, encoding="utf-8") as f:
        words = [w for line in itertools.islice(f, limit) for w in text.words(line) if w.isalpha()]
    return sum(w in pieces for w in words) / max(1, len(words))


def load(path: str) -> model.MaskedLM:
    """The network of a checkpoint.pt or of a model folder (BERT's or ELECTRA's names), computed in float32."""
    if path.endswith(".pt"):
        saved = torch.load(path, map_location="cpu")
        config, state = saved["config"], saved["model"]
    else:
        with open(f"{path}/config.json", encoding="utf-8") as f:
            config = json.load(f)
        state = model.narrow(model.from_electra(weights.tensors(path)), config)
    net = model.MaskedLM(config)
    net.load_state_dict(state)
    return net.eval()


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--model", required=True, help="checkpoint.pt or a model folder")
    p.add_argument("--vocab", help="vocab.txt; that of the folder if not given")
    p.add_argument("--teacher", help="folder of a model with the same vocabulary, to print the divergence from")
    p.add_argument("--limit", type=int, help="only so many lines of each file")
    p.add_argument("--gaps", type=int, default=0, help="mask so many words side by side in each line, in place of 15 %% of its pieces")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("text", nargs="+")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    net, teacher = load(a.model), load(a.teacher) if a.teacher else None
    vocab = a.vocab or f"{a.model}/vocab.txt"
    for path in a.text:
        r = evaluate(net, examples(path, vocab, a.limit, a.gaps), data.special(vocab), teacher)
        more = f" kl {r['kl']:.4f} teacher {r['teacher']:.4f}" if teacher else ""
        print(f"{path}: top-1 {r['top1']:.4f} top-5 {r['top5']:.4f} perplexity {r['perplexity']:.2f}{more} "
              f"({r['masked']} masked, {whole(path, vocab, a.limit):.4f} whole words)", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
