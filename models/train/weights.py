"""The weights of a model folder: stored in 8 or 4 bits, or in float16."""

import pathlib

import safetensors.torch
import torch

STORED, HALF = "model.stored.safetensors", "model.safetensors"
SCALE = ".scale"  # after the name of a matrix: the name of its scales


def expanded(stored: dict) -> dict:
    """The tensors in float16 of stored ones."""
    out = {}
    for n, t in stored.items():
        if n.endswith(SCALE) and n.removesuffix(SCALE) in stored:
            continue
        if t.dtype == torch.uint8:
            t = torch.stack([t & 15, t >> 4], 2).flatten(1).to(torch.int8) - 8
        if t.dtype == torch.int8:
            scale = stored[n + SCALE].float().view(len(t), -1, 1)
            t = (t.float().view(len(t), scale.shape[1], -1) * scale).half().view(t.shape)
        out[n] = t
        if not torch.isfinite(out[n]).all():
            raise ValueError(f"{n} does not fit into float16")
    return out


def tensors(folder: str) -> dict:
    """The tensors of a folder's weights, in float32."""
    if (stored := pathlib.Path(folder) / STORED).exists():
        found = expanded(safetensors.torch.load_file(stored))
    else:
        found = safetensors.torch.load_file(f"{folder}/{HALF}")
    return {n: t.float() for n, t in found.items()}
