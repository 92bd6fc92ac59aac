"""The grid that weights are rounded to: whole numbers of few bits times a scale for each group of weights."""

import torch

GROUP = 64  # weights that share a scale
CLIPPED = [1.0, 0.92, 0.84, 0.76, 0.68]  # shares of the largest weight that a scale may be made for


def scales(w: torch.Tensor, bits: int) -> torch.Tensor:
    """The scales [rows] of least squares for rows of weights, of a few, in float16."""
    half = 2 ** (bits - 1)
    best = None
    for share in CLIPPED:
        s = (w.abs().amax(1) * share / (half - 0.5)).half().float().clamp(min=2**-24)
        error = ((w / s[:, None]).round().clamp(-half, half - 1) * s[:, None] - w).pow(2).sum(1)
        best = (s, error) if best is None else tuple(torch.where(error < best[1], a, b) for a, b in zip((s, error), best))
    return best[0]
