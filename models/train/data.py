"""Windows, batches and masks.

A window is a run of whole sentences of one line (a long sentence is cut), at most SHORT - 2 pieces, or
for a share LONG of the lines as much of the line as fits into LONGEST - 2. A batch holds windows of
one length only, so there is no padding and no padding mask, and every batch costs about the same.
"""

import re
from typing import NamedTuple

import numpy as np
import torch

TOKENS = 1440  # about so many tokens in a batch on a CPU
LONGEST, SHORT, SHORTEST = 240, 60, 5  # of a window: the first two with [CLS] and [SEP]
LONG = 0.15  # the share of lines that are windows as they are, so that the model knows long texts
SHIFT = 0.1  # the share of batches that begin at a random position, so that it knows all positions
SINGLE = 0.6  # the share of windows that hold one sentence however short
LEFT_OUT, WORDS, SEEN = (0.15, 0.6), 5, 0.5  # of a window with gaps: share of pieces, most words of a gap, windows with some seen
KEEP_OTHER = 0.6  # the share of lines that do not read like fiction or talk which an epoch takes


class Special(NamedTuple):
    """The ids of the special tokens of a vocabulary."""

    pad: int
    unk: int
    cls: int
    sep: int
    mask: int


def vocabulary(path: str) -> list[str]:
    """The pieces of a vocab.txt in the order of their ids."""
    with open(path, encoding="utf-8") as f:
        return [line.rstrip("\n") for line in f]


def special(vocab: str) -> Special:
    """The ids of [PAD], [UNK], [CLS], [SEP] and [MASK] in a vocab.txt."""
    ids = {piece: i for i, piece in enumerate(vocabulary(vocab))}
    missing = [t for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if t not in ids]
    if missing:
        raise ValueError(f"{vocab} has no {', '.join(missing)}")
    return Special(*(ids[f"[{n.upper()}]"] for n in Special._fields))


def windows(sentence: np.ndarray, line: np.ndarray, narrative: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Windows [n, 2] (first piece, end) of one epoch, in random order."""
    keep = np.flatnonzero(narrative | (rng.random(len(narrative)) < KEEP_OTHER))
    out = []
    bounds = sentence.tolist()
    firsts, ends = line[keep].tolist(), line[keep + 1].tolist()
    draw = iter(rng.random(int(sum(ends) - sum(firsts)) + len(firsts) + 1).tolist())
    for i, end, long in zip(firsts, ends, (rng.random(len(keep)) < LONG).tolist()):
        room = (LONGEST if long else SHORT) - 2
        while i < end:
            r = next(draw)
            goal = room if long else 0 if r < SINGLE else room * (r - SINGLE) / (1 - SINGLE)
            start, i = bounds[i], i + 1
            while i < end and bounds[i] - start < goal and bounds[i + 1] - start <= room:
                i += 1
            stop = bounds[i]
            while stop - start > room:
                out.append((start, start + room))
                start += room
            if stop - start >= SHORTEST:
                out.append((start, stop))
    return rng.permutation(np.array(out, np.int64).reshape(-1, 2))


def batches(windows: np.ndarray, rng: np.random.Generator, tokens: int = TOKENS) -> list[np.ndarray]:
    """Batches in random order, each windows [rows, 2] of one length; what does not fill a batch is left out."""
    size = windows[:, 1] - windows[:, 0]
    out = []
    for n in np.unique(size):
        w = windows[size == n]
        rows = max(1, tokens // (int(n) + 2))
        out += [w[i : i + rows] for i in range(0, len(w) - rows + 1, rows)]
    return [out[i] for i in rng.permutation(len(out))]


def fill(pieces: np.ndarray, rows: np.ndarray, ids: Special) -> np.ndarray:
    """The ids [rows, length] of a batch, with [CLS] and [SEP]."""
    n = int(rows[0, 1] - rows[0, 0])
    out = np.empty((len(rows), n + 2), np.int64)
    out[:, 0], out[:, -1] = ids.cls, ids.sep
    out[:, 1:-1] = pieces[rows[:, :1] + np.arange(n)]
    return out


def mask(ids: np.ndarray, share: float, rng: np.random.Generator, special: Special):
    """Puts [MASK] at random pieces: (ids, flat positions, targets) as tensors.

    The number of masked pieces is that share of the batch, [CLS] and [SEP] counted.
    """
    flat = ids.reshape(-1).copy()
    open_ = np.flatnonzero(~np.isin(flat, special))
    at = np.sort(rng.choice(open_, min(int(share * flat.size), len(open_)), replace=False))
    target = flat[at].copy()
    flat[at] = special.mask
    t = torch.from_numpy
    return t(flat.reshape(ids.shape)), t(at), t(target)


def kinds(vocab: str) -> np.ndarray:
    """What each piece of a vocab.txt is: 1 begins a word with a letter, 2 goes on with a word, 0 is anything else."""
    return np.array([2 if p.startswith("##") else int(any(c.isalpha() for c in p) and not re.fullmatch(r"\[.+\]", p))
                     for p in vocabulary(vocab)])  # fmt: skip


def gap_end(kind: np.ndarray, start: int, words: int) -> int:
    """Where a gap of so many words side by side ends that begins with the piece at start; 0 if there are fewer."""
    end = start
    while end < len(kind) and (kind[end] == 2 or kind[end] == 1 and words):
        words -= kind[end] == 1
        end += 1
    return 0 if words else end


def gaps(ids: np.ndarray, kind: np.ndarray, rng: np.random.Generator, special: Special):
    """Puts [MASK] at words side by side, as people leave them out: (ids, flat positions, targets) as mask().

    Each window loses a share of LEFT_OUT of its pieces, in gaps of one to WORDS whole words. In a share SEEN of the
    windows some pieces of the gaps stay, as a search sees them that has filled a part.
    """
    out, n = ids.copy(), ids.shape[1]
    for row, flat in zip(out, ids):
        kinds_, chosen = kind[flat], np.zeros(n, bool)
        starts = np.flatnonzero(kinds_ == 1)
        goal = rng.uniform(*LEFT_OUT) * (n - 2)
        for start in rng.permutation(starts):
            most = int(rng.integers(1, WORDS + 1))
            end = next(e for k in range(most, 0, -1) if (e := gap_end(kinds_, start, k)))
            chosen[start:end] = True
            if chosen.sum() >= goal:
                break
        at = np.flatnonzero(chosen)
        if len(at) and rng.random() < SEEN:
            at = rng.choice(at, int(rng.integers(1, len(at) + 1)), replace=False)
        row[at] = special.mask
    at = np.flatnonzero(out != ids)
    t = torch.from_numpy
    return t(out), t(at), t(ids.reshape(-1)[at])


def positions(length: int, table: int, rng: np.random.Generator) -> torch.Tensor:
    """Position ids [length] into a table of so many positions: from 0, or now and then from anywhere."""
    first = int(rng.integers(0, table - length + 1)) if rng.random() < SHIFT else 0
    return torch.arange(first, first + length)
