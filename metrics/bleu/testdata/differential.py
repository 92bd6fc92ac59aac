#!/usr/bin/env python3
"""Makes differential.json: random corpora with the scores that NLTK and sacrebleu
give them. Run once, with the versions it records, from this folder:

    pip install nltk sacrebleu && python3 differential.py

Corpora are drawn from small vocabularies so that n-grams repeat, and include
empty lines, one-word lines, corpora in which whole n-gram orders are missing and
ties in reference length.
"""
import json
import math
import random
import warnings

import nltk
import sacrebleu
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu
from sacrebleu.metrics import BLEU

warnings.filterwarnings("ignore")
rng = random.Random(20240917)


def sentence(vocab, kind):
    if kind == "short":
        n = rng.choice([0, 1, 1, 2, 2, 3])
    elif kind == "one":
        n = rng.choice([0, 1])
    else:
        n = rng.choice([0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 20])
    return [rng.choice(vocab) for _ in range(n)]


def mutate(s, vocab):
    """A reference that shares most of s; lengths tie around s now and then."""
    out = [w if rng.random() < 0.75 else rng.choice(vocab) for w in s]
    d = rng.choice([-2, -1, -1, 0, 1, 1, 2])
    return out[:len(out) + d] if d < 0 else out + [rng.choice(vocab) for _ in range(d)]


def corpus(i):
    vocab = ["w%d" % k for k in range(rng.choice([2, 3, 5, 10, 40]))]
    kind = ["long", "long", "long", "short", "one"][i % 5]
    hyps = [sentence(vocab, kind) for _ in range(rng.choice([1, 2, 3, 6, 12]))]
    many = rng.choice([1, 1, 2, 3, 4])
    refs = []
    for h in hyps:
        k = many if i % 3 else rng.choice([1, 2, 3])
        refs.append([mutate(h, vocab) if rng.random() < 0.8 else sentence(vocab, kind) for _ in range(k)])
    if i % 7 == 0:  # an exact tie: one word shorter and one longer
        h = max(hyps, key=len)
        j = hyps.index(h)
        refs[j] = [h[1:] if h else [vocab[0]], h + [vocab[0]]]
    return hyps, refs


def nltk_scores(hyps, refs, weights):
    out = {}
    for m in range(8):
        f = getattr(SmoothingFunction(), "method%d" % m)
        try:
            out["none" if m == 0 else "method%d" % m] = float(corpus_bleu(refs, hyps, weights, f))
        except (AssertionError, IndexError):
            out["method%d" % m] = None
    return out


def finite(x):
    return x is None or math.isfinite(x)


def paired():
    for i in range(150):
        hyps, refs = corpus(i)
        orders = [4, 4, 4, 1, 2, 3, 5, 6]
        n = orders[i % len(orders)]
        weights = [1 / n] * n
        if i % 4 == 3:
            weights = [rng.randint(0, 5) / 10 for _ in range(n)]
            weights[0] += 0.1
        scores = nltk_scores(hyps, refs, tuple(weights))
        assert all(finite(s) for s in scores.values()), scores
        yield {"hyps": hyps, "refs": refs, "weights": weights, "uniform": i % 4 != 3, "scores": scores}


def selfs():
    for i in range(60):
        hyps, _ = corpus(i)
        while len(hyps) < 2:
            hyps, _ = corpus(i)
        refs = [hyps[:k] + hyps[k + 1:] for k in range(len(hyps))]
        n = [4, 4, 2, 3, 5][i % 5]
        w = tuple([1 / n] * n)
        m1 = SmoothingFunction().method1
        mean = math.fsum(sentence_bleu(r, h, w, m1) for r, h in zip(refs, hyps)) / len(hyps)
        yield {"hyps": hyps, "order": n, "scores": nltk_scores(hyps, refs, w), "mean_method1": mean}


def shared():
    """Every hypothesis against the whole reference set, as metrics.md defines it."""
    for i in range(40):
        hyps, refs = corpus(i)
        pool = [r for rs in refs for r in rs]
        n = [4, 3, 5][i % 3]
        yield {"hyps": hyps, "refs": pool, "order": n,
               "scores": nltk_scores(hyps, [pool] * len(hyps), tuple([1 / n] * n))}


PIECES = ["the", "The", "U.S.", "3.14", "1,000", "20%", "end.", "\"quoted\"", "it's", "can't", "e-mail", "5-10", "(a)",
          "[UNK]", "x,y", "$5", "€20", "£3", "naïve", "Ünïcode", "日本語", "…", "—", "–", "a/b", "&amp;", "&quot;", "&lt;b&gt;",
          "&amp;lt;", "<skipped>", "!", "?!", ",", ".", "..", "'", "``", "''", "²", "½", "٣", "①", "½.", "A.B.", "C++", "#1", "a_b",
          "{x}", "~", "`", "^", "|", "\\", "«mot»", "100.", ".5", "-", "--", "-7", "İstanbul", "ΣΟΦΟΣ", "ß", "¿qué?", "°C", "👍", "a\u00a0b", "tab\tbed", "z\u200bw", "\u0301x"]


def text_line():
    n = rng.choice([0, 1, 2, 4, 6, 9, 14])
    return rng.choice(["", "", " "]) + " ".join(rng.choice(PIECES) for _ in range(n)) + rng.choice(["", "", ".", " ."])


def tokens():
    b = {t: BLEU(tokenize=t) for t in ("13a", "intl", "char", "none")}
    lines = [text_line() for _ in range(150)] + PIECES + ["".join(rng.choice(PIECES) for _ in range(4)) for _ in range(50)]
    for line in lines:
        yield {"line": line, "lower": line.lower(),
               "tokens": {t: m._preprocess_segment(line).split() for t, m in b.items()}}


def sacre():
    for i in range(150):
        k = rng.choice([1, 2, 3, 5, 9])
        if i % 5 == 4:  # short lines only: missing orders
            hyps = [" ".join(rng.choice(PIECES) for _ in range(rng.choice([0, 1, 1, 2]))) for _ in range(k)]
        else:
            hyps = [text_line() for _ in range(k)]
        streams = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            stream = []
            for h in hyps:
                w = [x if rng.random() < 0.8 else rng.choice(PIECES) for x in h.split(" ")]
                d = rng.choice([-1, 0, 0, 1])
                stream.append(" ".join(w[:d] if d < 0 else w + ["word"] * d))
            streams.append(stream)
        opt = {
            "tokenize": ["13a", "intl", "char", "none"][i % 4],
            "smooth_method": ["exp", "none", "floor", "add-k"][(i // 4) % 4],
            "smooth_value": None,
            "lowercase": i % 3 == 0,
            "effective_order": i % 2 == 0,
            "max_ngram_order": [4, 4, 2, 6, 1][i % 5],
        }
        if opt["smooth_method"] in ("floor", "add-k") and i % 3 == 1:
            opt["smooth_value"] = 0.5
        s = BLEU(**opt).corpus_score(hyps, streams)
        if opt["smooth_method"] == "add-k" and any(s.counts):
            # sacrebleu adds k to the counts it reports; undo it to compare the counts.
            v = 1 if opt["smooth_value"] is None else opt["smooth_value"]
            s.counts = [round(c - (v if j else 0)) for j, c in enumerate(s.counts)]
            s.totals = [round(c - (v if j else 0)) for j, c in enumerate(s.totals)]
        yield {"hyps": hyps, "streams": streams, "opt": opt, "score": s.score, "counts": s.counts, "totals": s.totals,
               "precisions": s.precisions, "bp": s.bp, "sys_len": s.sys_len, "ref_len": s.ref_len}


out = {"nltk": nltk.__version__, "sacrebleu": sacrebleu.__version__, "paired": list(paired()), "self": list(selfs()),
       "shared": list(shared()), "tokens": list(tokens()), "sacre": list(sacre())}
with open("differential.json", "w", encoding="utf-8") as f:
    json.dump(out, f, ensure_ascii=False, separators=(",", ":"))
    f.write("\n")
print({k: len(v) if isinstance(v, list) else v for k, v in out.items()})
