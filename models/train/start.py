"""Start values from a model of BERT's kind in a Hugging Face folder, with or without a head.

Its layers and tables are taken as they are; the bias of the output, and nothing else, from --bias, a masked LM
with the same vocabulary. Writes DIR/checkpoint.pt, from which train.py goes on.
"""

import argparse
import json
import os
import pathlib

import safetensors.torch
import torch

import model
import train


def start(state: dict, config: dict, layers: list[int], bias: torch.Tensor | None) -> tuple[dict, dict]:
    """The state and the configuration of a masked LM of some layers; a head that is not there begins as the identity."""
    config = {
        **train.config(config["vocab_size"], config["hidden_size"], len(layers), config["intermediate_size"],
                       config["num_attention_heads"]),
        "max_position_embeddings": config["max_position_embeddings"],
    }  # fmt: skip
    net = model.MaskedLM(config)
    out = net.state_dict()
    out["cls.predictions.transform.dense.weight"] = torch.eye(config["hidden_size"])
    for name in out:
        old, parts = name, name.split(".")
        if name.startswith("bert.encoder.layer."):
            parts[3] = str(layers[int(parts[3])])
            old = ".".join(parts)
        found = next((state[n] for n in (old, old.removeprefix("bert.")) if n in state), None)
        if found is not None:
            out[name] = found.float()
        elif name.startswith("bert."):
            raise ValueError(f"the model has no {old}")
    if bias is not None:
        out["cls.predictions.bias"] = bias.float()
    return out, config


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--model", required=True, help="folder with model.safetensors and config.json")
    p.add_argument("--layers", required=True, help="the layers to take, from 0, separated by commas")
    p.add_argument("--bias", help="folder of a masked LM whose output bias to take")
    p.add_argument("--out", required=True, help="folder for checkpoint.pt, for train.py's --out")
    a = p.parse_args()
    folder = pathlib.Path(a.model)
    bias = None
    if a.bias:
        bias = safetensors.torch.load_file(f"{a.bias}/model.safetensors")["cls.predictions.bias"]
    state = safetensors.torch.load_file(folder / "model.safetensors")
    state, config = start(state, json.loads((folder / "config.json").read_text()), [int(i) for i in a.layers.split(",")], bias)
    net = model.MaskedLM(config)
    net.load_state_dict(state)
    at = {"epoch": 0, "batch": 0, "step": 0, "tokens": 0, "seconds": 0.0}
    os.makedirs(a.out, exist_ok=True)
    first = {"model": state, "optimizer": train.Optimizer(net, 1).state(), "at": at, "config": config}
    torch.save(first, pathlib.Path(a.out) / "checkpoint.pt")


if __name__ == "__main__":
    main()
