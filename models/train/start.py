"""Start values of a student: layers of one model (--model), and what a teacher of the same vocabulary knows.

Without --width the tables are those of the layers' model too, and only the output's bias is the teacher's (--teacher).
With --width the table is the teacher's own, projected: the directions of its output that change the logits most
at masked places (of --stored chunks), so that the table is input and output at once as in the teacher. Linear maps, fitted by least
squares, lead from it to what the layers were made to read, and from the last layer's states to the projected ones
of the teacher. Writes DIR/checkpoint.pt, from which train.py goes on.
"""

import argparse
import copy
import json

import numpy as np
import torch
import torch.nn.functional as F

import data
import evaluate
import model
import store
import train
import weights

BETWEEN = 4.0  # added before the head's GELU, where it is the identity; the layer norm after it takes it off


def shape(config: dict, layers: list[int], width: int | None = None) -> dict:
    """The configuration of these layers of a model, from 0, with a table of this width."""
    heads, inner = model.head_counts(config), model.inner_sizes(config)
    if gone := [i for i in layers if not 0 <= i < len(inner)]:
        raise ValueError(f"the model has no layer {gone[0]}: it has 0 to {len(inner) - 1}")
    out = train.config(config["vocab_size"], config["hidden_size"], len(layers), config["intermediate_size"],
                       config["num_attention_heads"], width)  # fmt: skip
    out["max_position_embeddings"] = config["max_position_embeddings"]
    return model.shaped(out, [heads[i] for i in layers], [inner[i] for i in layers])


def start(state: dict, config: dict, layers: list[int], bias: torch.Tensor | None) -> tuple[dict, dict]:
    """The state and the configuration of a masked LM of some layers; a head that is not there begins as the identity."""
    config = shape(config, layers)
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


def fit(x: torch.Tensor, y: torch.Tensor, ridge: float, weight: torch.Tensor | None = None):
    """The linear map (A, b), y = A x + b by rows, of least squares with these weights of rows, and its R²."""
    w = (torch.ones(len(x)) if weight is None else weight)[:, None] / (len(x) if weight is None else weight.sum())
    mx, my = (w * x).sum(0), (w * y).sum(0)
    u, v = x - mx, y - my
    gram = u.T @ (w * u)
    a = torch.linalg.solve(gram + ridge * gram.diagonal().mean() * torch.eye(len(gram)), u.T @ (w * v))
    left = float((w * (v - u @ a) ** 2).sum() / (w * v**2).sum())
    return a.T.contiguous(), my - mx @ a, 1 - left


def output(teacher: model.MaskedLM, states: torch.Tensor, width: int):
    """(table, bias, coordinates): logits = table · coordinates + bias, closest to the teacher's of this width.

    states [n, hidden] are what the teacher's table is multiplied by at masked places; the coordinates [n, width] have mean
    zero and covariance one.
    """
    table, bias = teacher.bert.embeddings.word_embeddings.weight, teacher.cls.predictions.bias
    mean = states.mean(0)
    x = states - mean
    value, vector = torch.linalg.eigh(x.T @ x / len(x) + 1e-3 * torch.eye(x.shape[1]))
    scaled = table @ (vector * value.sqrt())
    most = torch.linalg.eigh(scaled.T @ scaled)[1].flip(1)[:, :width]
    return scaled @ most, bias + table @ mean, x @ (vector / value.sqrt()) @ most


@torch.no_grad()
def project(teacher: model.MaskedLM, state: dict, config: dict, todo: list, width: int, count: torch.Tensor):
    """The state and configuration with the teacher's table at this width; count [vocabulary] weighs the pieces.

    state and config are what start returns; todo are batches (ids, flat positions of masks).
    """
    p, half = teacher.cls.predictions.transform, copy.deepcopy(teacher).bfloat16()
    states = torch.cat([half.encode(ids, None, None, at).float() for ids, at in todo])
    table, bias, z = output(teacher, p.LayerNorm(F.gelu(p.dense(states))), width)
    hidden = config["hidden_size"]
    e = {n: state[f"bert.embeddings.{n}"] for n in (
        "word_embeddings.weight", "position_embeddings.weight", "token_type_embeddings.weight", "LayerNorm.weight",
        "LayerNorm.bias")}  # fmt: skip
    place = e["position_embeddings.weight"]
    middle = place[: data.SHORT].mean(0)
    words = e["word_embeddings.weight"] + middle + e["token_type_embeddings.weight"][0]
    want = F.layer_norm(words, (hidden,), e["LayerNorm.weight"], e["LayerNorm.bias"], 1e-12)
    into, shift, r2 = fit(F.layer_norm(table, (width,)), want, 1e-3, (count + 1).sqrt())
    print(f"table to layers: R² {r2:.3f}")
    # Positions: what they add to the layers' input, as far as the map reaches it.
    moved = e["LayerNorm.weight"] * (place - middle) / words.std(1).median()
    gram = into.T @ into
    back = torch.linalg.solve(gram + 0.02 * gram.diagonal().mean() * torch.eye(width), into.T @ moved.T).T
    config = shape(config, list(range(config["num_hidden_layers"])), width)
    net = model.MaskedLM(config)
    out = net.state_dict()
    out.update({n: t for n, t in state.items() if n.startswith("bert.encoder.")})
    out.update({
        "bert.embeddings.word_embeddings.weight": table,
        "bert.embeddings.position_embeddings.weight": back * table.std(1).median(),
        "bert.embeddings.token_type_embeddings.weight": torch.zeros(config["type_vocab_size"], width),
        "bert.embeddings_project.weight": into,
        "bert.embeddings_project.bias": shift,
        "cls.predictions.bias": bias,
    })  # fmt: skip
    net.load_state_dict(out)
    last = torch.cat([net.encode(ids, None, None, at) for ids, at in todo])
    dense, shift, r2 = fit(last, z, 0.3)
    print(f"last layer to the teacher's output: R² {r2:.3f}")
    out["cls.predictions.transform.dense.weight"] = dense
    out["cls.predictions.transform.dense.bias"] = shift + BETWEEN
    # Coordinates that are guessed badly begin small: of the size of what the map guesses.
    out["cls.predictions.transform.LayerNorm.weight"] = torch.full((width,), float((last @ dense.T + shift).std()))
    return out, config


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--model", required=True, help="folder with model.safetensors and config.json of the layers")
    p.add_argument("--layers", required=True, help="the layers to take, from 0, separated by commas")
    p.add_argument("--teacher", help="folder of the teacher, with the same vocabulary")
    p.add_argument("--width", type=int, help="width of the table: the teacher's, projected")
    p.add_argument("--stored", help="with --width: folder of store.py's chunks")
    p.add_argument("--data", help="with --width: folder that prepare.py wrote")
    p.add_argument("--batches", type=int, default=24, help="with --width: so many batches to fit on")
    p.add_argument("--out", required=True, help="folder for checkpoint.pt, for train.py's --out")
    a = p.parse_args()
    state = weights.tensors(a.model)
    with open(f"{a.model}/config.json", encoding="utf-8") as f:
        config = json.load(f)
    bias = weights.tensors(a.teacher)["cls.predictions.bias"] if a.teacher else None
    state, config = start(state, config, [int(i) for i in a.layers.split(",")], bias)
    if a.width:
        if not (a.teacher and a.stored and a.data):
            p.error("--width needs --teacher, --stored and --data")
        pieces = np.load(f"{a.data}/pieces.npy", mmap_mode="r")
        chunks, special = store.Chunks(a.stored), data.special(f"{a.teacher}/vocab.txt")
        where = [(n, k) for n in range(chunks.count()) for k in range(len(chunks.chunk(n)["rows"]))][: a.batches]
        todo = [chunks.batch(n, k, pieces, special)[:2] for n, k in where]
        count = np.bincount(pieces[: 1 << 22], minlength=config["vocab_size"])
        count[[special.cls, special.sep, special.mask]] = count.max()
        state, config = project(evaluate.load(a.teacher), state, config, todo, a.width, torch.from_numpy(count).float())
    train.fresh(state, config, 0, a.out)


if __name__ == "__main__":
    main()
