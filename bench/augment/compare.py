"""Variants of the same sentences by infill augment and by nlpaug's ContextualWordEmbsAug, as a table.

    python bench/augment/compare.py --infill bin/infill --onnx models/default --hf models/default \
        --input sentences.txt --count 50

It needs nlpaug 1.1.11, transformers 4 (nlpaug calls what version 5 has not) and torch. --onnx and --hf are folders of one model,
as infill and as transformers read it. `infill score` with that model judges all variants. Seconds are processor seconds of all threads,
which other work on the machine changes less than the time on the clock. Of infill they are of the whole command, its start included. Of nlpaug
they are of the calls of augment, without the imports and the opening of the model.
"""

import argparse
import difflib
import json
import os
import platform
import random
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


def by_infill(args, path, *flags):
    start = spent(resource.RUSAGE_CHILDREN)
    rows = infill(args, "augment", path, "--model", args.onnx, "--variants", str(args.variants),
                  "--mask-rate", str(args.rate), "--seed", str(args.seed), "--quiet", *flags)
    seconds = spent(resource.RUSAGE_CHILDREN) - start
    return [(r["original"], r["text"]) for r in rows if not r.get("error")], seconds


def by_nlpaug(args, sentences, stop=None):
    import nlpaug.augmenter.word as naw
    import torch

    random.seed(args.seed)
    torch.manual_seed(args.seed)
    augmenter = naw.ContextualWordEmbsAug(model_path=args.hf, model_type="bert", action="substitute",
                                          aug_p=args.rate, aug_max=None, device="cpu", stopwords=stop)
    start, pairs = spent(resource.RUSAGE_SELF), []
    for s in sentences:
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


def measure(args, name, pairs, seconds, of):
    """A row of the table. Changed pieces are those of the variant that a longest match with the original leaves."""
    texts = sorted({t for pair in pairs for t in pair})
    pieces = scores(args, texts)
    distinct = {v.lower().replace(" ", "") for s, v in pairs
                if v.lower().replace(" ", "") != s.lower().replace(" ", "")}
    changed, whole, number = [], [], []
    for s, v in pairs:
        a, b = pieces[s], pieces[v]
        match = difflib.SequenceMatcher(None, [p for p, _ in a], [p for p, _ in b], autojunk=False)
        new = [i for tag, _, _, j1, j2 in match.get_opcodes() if tag in ("replace", "insert")
               for i in range(j1, j2)]
        changed += [b[i][1] for i in new]
        number.append(len(new))
        whole.append(sum(l for _, l in b) / len(b) - sum(l for _, l in a) / len(a))
    mean = lambda x: sum(x) / max(1, len(x))
    return (f"| {name} | {len(distinct)} of {of} | {mean(number):.2f} | {mean(changed):.2f} | "
            f"{mean(whole):+.2f} | {seconds:.1f} |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in [("infill", "bin/infill"), ("onnx", "models/default"), ("hf", "models/default"),
                        ("input", None)]:
        p.add_argument("--" + name, default=value, required=value is None)
    p.add_argument("--count", type=int, default=50, help="sentences, of 8 to 25 words, from the start")
    p.add_argument("--variants", type=int, default=5)
    p.add_argument("--rate", type=float, default=0.3)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    args = p.parse_args()
    with open(args.input, encoding="utf-8") as f:
        lines = [line.strip() for line in f]
    sentences = [s for s in dict.fromkeys(lines) if 8 <= len(s.split()) <= 25][:args.count]

    import nlpaug
    import torch
    import transformers

    torch.set_num_threads(args.threads)
    version = subprocess.run([args.infill, "version"], capture_output=True, text=True).stdout.split("\n")[0]
    print(f"{platform.machine()}, {os.cpu_count()} processors; {version}; nlpaug {nlpaug.__version__}, "
          f"transformers {transformers.__version__}, torch {torch.__version__}, Python {platform.python_version()}")
    print(f"{len(sentences)} sentences, {args.variants} variants each, rate {args.rate}, seed {args.seed}, "
          f"{args.threads} threads, model {args.onnx}\n")
    print("| program | distinct variants | changed pieces a variant | log-probability of a changed piece | "
          "whole text, a piece, against the original | processor seconds |\n|---|--:|--:|--:|--:|--:|", flush=True)
    of = len(sentences) * args.variants
    print(measure(args, "nlpaug, any word", *by_nlpaug(args, sentences), of), flush=True)
    with open(os.path.join(os.path.dirname(__file__), "../../infill/stopwords_en.txt"), encoding="utf-8") as f:
        stop = [w.strip() for w in f if w.strip() and w[0] != "#"]
    print(measure(args, "nlpaug, not infill's stop words", *by_nlpaug(args, sentences, stop), of), flush=True)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write("\n".join(sentences) + "\n")
        f.flush()
        threads = ("--threads", str(args.threads))
        every = ("--mask-class", "all")
        for name, flags in [
            ("infill, any word, `--chains 5 --steps 20`", (*every, "--chains", "5", "--steps", "20")),
            ("infill, content words, `--chains 5 --steps 20`", ("--chains", "5", "--steps", "20")),
            ("infill, any word", every),
            ("infill, content words", ()),
        ]:
            print(measure(args, name, *by_infill(args, f.name, *threads, *flags), of), flush=True)

if __name__ == "__main__":
    sys.exit(main())
