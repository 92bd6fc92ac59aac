"""Stores the matrices of a model in few bits, so that its layers give what they gave (GPTQ, Frantar et al. 2023).

The columns of a row are cut into groups of --group weights, each with one scale in float16. Column after column is
rounded, and what that changes in the output is taken up by the columns that are not rounded yet, by least squares on the inputs
that the matrix has on text. Layers are done in order, each on what the rounded ones before it give. The table is rounded for its part
in the output, with some weight on its own error, since it is the input too. Positions and token types take 8 bits, a scale a row.
Writes DIR/checkpoint.pt with the rounded weights, for evaluate.py, and their numbers and scales, for export.py.
"""

import argparse
import math
import pathlib

import torch
import torch.nn.functional as F

import evaluate
import grid
import model
import prune
import train

DAMPING = 0.01  # of the mean square of the inputs, added to each
OWN = 0.1  # the weight of the table's own error, as a share of the mean square of what it is multiplied by
ROWS = 4096  # of the table at a time


def quantise(weight: torch.Tensor, squares: torch.Tensor, bits: int, group: int):
    """(numbers int8 [rows, columns], scales [rows, columns / group]) of a matrix [rows, columns].

    squares [columns, columns] are the mean products of its inputs.
    """
    w, half, columns = weight.clone(), 2 ** (bits - 1), weight.shape[1]
    squares = squares + DAMPING * squares.diagonal().mean() * torch.eye(columns)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(squares))
    upper = torch.linalg.cholesky(inverse, upper=True)
    numbers = torch.zeros(w.shape, dtype=torch.int8)
    out = torch.zeros(len(w), columns // group)
    for first in range(0, columns, group):
        end = first + group
        s = out[:, first // group] = grid.scales(w[:, first:end], bits)
        left = torch.zeros(len(w), group)
        for i in range(first, end):
            number = (w[:, i] / s).round().clamp(-half, half - 1)
            numbers[:, i] = number.to(torch.int8)
            left[:, i - first] = (w[:, i] - number * s) / upper[i, i]
            w[:, i + 1 : end] -= left[:, i - first, None] * upper[i, i + 1 : end]
        w[:, end:] -= left @ upper[first:end, end:]
    return numbers, out


def value(numbers: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """The weights [rows, columns] in float32, rounded to float16, that numbers and scales stand for."""
    by_group = numbers.float().unflatten(1, (scales.shape[1], -1)) * scales.float()[:, :, None]
    return by_group.flatten(1).half().float()


def squares(rows: list, weights: list) -> torch.Tensor:
    """Mean products [d, d] of rows [n, d]."""
    return sum((w[:, None] * x).T @ x for x, w in zip(rows, weights)) / sum(float(w.sum()) for w in weights)


@torch.no_grad()
def run(net: model.MaskedLM, batches: list, bits: int, group: int) -> dict:
    """Rounds the matrices of a model in place; their (numbers, scales) by name. batches are (ids, flat positions of masks)."""
    done = {}

    def put(name: str, products: torch.Tensor) -> None:
        p = net.get_parameter(name)
        size = math.gcd(group, p.shape[1])  # of groups that fill a row
        parts = [quantise(w, products, bits, size) for w in p.data.split(ROWS)]
        numbers, s = (torch.cat(x) for x in zip(*parts))
        p.data = value(numbers, s)
        done[name] = numbers, s.half()

    head = net.cls.predictions.transform
    weights = [torch.ones(ids.numel()).index_fill(0, at, prune.MASKED_WEIGHT) for ids, at in batches]
    even = [torch.ones(len(at)) for _, at in batches]
    states = [head.LayerNorm(F.gelu(head.dense(net.encode(ids, None, None, at)))) for ids, at in batches]
    products = squares(states, even)
    put("bert.embeddings.word_embeddings.weight", products + OWN * products.diagonal().mean() * torch.eye(len(products)))
    own = [net.embed(ids) for ids, _ in batches]
    for number, layer in enumerate(net.bert.encoder.layer):
        name, o = f"bert.encoder.layer.{number}.", layer.attention.output
        flat = [x.flatten(0, 1) for x in own]
        products = squares(flat, weights)
        for part in ("query", "key", "value"):
            put(f"{name}attention.self.{part}.weight", products)
        rows = [prune.context(layer, x) for x in own]
        put(name + "attention.output.dense.weight", squares(rows, weights))
        flat = [o.LayerNorm(x + o.dense(r)) for x, r in zip(flat, rows)]
        put(name + "intermediate.dense.weight", squares(flat, weights))
        rows = [F.gelu(layer.intermediate.dense(x)) for x in flat]
        put(name + "output.dense.weight", squares(rows, weights))
        own = [layer.output.LayerNorm(x + layer.output.dense(r)).view(y.shape) for x, r, y in zip(flat, rows, own)]
        print(f"layer {number}", flush=True)
    last = [x.flatten(0, 1)[at] for x, (_, at) in zip(own, batches)]
    put("cls.predictions.transform.dense.weight", squares(last, even))
    return done


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", required=True, help="checkpoint.pt or model folder")
    p.add_argument("--data", required=True, help="folder that prepare.py wrote")
    p.add_argument("--vocab", required=True)
    p.add_argument("--bits", type=int, default=4, choices=[4, 8])
    p.add_argument("--group", type=int, default=grid.GROUP, help="weights that share a scale")
    p.add_argument("--batches", type=int, default=12, help="so many batches of text to fit on")
    p.add_argument("--share", type=float, default=0.2, help="share of masked pieces")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--out", required=True, help="folder for checkpoint.pt")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    net = evaluate.load(a.model)
    if model.factorised(net.config):
        p.error("a factorised table is not supported")
    numbers = run(net, prune.text(a.data, a.vocab, a.batches, a.share, a.seed), a.bits, a.group)
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    train.save(out / "checkpoint.pt", {"model": net.state_dict(), "config": net.config, "numbers": numbers})


if __name__ == "__main__":
    main()
