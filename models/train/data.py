"""Windows, batches and masks.

A window is a run of whole sentences of one line (a long sentence is cut), at most SHORT - 2 pieces, or
for a share LONG of the lines as much of the line as fits into LONGEST - 2. A batch holds TOKENS / L windows of about one length L, so there is hardly any padding and every
batch costs the same.
"""

import numpy as np
import torch

PAD, CLS, SEP, MASK = 0, 2, 3, 4
LENGTHS = [12, 16, 20, 24, 30, 36, 40, 48, 60, 80, 96, 120, 144, 180, 240]  # with [CLS] and [SEP]
TOKENS = 1440  # a multiple of every length
LONGEST, SHORT, SHORTEST = LENGTHS[-1], 60, 5
LONG = 0.15  # the share of lines that are windows as they are, so that the model knows long texts
SHIFT = 0.1  # the share of batches that begin at a random position, so that it knows all positions
SINGLE = 0.6  # the share of windows that hold one sentence however short
KEEP_OTHER = 0.6  # the share of lines that do not read like fiction or talk which an epoch takes


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


def batches(windows: np.ndarray, rng: np.random.Generator) -> list[tuple[int, np.ndarray]]:
    """Batches (L, windows [TOKENS / L, 2]) in random order; what does not fill a batch is left out."""
    size = np.searchsorted(LENGTHS, windows[:, 1] - windows[:, 0] + 2)
    out = []
    for k, length in enumerate(LENGTHS):
        w = windows[size == k]
        rows = TOKENS // length
        out += [(length, w[i : i + rows]) for i in range(0, len(w) - rows + 1, rows)]
    return [out[i] for i in rng.permutation(len(out))]


def fill(pieces: np.ndarray, length: int, rows: np.ndarray) -> np.ndarray:
    """The ids [rows, length] of windows with [CLS], [SEP] and padding."""
    n = (rows[:, 1] - rows[:, 0])[:, None]
    column = np.arange(length)[None, :] - 1
    at = np.clip(rows[:, :1] + column, 0, len(pieces) - 1)
    ids = np.where(column < n, pieces[at].astype(np.int64), PAD)
    ids[:, 0] = CLS
    np.put_along_axis(ids, n + 1, SEP, 1)
    return ids


def mask(ids: np.ndarray, share: float, rng: np.random.Generator):
    """Puts [MASK] at random pieces: (ids, padding mask, flat positions, targets) as tensors.

    The number of masked pieces is that of a full batch, so that every batch has the same shape.
    """
    flat = ids.reshape(-1).copy()
    open_ = np.flatnonzero(flat > MASK)
    at = np.sort(rng.choice(open_, min(int(share * TOKENS), len(open_)), replace=False))
    target = flat[at].copy()
    flat[at] = MASK
    t = torch.from_numpy
    return t(flat.reshape(ids.shape)), t(ids != PAD), t(at), t(target)


def positions(length: int, table: int, rng: np.random.Generator) -> torch.Tensor:
    """Position ids [length] into a table of so many positions: from 0, or now and then from anywhere."""
    first = int(rng.integers(0, table - length + 1)) if rng.random() < SHIFT else 0
    return torch.arange(first, first + length)
