"""Start values of the embedding table: a factorised matrix of shifted positive mutual information.

Counting neighbours and factorising PMI finds what CBOW with negative sampling finds (Levy and
Goldberg 2014, "Neural word embedding as implicit matrix factorization"), deterministically and
in a minute. In a table that is tied to the output it spares the model the long stay at the unigram plateau.
"""

import argparse

import numpy as np
import torch

import data

WINDOW = 4  # neighbours on each side; weighted 1, 3/4, 1/2, 1/4
SMOOTH = 0.75  # exponent on context frequencies (Levy, Goldberg and Dagan 2015)
RMS = 0.04  # median root mean square of a row


def cooccurrence(pieces: np.ndarray, line: np.ndarray, size: int) -> np.ndarray:
    """Symmetric weighted counts [size, size] float32 of pieces that are near each other in one line."""
    where = np.zeros(len(pieces), np.int32)
    where[line[1:-1]] = 1
    where = np.cumsum(where, dtype=np.int32)
    counts = np.zeros(size * size, np.float32)
    step = 1 << 24
    for d in range(1, WINDOW + 1):
        for at in range(0, len(pieces) - d, step):
            end = min(at + step, len(pieces) - d)
            same = where[at:end] == where[at + d : end + d]
            key = pieces[at:end][same].astype(np.int64) * size + pieces[at + d : end + d][same]
            key.sort()
            new = np.flatnonzero(np.diff(key, prepend=-1))
            counts[key[new]] += np.diff(new, append=len(key)) * np.float32(1 - (d - 1) / WINDOW)
    counts = counts.reshape(size, size)
    return counts + counts.T


def factorise(counts: np.ndarray, dim: int) -> torch.Tensor:
    """Embeddings [size, dim] float32 whose products approximate the positive PMI of the counts."""
    m = torch.from_numpy(counts)
    row = m.sum(1).double()
    context = row**SMOOTH
    # PMI with one smoothed side, averaged over the two sides so that the matrix stays symmetric.
    own = row.clamp(min=1e-9).log() + (context / context.sum()).clamp(min=1e-30).log()
    half = (own / 2).float()
    m = (m.log() - half[:, None] - half[None, :]).clamp_(min=0)
    torch.manual_seed(0)
    u, s, _ = torch.svd_lowrank(m, q=dim + 32, niter=3)
    e = u[:, :dim] * s[:dim].sqrt()
    seen = row > 0
    e[seen] -= e[seen].mean(0)
    e[~seen] = 0.02 * torch.randn(int((~seen).sum()), dim)
    e *= RMS / e[seen].pow(2).mean(1).sqrt().median()
    # Rare pieces come out short or noisy; keep every row within a factor of 3 of the median.
    rms = e.pow(2).mean(1, keepdim=True).sqrt().clamp(min=1e-6)
    return e * rms.clamp(RMS / 3, RMS * 3) / rms


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", required=True, help="folder that prepare.py wrote")
    p.add_argument("--vocab", required=True)
    p.add_argument("--out", required=True, help="embeddings.pt to write")
    p.add_argument("--dim", type=int, default=256)
    a = p.parse_args()
    names = data.vocabulary(a.vocab)
    size = len(names)
    pieces = np.load(f"{a.data}/pieces.npy")
    sentence, line = np.load(f"{a.data}/sentence.npy"), np.load(f"{a.data}/line.npy")
    e = factorise(cooccurrence(pieces, sentence[line], size), a.dim)
    torch.save({"embeddings": e, "counts": torch.from_numpy(np.bincount(pieces, minlength=size))}, a.out)
    unit = e / e.norm(dim=1, keepdim=True)
    for w in ("door", "paris", "three", "said", "blue"):
        if w in names:
            print(w, "→", *[names[i] for i in (unit @ unit[names.index(w)]).topk(9).indices[1:]])


if __name__ == "__main__":
    main()
