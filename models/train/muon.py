"""Muon: momentum whose matrix updates are orthogonalised (Jordan et al. 2024, kellerjordan.github.io/posts/muon)."""

import torch

# The quintic Newton-Schulz iteration of the reference implementation: five steps bring every singular
# value of a matrix of norm 1 near 1, which is all the precision that bfloat16 needs to give.
_A, _B, _C, _STEPS = 3.4445, -4.7750, 2.0315, 5


def orthogonalise(g: torch.Tensor, kind: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """The nearest (semi-)orthogonal matrices of a stack [n, rows, cols], approximately, computed in this type."""
    x = g.to(kind)
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(_STEPS):
        y = x @ x.mT
        x = _A * x + (_B * y + _C * (y @ y)) @ x
    return x.mT if tall else x


def step(
    params, grads, momenta, rate: float, momentum: float = 0.95, decay: float = 0.05, kind: torch.dtype = torch.bfloat16
) -> None:
    """One update, in place, of 2-D weights of one shape; the momenta have the shape of the weights.

    kind is the type of the iteration's products: float32 where the processor computes bfloat16 slowly.
    rate is the spectral norm of a step on a square matrix; steps on tall matrices are scaled by sqrt(rows/cols).
    """
    for g, m in zip(grads, momenta):
        m.lerp_(g, 1 - momentum)
    updates = orthogonalise(torch.stack([torch.lerp(g, m, momentum) for g, m in zip(grads, momenta)]), kind)
    rows, cols = params[0].shape
    for p, u in zip(params, updates):
        p.mul_(1 - rate * decay).add_(u.to(p.dtype), alpha=-rate * max(1.0, rows / cols) ** 0.5)
