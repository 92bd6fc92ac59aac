"""Encodes the corpus once: pieces as uint16, with the bounds of sentences and lines.

Writes DIR/pieces.npy (uint16, all pieces in order), DIR/sentence.npy (int64, where each
sentence starts, and the end) and DIR/line.npy (int64, the first sentence of each line, and the
end), DIR/narrative.npy (bool, one a line).
"""

import argparse
import itertools
import multiprocessing
import pathlib
import random

import numpy as np

import text

TREEBANK, WIKITEXT = 0.25, 0.15  # the shares of lines rewritten into these styles


def tokenizer(vocab: str):
    """BERT's uncased WordPiece tokenizer on a vocab.txt, without special tokens."""
    import tokenizers  # here, since training on encoded text does without it

    return tokenizers.BertWordPieceTokenizer(vocab, lowercase=True, strip_accents=True)


def style(line: str, rng: random.Random) -> str:
    """The line as it is, or in one of the tokenised styles."""
    r = rng.random()
    if r < TREEBANK:
        return text.treebank(line)
    if r < TREEBANK + WIKITEXT:
        return text.wikitext(line)
    return line


_tok = None


def _start(vocab: str) -> None:
    global _tok
    _tok = tokenizer(vocab)


def _encode(job):
    number, lines = job
    rng = random.Random(number)
    flat, lengths, narrative = [], [], []
    for line in lines:
        narrative.append(text.narrative(line))
        flat.append(text.sentences(style(line.strip(), rng)))
    encoded = iter(_tok.encode_batch([s for ss in flat for s in ss], add_special_tokens=False))
    pieces, sents = [], []
    for ss in flat:
        here = [e.ids for e in itertools.islice(encoded, len(ss))]
        here = [e for e in here if e]
        lengths.append(len(here))
        sents += [len(e) for e in here]
        pieces += itertools.chain.from_iterable(here)
    return np.array(pieces, np.uint16), np.array(sents), np.array(lengths), np.array(narrative)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--corpus", required=True)
    p.add_argument("--vocab", required=True)
    p.add_argument("--out", required=True, help="folder to write")
    p.add_argument("--processes", type=int, default=2)
    a = p.parse_args()
    with open(a.corpus, encoding="utf-8") as f, multiprocessing.Pool(a.processes, _start, (a.vocab,)) as pool:
        jobs = enumerate(iter(lambda: list(itertools.islice(f, 10000)), []))
        parts = list(zip(*pool.imap(_encode, jobs)))
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    bounds = [np.concatenate([[0], np.cumsum(np.concatenate(x))]).astype(np.int64) for x in parts[1:3]]
    np.save(out / "pieces.npy", np.concatenate(parts[0]))
    np.save(out / "sentence.npy", bounds[0])
    np.save(out / "line.npy", bounds[1])
    np.save(out / "narrative.npy", np.concatenate(parts[3]))
    print(f"{bounds[0][-1]} pieces, {len(bounds[0]) - 1} sentences, {len(bounds[1]) - 1} lines")


if __name__ == "__main__":
    main()
