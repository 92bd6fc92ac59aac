"""Writes a model folder: the weights once, in 8 or 4 bits, and the graph that computes with them.

model.stored.safetensors holds the weights under Hugging Face's names, BERT's or, with a factorised table, ELECTRA's, as
Go's package models/weights says. Matrices that quantise.py has rounded have its numbers and scales, others 8 bits and one scale
a row, vectors and small matrices are float16. model.onnx is the graph as torch's exporter makes it (input_ids, attention_mask,
token_type_ids -> logits). Its large tensors are external data in model.safetensors: the same weights in float16, which
models/weights makes of the stored file while it is read, byte by byte what half_file makes here. A Cast to float32 (and a
Transpose, where a linear layer's weight is stored the other way round) follows each. Runtimes fold them as they load the model.

--float16 writes model.safetensors itself in place of the 8 bits, in the form that transformers reads: layers that are
narrower than the others (config.json's intermediate_sizes and attention_heads) are filled up with zeros.
"""

import argparse
import hashlib
import json
import math
import pathlib
import re
import shutil
import struct
import tempfile

import numpy as np
import onnx
import safetensors.torch
import torch
import torch.nn.functional as F
from torch import nn

import evaluate
import model
from weights import HALF, SCALE, STORED, expanded

GRAPH = "model.onnx"
INLINE = 1024  # tensors up to this many elements stay in the graph, as float32
OPSET = 14


class Graph(nn.Module):
    """The model as Hugging Face's BERT exports compute it: full logits, padding mask, token types."""

    def __init__(self, net: model.MaskedLM):
        super().__init__()
        self.net = net

    def forward(self, input_ids, attention_mask, token_type_ids):
        e = self.net.bert.embeddings
        blocked = (1.0 - attention_mask[:, None, None, :].float()) * torch.finfo(torch.float32).min
        position = torch.arange(self.net.config["max_position_embeddings"])[None, : input_ids.shape[1]]
        x = e.word_embeddings(input_ids) + e.token_type_embeddings(token_type_ids) + e.position_embeddings(position)
        x = self.net.project(e.LayerNorm(x))
        for layer in self.net.bert.encoder.layer:
            a, o = getattr(layer.attention, "self"), layer.attention.output
            heads, width = layer.heads, layer.width

            def split(y):
                return y.view(y.shape[0], y.shape[1], heads, width).permute(0, 2, 1, 3)

            q, k, v = split(a.query(x)), split(a.key(x)), split(a.value(x))
            p = F.softmax(q @ k.transpose(-1, -2) / math.sqrt(width) + blocked, dim=-1)
            y = (p @ v).permute(0, 2, 1, 3)
            x = o.LayerNorm(o.dense(y.reshape(y.shape[0], y.shape[1], heads * width)) + x)
            x = layer.output.LayerNorm(layer.output.dense(F.gelu(layer.intermediate.dense(x))) + x)
        return self.net.head(x)


def quantised(state: dict, numbers: dict) -> dict:
    """The stored tensors of a state: a matrix as int8 [rows, columns] and float32 scales [rows], the rest in float16.

    numbers has matrices that quantise.py has rounded: (int8 [rows, columns], float16 scales [rows, groups]).
    """
    out = {}
    for n, t in state.items():
        t = t.detach().to("cpu", torch.float32)
        if n in numbers:
            out[n], out[n + SCALE] = numbers[n]
            if -8 <= int(out[n].min()) and int(out[n].max()) < 8:
                low, high = (out[n].view(len(t), -1, 2) + 8).to(torch.uint8).unbind(2)
                out[n] = (low | high << 4).contiguous()
        elif t.dim() == 2 and t.numel() > INLINE:
            scale = t.abs().amax(1) / 127
            out[n] = (t / scale.clamp(min=1e-30)[:, None]).round().to(torch.int8).contiguous()
            out[n + SCALE] = scale.contiguous()
        else:
            out[n] = t.half().contiguous()
    return out


def half_file(tensors: dict) -> tuple[bytes, dict]:
    """A safetensors file of float16 tensors in the order of their names, and where in it the data of each begin."""
    header, begins, parts, at = {}, {}, [], 0
    for n in sorted(tensors):
        data = tensors[n].numpy().tobytes()
        header[n] = {"dtype": "F16", "shape": list(tensors[n].shape), "data_offsets": [at, at + len(data)]}
        begins[n] = at
        at += len(data)
        parts.append(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    text = struct.pack("<Q", len(text)) + text
    return text + b"".join(parts), {n: len(text) + at for n, at in begins.items()}


def external(graph: onnx.ModelProto, tensors: dict, begins: dict) -> None:
    """Replaces the graph's large initializers by external data in model.safetensors, with Casts."""
    stored = {n: t.numpy() for n, t in tensors.items()}
    keep, nodes, used = [], [], {}
    for init in graph.graph.initializer:
        value = onnx.numpy_helper.to_array(init)
        if value.dtype != np.float32 or value.size <= INLINE:
            keep.append(init)
            continue
        for name, data in stored.items():
            same = data.shape == value.shape and np.array_equal(data.astype(np.float32), value)
            turned = not same and data.shape == value.T.shape and np.array_equal(data.astype(np.float32), value.T)
            if same or turned:
                break
        else:
            raise ValueError(f"no stored tensor equals the graph's {init.name} {list(value.shape)}")
        if name not in used:
            t = onnx.TensorProto(name=name + ".float16", data_type=onnx.TensorProto.FLOAT16, dims=data.shape)
            t.data_location = onnx.TensorProto.EXTERNAL
            place = {"location": HALF, "offset": begins[name], "length": data.nbytes}
            t.external_data.extend(onnx.StringStringEntryProto(key=k, value=str(v)) for k, v in place.items())
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


def write(state: dict, config: dict, vocab: str, out: str, float16: bool = False, numbers: dict | None = None) -> None:
    """Writes the folder's weights, model.onnx, config.json, vocab.txt and tokenizer_config.json."""
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    stored = {n: t.detach().cpu().half() for n, t in state.items()} if float16 else quantised(state, numbers or {})
    half = expanded(stored)
    if float16:
        half = model.widen(half, config)
        config = {k: v for k, v in config.items() if k not in model.OWN_KEYS}
    net = model.MaskedLM(config)
    net.load_state_dict({n: t.float() for n, t in half.items()})
    net.eval().requires_grad_(False)
    if model.factorised(config):
        half, stored = model.electra(half), model.electra(stored)
    data, begins = half_file(half)
    ids = torch.ones(2, 7, dtype=torch.int64)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {n: {0: "batch", 1: "sequence"} for n in [*names, "logits"]}
    with tempfile.TemporaryDirectory() as scratch:
        graph = pathlib.Path(scratch) / GRAPH
        torch.onnx.export(Graph(net), (ids, ids, 0 * ids), str(graph), input_names=names, output_names=["logits"],
                          dynamic_axes=axes, opset_version=OPSET, dynamo=False)  # fmt: skip
        m = onnx.load(graph)
        external(m, half, begins)
        onnx.save(m, graph)
        (graph.parent / HALF).write_bytes(data)  # the check looks for the weights beside the graph
        onnx.checker.check_model(str(graph))
        for name in (GRAPH, HALF) if float16 else (GRAPH,):
            shutil.copyfile(graph.parent / name, folder / name)
    if not float16:
        safetensors.torch.save_file(stored, folder / STORED, metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    if pathlib.Path(vocab).resolve() != (folder / "vocab.txt").resolve():
        shutil.copyfile(vocab, folder / "vocab.txt")
    special = {k + "_token": f"[{k.upper()}]" for k in ("mask", "pad", "unk", "cls", "sep")}
    tokenizer = {"do_lower_case": True, **special, "model_max_length": 512, "tokenizer_class": "BertTokenizer",
                 "typography": "straight"}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer, indent=1) + "\n")


def files(folder: pathlib.Path) -> dict:
    """The files of a model folder by name, model.safetensors as it is read."""
    names = GRAPH, "config.json", "lengths.safetensors", "vocab.txt", "tokenizer_config.json", "LICENSE"
    out = {n: (folder / n).read_bytes() for n in names if (folder / n).exists()}
    if (folder / STORED).exists():
        out[HALF] = half_file(expanded(safetensors.torch.load_file(folder / STORED)))[0]
    else:
        out[HALF] = (folder / HALF).read_bytes()
    return dict(sorted(out.items()))


def card(out: str) -> None:
    """Brings the table of sizes and SHA-256 sums in the folder's README.md, where there is one, up to date."""
    folder = pathlib.Path(out)
    readme = folder / "README.md"
    if not readme.exists():
        return
    rows = ["| file | bytes | SHA-256 |", "|---|---:|---|"]
    for name, data in files(folder).items():
        rows.append(f"| `{name}` | {len(data)} | `{hashlib.sha256(data).hexdigest()}` |")
    old = readme.read_text(encoding="utf-8")
    new, n = re.subn(r"\| file \| bytes \|.*\n(?:\|.*\n)*", "\n".join(rows) + "\n", old)
    if n != 1:
        raise ValueError(f"{readme} has {n} tables of files, want one")
    readme.write_text(new, encoding="utf-8")


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--checkpoint", required=True, help="checkpoint.pt that train.py wrote, or a model folder")
    p.add_argument("--vocab", required=True)
    p.add_argument("--out", required=True, help="model folder; the table of its README.md, if any, is brought up to date")
    p.add_argument("--float16", action="store_true", help="write model.safetensors in float16, as transformers reads it")
    a = p.parse_args()
    net, numbers = evaluate.load(a.checkpoint), None
    if a.checkpoint.endswith(".pt"):
        numbers = torch.load(a.checkpoint, map_location="cpu").get("numbers")
    write(net.state_dict(), net.config, a.vocab, a.out, a.float16, numbers)
    card(a.out)


if __name__ == "__main__":
    main()
