"""Variants of the same sentences by infill augment and by nlpaug's ContextualWordEmbsAug, as a table.

    infill model save default default
    python lab/augment/compare.py --infill bin/infill --onnx default --hf default \
        --input sentences.txt --count 50

It needs nlpaug 1.1.11, transformers 4 (nlpaug calls what version 5 has not) and torch. --onnx and --hf are folders of one model,
as infill and as transformers read it. nlpaug is asked to change a share of the words of a sentence, whatever the words, and changes fewer.
infill is asked for as many as nlpaug has changed, each to become another. `infill score` with that model judges all variants. Seconds are
processor seconds of all threads, which other work on the machine changes less than the time on the clock. With OMP_NUM_THREADS=1 and --threads 1
no thread of torch waits in a loop. Of infill they are of the whole command, its start included. Of nlpaug they are of the calls of augment,
without the imports and the opening of the model.
"""

import argparse
import difflib
import json
import os
import platform
import random
import re
import resource
import subprocess
import sys
import tempfile


def infill(args, *command):
    """Runs a command of infill and returns its JSON lines."""
    out = subprocess.run([args.infill, *command], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def spent(who):
    use = resource.getrusage(who)
    return use.ru_utime + use.ru_stime


def words(sentence):
    """The number of words, as infill counts them."""
    return sum(any(c.isalnum() for c in w) for w in sentence.split())


def by_infill(args, numbers, *flags):
    """numbers has the number of words to change of every sentence."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        for s, n in numbers.items():
            f.write(json.dumps({"text": s, "mask_words": n}) + "\n")
        f.flush()
        start = spent(resource.RUSAGE_CHILDREN)
        rows = infill(args, "augment", f.name, "--model", args.onnx, "--variants", str(args.variants),
                      "--mask-class", "all", "--min-distance", "1", "--seed", str(args.seed), "--quiet",
                      "--threads", str(args.threads), *flags)
        seconds = spent(resource.RUSAGE_CHILDREN) - start
    return [(r["original"], r["text"]) for r in rows if not r.get("error")], seconds


def by_nlpaug(args, numbers, top_k):
    import nlpaug.augmenter.word as naw
    import torch

    random.seed(args.seed)
    torch.manual_seed(args.seed)
    augmenter = naw.ContextualWordEmbsAug(model_path=args.hf, model_type="bert", action="substitute",
                                          top_k=top_k, device="cpu")
    start, pairs = spent(resource.RUSAGE_SELF), []
    for s, n in numbers.items():
        augmenter.aug_min = augmenter.aug_max = n
        pairs += [(s, v) for v in augmenter.augment(s, n=args.variants)]
    return pairs, spent(resource.RUSAGE_SELF) - start


def scores(args, texts):
    """The pieces of every text with their log-probabilities."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        for t in texts:
            f.write(json.dumps({"text": t}) + "\n")
        f.flush()
        rows = infill(args, "score", "--file", f.name, "--model", args.onnx, "--quiet")
    return {t: [(p["piece"], p["log_prob"]) for p in r["pieces"]] for t, r in zip(texts, rows)}


def plain(text):
    """The words and signs of a text, without regard to case and spaces."""
    return re.findall(r"[\w']+|[^\w\s]", text.lower())


def new(a, b):
    """What of b a longest match with a leaves."""
    match = difflib.SequenceMatcher(None, a, b, autojunk=False)
    return [i for tag, _, _, j1, j2 in match.get_opcodes() if tag in ("replace", "insert") for i in range(j1, j2)]


def as_many(numbers, pairs):
    """The mean number of words that are changed in the variants of each sentence, rounded, at least 1."""
    of = {s: [len(new(plain(s), plain(v))) for t, v in pairs if t == s] for s in numbers}
    return {s: max(1, int(sum(n) / len(n) + 0.5)) for s, n in of.items() if n}


def measure(args, name, pairs, seconds, of):
    """A row of the table, of what is new in the variants: words and pieces, whose log-probabilities are taken."""
    texts = sorted({t for pair in pairs for t in pair})
    pieces = scores(args, texts)
    distinct = {" ".join(plain(v)) for s, v in pairs if plain(v) != plain(s)}
    changed, whole, number = [], [], []
    for s, v in pairs:
        a, b = pieces[s], pieces[v]
        changed += [b[i][1] for i in new([p for p, _ in a], [p for p, _ in b])]
        number.append(len(new(plain(s), plain(v))))
        whole.append(sum(l for _, l in b) / len(b) - sum(l for _, l in a) / len(a))
    mean = lambda x: sum(x) / max(1, len(x))
    return (f"| {name} | {len(distinct)} of {of} | {mean(number):.2f} | {mean(changed):.2f} | "
            f"{mean(whole):+.2f} | {seconds:.1f} |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in [("infill", "bin/infill"), ("onnx", None), ("hf", None), ("input", None)]:
        p.add_argument("--" + name, default=value, required=value is None)
    p.add_argument("--count", type=int, default=50, help="sentences, of 8 to 25 words, from the start")
    p.add_argument("--variants", type=int, default=5)
    p.add_argument("--rate", type=float, default=0.3, help="share of the words that are changed")
    p.add_argument("--chains", type=int, default=10)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    args = p.parse_args()
    with open(args.input, encoding="utf-8") as f:
        lines = [line.strip() for line in f]
    sentences = [s for s in dict.fromkeys(lines) if 8 <= len(s.split()) <= 25][:args.count]
    numbers = {s: max(1, round(args.rate * words(s))) for s in sentences}

    import nlpaug
    import torch
    import transformers

    torch.set_num_threads(args.threads)
    version = subprocess.run([args.infill, "version"], capture_output=True, text=True).stdout.split("\n")[0]
    print(f"{platform.machine()}, {os.cpu_count()} processors; {version}; nlpaug {nlpaug.__version__}, "
          f"transformers {transformers.__version__}, torch {torch.__version__}, Python {platform.python_version()}")
    print(f"{len(sentences)} sentences, {args.variants} variants each, rate {args.rate}: "
          f"{sum(numbers.values()) / len(numbers):.2f} words to change, seed {args.seed}, {args.threads} threads, "
          f"model {args.onnx}\n")
    print("| program | distinct variants | changed words a variant | log-probability of a changed piece | "
          "whole text, a piece, against the original | processor seconds |\n|---|--:|--:|--:|--:|--:|", flush=True)
    of = len(sentences) * args.variants

    def nlpaug_row(name, top_k):
        pairs, seconds = by_nlpaug(args, numbers, top_k)
        print(measure(args, name, pairs, seconds, of), flush=True)
        return pairs

    asked = as_many(numbers, nlpaug_row("nlpaug, one of its 100 likeliest words", 100))
    for name, flags in [
        ("infill, a draw: `--chains 1 --collect last`", ("--chains", "1", "--collect", "last", "--steps", "20")),
        (f"infill, the best that was found: `--chains {args.chains} --steps 20`",
         ("--chains", str(args.chains), "--steps", "20")),
    ]:
        print(measure(args, name, *by_infill(args, asked, *flags), of), flush=True)
    nlpaug_row("nlpaug, one of the 5 likeliest", 5)


if __name__ == "__main__":
    sys.exit(main())
