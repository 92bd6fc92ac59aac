"""Compares masked LMs of different vocabularies on the same text.

A word counts if it is letters only and one piece in every model's vocabulary. Of each line up to --words of these are drawn (seeded
with the line's number), and masked one at a time: the same words at the same places for every model, each with
its own tokens around. Printed for each model: top-1 and top-5 among all its pieces, and, since only that can
be compared between vocabularies, top-1 and perplexity among the words that all models have.
"""

import argparse

import numpy as np
import torch

import data
import evaluate
import prepare
import text

SEED = 1


def common(vocabularies: list[str]) -> list[str]:
    """The words of letters that every vocabulary has as one piece, sorted."""
    return sorted(set.intersection(*({w for w in data.vocabulary(path) if w.isalpha()} for path in vocabularies)))


def places(lines: list[str], known: set[str], count: int) -> list[tuple[int, int]]:
    """(Line, word) of the words to mask; words are those of text.words."""
    out = []
    for number, line in enumerate(lines):
        some = [k for k, w in enumerate(text.words(line)) if w in known]
        rng = np.random.default_rng([SEED, number])
        out += [(number, int(k)) for k in np.sort(rng.permutation(some)[:count])]
    return out


def examples(lines: list[str], where: list[tuple[int, int]], tok, special: data.Special):
    """For each place (ids with [CLS], the mask and [SEP]; where it is), cut to 510 pieces around it, and the word's id."""
    cache: dict[str, list[int]] = {}
    out = []
    for number, k in where:
        ids, at = [], 0
        for j, w in enumerate(text.words(lines[number])):
            if w not in cache:
                cache[w] = tok.encode(w, add_special_tokens=False).ids
            if j == k:
                at = len(ids)
            ids += cache[w]
        target, ids[at] = ids[at], special.mask
        first = max(0, min(at - evaluate.ROOM // 2, len(ids) - evaluate.ROOM))
        out.append((np.array([special.cls, *ids[first : first + evaluate.ROOM], special.sep]), at - first + 1, target))
    return out


@torch.no_grad()
def measure(net, todo: list, shared: torch.Tensor, special: data.Special, tokens: int = 8192) -> dict:
    """Shares of right words and the perplexity among the shared ids [words]."""
    order = sorted(todo, key=lambda x: len(x[0]))
    first = five = among = 0
    nll, i = 0.0, 0
    while i < len(order):
        end = i + 1
        while end < len(order) and (end + 1 - i) * len(order[end][0]) <= tokens:
            end += 1
        part, i = order[i:end], end
        length = len(part[-1][0])
        ids = np.full((len(part), length), special.pad)
        for row, (x, _, _) in zip(ids, part):
            row[: len(x)] = x
        at = torch.tensor([r * length + p for r, (_, p, _) in enumerate(part)])
        target = torch.tensor([t for _, _, t in part])[:, None]
        ids = torch.from_numpy(ids)
        real = ids != special.pad
        logits = net.logits(ids, None if bool(real.all()) else real, at)
        own = logits.gather(1, target)
        rank = (logits > own).sum(1)
        first, five = first + int((rank < 1).sum()), five + int((rank < 5).sum())
        few = logits[:, shared]
        among += int(((few > own).sum(1) < 1).sum())
        nll += float((few.logsumexp(-1) - own[:, 0]).double().sum())
    n = len(todo)
    return {"top1": first / n, "top5": five / n, "among": among / n, "perplexity": float(np.exp(nll / n)), "words": n}


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--models", required=True, nargs="+", help="model folders")
    p.add_argument("--limit", type=int, help="only so many lines of each file")
    p.add_argument("--words", type=int, default=2, help="words to mask in a line")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--text", required=True, nargs="+")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    vocabularies = [f"{m}/vocab.txt" for m in a.models]
    shared = common(vocabularies)
    print(f"{len(shared)} words are one piece in every vocabulary")
    for path in a.text:
        with open(path, encoding="utf-8") as f:
            lines = [line.strip() for line in f][: a.limit]
        where = places(lines, set(shared), a.words)
        for folder, vocab in zip(a.models, vocabularies):
            tok, special = prepare.tokenizer(vocab), data.special(vocab)
            ids = torch.tensor([tok.token_to_id(w) for w in shared])
            r = measure(evaluate.load(folder), examples(lines, where, tok, special), ids, special)
            print(f"{path}: {folder}: top-1 {r['top1']:.4f} top-5 {r['top5']:.4f}, among the shared words top-1 "
                  f"{r['among']:.4f} perplexity {r['perplexity']:.2f} ({r['words']} words)", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
