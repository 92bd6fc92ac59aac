"""Start values of a smaller model from a trained one: some of its layers, and of each the most used inner neurons.

Of a feed-forward block those neurons stay whose weights in and out have the largest product of norms.
The result is a checkpoint with empty optimizer buffers, from which train.py goes on, best with the
larger model as --teacher.
"""

import argparse

import torch

import train


def shrink(state: dict, config: dict, layers: list[int], inner: list[int]) -> tuple[dict, dict]:
    """The state and the configuration of the smaller model; inner is the width of each layer's feed-forward block."""
    config = {**config, "num_hidden_layers": len(layers), "intermediate_size": max(inner)}
    config.pop("intermediate_sizes", None)
    if len(set(inner)) > 1:
        config["intermediate_sizes"] = inner
    prefix = "bert.encoder.layer."
    out = {n: t.clone() for n, t in state.items() if not n.startswith(prefix)}
    for number, (old, width) in enumerate(zip(layers, inner, strict=True)):
        own = f"{prefix}{old}."
        into, back = state[own + "intermediate.dense.weight"], state[own + "output.dense.weight"]
        keep = (into.norm(dim=1) * back.norm(dim=0)).topk(width).indices.sort().values
        for n, t in state.items():
            if n.startswith(own):
                rest = n.removeprefix(own)
                if rest.startswith("intermediate."):
                    t = t[keep]
                elif rest == "output.dense.weight":
                    t = t[:, keep]
                out[f"{prefix}{number}.{rest}"] = t.clone()
    return out, config


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--checkpoint", required=True, help="checkpoint.pt of the larger model")
    p.add_argument("--layers", required=True, help="the layers to take, from 0, separated by commas")
    p.add_argument("--inner", required=True, help="width of the feed-forward blocks: one number, or one a layer by commas")
    p.add_argument("--epoch", type=int, default=0, help="epoch to begin at: one not seen before has new windows and masks")
    p.add_argument("--out", required=True, help="folder for checkpoint.pt, for train.py's --out")
    a = p.parse_args()
    saved = torch.load(a.checkpoint, map_location="cpu")
    layers, inner = ([int(i) for i in t.split(",")] for t in (a.layers, a.inner))
    if len(inner) == 1:
        inner *= len(layers)
    state, config = shrink(saved["model"], saved["config"], layers, inner)
    train.fresh(state, config, a.epoch, a.out)


if __name__ == "__main__":
    main()
