"""Writes a model folder: weights once, in float16, for transformers and for ONNX runtimes alike.

model.safetensors holds the weights under Hugging Face's names, BERT's or, with a factorised table, ELECTRA's. model.onnx is the graph as torch's
exporter makes it (input_ids, attention_mask, token_type_ids -> logits), but its large tensors
are external data that point into model.safetensors; a Cast to float32 (and a Transpose, where a
linear layer's weight is stored the other way round) follows each, which runtimes fold when they load the model.

A layer narrower than intermediate_size (config.json's intermediate_sizes) is filled up with zero neurons in
model.safetensors, which has one width for all layers; the graph computes only the neurons there are. Of a weight
cut by rows it reads the first part of the stored tensor; one cut by columns, which lie apart, it has itself.
"""

import argparse
import hashlib
import json
import math
import pathlib
import re
import shutil
import struct

import numpy as np
import onnx
import safetensors.torch
import torch
import torch.nn.functional as F
from torch import nn

import model

INLINE = 1024  # tensors up to this many elements stay in the graph, as float32
OPSET = 14


class Graph(nn.Module):
    """The model as Hugging Face's BERT exports compute it: full logits, padding mask, token types."""

    def __init__(self, net: model.MaskedLM):
        super().__init__()
        self.net = net

    def forward(self, input_ids, attention_mask, token_type_ids):
        e, hidden = self.net.bert.embeddings, self.net.config["hidden_size"]
        blocked = (1.0 - attention_mask[:, None, None, :].float()) * torch.finfo(torch.float32).min
        position = torch.arange(self.net.config["max_position_embeddings"])[None, : input_ids.shape[1]]
        x = e.word_embeddings(input_ids) + e.token_type_embeddings(token_type_ids) + e.position_embeddings(position)
        x = self.net.project(e.LayerNorm(x))
        for layer in self.net.bert.encoder.layer:
            a, o = getattr(layer.attention, "self"), layer.attention.output
            width = hidden // layer.heads

            def split(y):
                return y.view(y.shape[0], y.shape[1], layer.heads, width).permute(0, 2, 1, 3)

            q, k, v = split(a.query(x)), split(a.key(x)), split(a.value(x))
            p = F.softmax(q @ k.transpose(-1, -2) / math.sqrt(width) + blocked, dim=-1)
            y = (p @ v).permute(0, 2, 1, 3)
            x = o.LayerNorm(o.dense(y.reshape(y.shape[0], y.shape[1], hidden)) + x)
            x = layer.output.LayerNorm(layer.output.dense(F.gelu(layer.intermediate.dense(x))) + x)
        return self.net.head(x)


def rounded(state: dict) -> dict:
    """The state with every float tensor rounded to float16."""
    out = {n: t.detach().to("cpu", torch.float16).contiguous() for n, t in state.items()}
    for n, t in out.items():
        if not torch.isfinite(t).all():
            raise ValueError(f"{n} does not fit into float16")
    return out


def external(graph: onnx.ModelProto, weights: str) -> None:
    """Replaces the graph's large initializers by external data in the safetensors file, with Casts."""
    with open(weights, "rb") as f:
        (size,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size))
        body = f.read()
    stored = {}
    for name, h in header.items():
        if name != "__metadata__":
            begin, end = h["data_offsets"]
            data = np.frombuffer(body[begin:end], np.float16).reshape(h["shape"])
            stored[name] = (data, 8 + size + begin)
    keep, nodes, used = [], [], {}

    def starts(data: np.ndarray, value: np.ndarray) -> bool:
        """Whether value [rows, …] is data or its first rows."""
        if data.shape[1:] != value.shape[1:] or len(data) < len(value):
            return False
        return np.array_equal(data[: len(value)].astype(np.float32), value)

    for init in graph.graph.initializer:
        value = onnx.numpy_helper.to_array(init)
        if value.dtype != np.float32 or value.size <= INLINE:
            keep.append(init)
            continue
        for name, (data, offset) in stored.items():
            same = starts(data, value)
            turned = not same and value.ndim == 2 and starts(data, value.T)
            if same or turned:
                rows = value.shape[0] if same else value.shape[1]
                break
            columns = value.ndim == 2 and data.ndim == 2 and data.shape[1] > value.shape[0] and starts(data.T, value)
            if columns:
                break
        else:
            raise ValueError(f"no stored tensor equals the graph's {init.name} {list(value.shape)}")
        if name not in used:
            t = onnx.TensorProto(name=name + ".float16", data_type=onnx.TensorProto.FLOAT16)
            if same or turned:
                t.dims.extend([rows, *data.shape[1:]])
                t.data_location = onnx.TensorProto.EXTERNAL
                length = 2 * math.prod(t.dims)
                place = {"location": pathlib.Path(weights).name, "offset": offset, "length": length}
                t.external_data.extend(onnx.StringStringEntryProto(key=k, value=str(v)) for k, v in place.items())
            else:
                t.CopyFrom(onnx.numpy_helper.from_array(np.ascontiguousarray(data.T[: value.shape[0]]), t.name))
            keep.append(t)
            used[name] = name + ".float32"
            nodes.append(onnx.helper.make_node("Cast", [t.name], [used[name]], name + "/Cast", to=onnx.TensorProto.FLOAT))
        if turned:
            nodes.append(onnx.helper.make_node("Transpose", [used[name]], [init.name], name + "/Transpose", perm=[1, 0]))
        else:
            nodes.append(onnx.helper.make_node("Identity", [used[name]], [init.name], name + "/Identity"))
    # An Identity only renames: let its readers read the Cast itself.
    alias = {n.output[0]: n.input[0] for n in nodes if n.op_type == "Identity"}
    for init in keep:
        if init.name.startswith("net."):
            alias[init.name] = init.name.removeprefix("net.")
            init.name = alias[init.name]
    nodes = [n for n in nodes if n.op_type != "Identity"]
    for n in graph.graph.node:
        n.input[:] = [alias.get(i, i) for i in n.input]
    old = list(graph.graph.node)
    del graph.graph.initializer[:], graph.graph.node[:]
    graph.graph.initializer.extend(keep)
    graph.graph.node.extend(nodes + old)


def write(state: dict, config: dict, vocab: str, out: str) -> None:
    """Writes the folder's model.safetensors, model.onnx, config.json, vocab.txt and tokenizer_config.json."""
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    half = rounded(state)
    weights = folder / "model.safetensors"
    stored = model.widen(half, config)
    if model.factorised(config):
        stored = model.electra(stored)
    safetensors.torch.save_file(stored, weights, metadata={"format": "pt"})
    net = model.MaskedLM(config)
    net.load_state_dict({n: t.float() for n, t in half.items()})
    net.eval().requires_grad_(False)
    ids = torch.ones(2, 7, dtype=torch.int64)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {n: {0: "batch", 1: "sequence"} for n in [*names, "logits"]}
    graph = folder / "model.onnx"
    torch.onnx.export(Graph(net), (ids, ids, 0 * ids), str(graph), input_names=names, output_names=["logits"],
                      dynamic_axes=axes, opset_version=OPSET, dynamo=False)  # fmt: skip
    m = onnx.load(graph)
    external(m, str(weights))
    onnx.save(m, graph)
    onnx.checker.check_model(str(graph))
    text = json.dumps(config, indent=1) + "\n"
    (folder / "config.json").write_text(text)
    if pathlib.Path(vocab).resolve() != (folder / "vocab.txt").resolve():
        shutil.copyfile(vocab, folder / "vocab.txt")
    special = {k + "_token": f"[{k.upper()}]" for k in ("mask", "pad", "unk", "cls", "sep")}
    tokenizer = {"do_lower_case": True, **special, "model_max_length": 512, "tokenizer_class": "BertTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer, indent=1) + "\n")


FILES = ["model.safetensors", "model.onnx", "config.json", "vocab.txt", "tokenizer_config.json"]


def card(out: str) -> None:
    """Brings the table of sizes and SHA-256 sums in the folder's README.md, where there is one, up to date."""
    folder = pathlib.Path(out)
    readme = folder / "README.md"
    if not readme.exists():
        return
    rows = ["| file | bytes | SHA-256 |", "|---|---:|---|"]
    for name in FILES:
        data = (folder / name).read_bytes()
        rows.append(f"| `{name}` | {len(data)} | `{hashlib.sha256(data).hexdigest()}` |")
    old = readme.read_text(encoding="utf-8")
    new, n = re.subn(r"\| file \| bytes \|.*\n(?:\|.*\n)*", "\n".join(rows) + "\n", old)
    if n != 1:
        raise ValueError(f"{readme} has {n} tables of files, want one")
    readme.write_text(new, encoding="utf-8")


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--checkpoint", required=True, help="checkpoint.pt that train.py wrote")
    p.add_argument("--vocab", required=True)
    p.add_argument("--out", required=True, help="model folder; the table of its README.md, if any, is brought up to date")
    a = p.parse_args()
    saved = torch.load(a.checkpoint, map_location="cpu")
    write(saved["model"], saved["config"], a.vocab, a.out)
    card(a.out)


if __name__ == "__main__":
    main()
