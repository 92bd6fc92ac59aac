"""Start values of a smaller model from a larger one, by least squares on what the layers compute on text.

Some layers go (--layers). Of each layer that stays, the attention heads and inner neurons go without which the rest
can best make up for the loss (optimal brain surgeon, Hassibi and Stork 1993, in the structured form of Kurtic et al. 2023): one after
another those whose part in the output the others predict best, and the output matrix is fitted anew to what it gave
before. Then a ridge regression moves each layer's output towards what the larger model has in that place, so that a layer
also does what it can of the ones that are gone after it. No gradient is computed. The result is a checkpoint with empty
optimizer buffers, from which train.py goes on.
"""

import argparse
import json

import numpy as np
import torch
import torch.nn.functional as F

import data
import evaluate
import model
import store
import train

MASKED_WEIGHT = 3.0  # of a masked place among the others
DAMPING = 1e-4  # of the mean variance, added to each
STEPS = 24  # in which inner neurons go


def moments(rows: list, weights: list, others: list | None = None):
    """Weighted means of rows [n, d] and of others [n, e] (rows themselves if None), and their covariance [d, e]."""
    others = rows if others is None else others
    total = sum(float(w.sum()) for w in weights)
    first = sum((w[:, None] * x).sum(0) for x, w in zip(rows, weights)) / total
    second = first if others is rows else sum((w[:, None] * y).sum(0) for y, w in zip(others, weights)) / total
    both = sum((w[:, None] * x).T @ y for x, y, w in zip(rows, others, weights)) / total
    return first, second, both - first[:, None] * second


def damped(cov: torch.Tensor, share: float) -> torch.Tensor:
    """The covariance with this share of the mean variance added to each."""
    return cov + share * cov.diagonal().mean() * torch.eye(len(cov))


def select(cov: torch.Tensor, weight: torch.Tensor, unit: int, count: int, steps: int):
    """(columns that stay, matrix for them, share of the output's variance that is lost).

    weight [out, d] is applied to inputs of covariance cov [d, d]. Units of so many neighbouring inputs go until count
    are left, in so many steps. After each, the matrix is the one of least squares.
    """
    units = torch.arange(weight.shape[1] // unit)
    target = weight @ cov  # covariance of the output with all inputs
    now = weight
    sizes = np.unique(np.linspace(len(units), count, steps + 1).round().astype(int))[::-1][1:]
    columns = torch.arange(weight.shape[1])
    for size in sizes:
        inverse = torch.linalg.inv(cov[columns][:, columns])
        blocks = inverse.view(len(units), unit, len(units), unit).diagonal(dim1=0, dim2=2).permute(2, 0, 1)
        parts = now.view(len(now), len(units), unit).permute(1, 0, 2)  # [units, out, unit]
        loss = (parts @ torch.linalg.inv(blocks) * parts).sum((1, 2))
        units = units[loss.topk(int(size)).indices.sort().values]
        columns = (units[:, None] * unit + torch.arange(unit)).reshape(-1)
        now = torch.linalg.solve(cov[columns][:, columns], target[:, columns].T).T
    lost = 1 - float((now * target[:, columns]).sum() / (weight * target).sum())
    return columns, now.contiguous(), lost


def cut(dense: torch.nn.Linear, mean: torch.Tensor, cov: torch.Tensor, unit: int, count: int, steps: int):
    """Cuts the inputs, of this mean and covariance, of a linear layer to count units, in place: what stays, and what is lost."""
    old = dense.weight.data
    columns, new, lost = select(damped(cov, DAMPING), old, unit, count, steps)
    dense.bias.data += old @ mean - new @ mean[columns]
    dense.weight = torch.nn.Parameter(new)
    return columns, lost


def move(dense: torch.nn.Linear, cov: torch.Tensor, rows: list, weights: list, left: list, ridge: float) -> None:
    """Adds to a linear layer, in place, the ridge regression of what is left [n, out] on its inputs [n, d] of this covariance."""
    mean, offset, both = moments(rows, weights, left)
    more = torch.linalg.solve(damped(cov, ridge), both).T
    dense.weight.data += more
    dense.bias.data += offset - more @ mean


def before(norm: torch.nn.LayerNorm, wanted: torch.Tensor, now: torch.Tensor) -> torch.Tensor:
    """What must be added to the input of a layer norm so that it gives what is wanted, with the spread it has now."""
    shape = (wanted - norm.bias) / norm.weight
    return shape * now.std(-1, keepdim=True, unbiased=False) + now.mean(-1, keepdim=True) - now


def context(layer: model.Layer, x: torch.Tensor) -> torch.Tensor:
    """What the heads of a layer give, [batch · length, heads · width]."""
    a = getattr(layer.attention, "self")
    q, k, v = (m(x).unflatten(-1, (layer.heads, layer.width)).transpose(1, 2) for m in (a.query, a.key, a.value))
    return model.attend(q, k, v, None).transpose(1, 2).flatten(2).flatten(0, 1)


def passed(layer: model.Layer, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The states [batch, length, hidden] after the attention and after the whole layer."""
    o = layer.attention.output
    middle = o.LayerNorm(x + o.dense(context(layer, x)).view(x.shape))
    return middle, layer.output.LayerNorm(middle + layer.output.dense(F.gelu(layer.intermediate.dense(middle))))


@torch.no_grad()
def prune(state: dict, config: dict, batches: list, layers: list, heads: list, inner: list, ridge: float):
    """The state and the configuration of the smaller model.

    batches are (ids [batch, length], flat positions of masks). layers are those that stay, heads and inner what each keeps.
    """
    big, net = model.MaskedLM(config), model.MaskedLM(config)
    big.load_state_dict(state)
    net.load_state_dict(state)
    net.bert.encoder.layer = torch.nn.ModuleList(net.bert.encoder.layer[i] for i in layers)
    theirs = [net.embed(ids) for ids, _ in batches]
    weights = [torch.ones(ids.numel()).index_fill(0, at, MASKED_WEIGHT) for ids, at in batches]
    own = list(theirs)
    ends = [*layers[1:], len(big.bert.encoder.layer)]
    for number, layer in enumerate(net.bert.encoder.layer):
        last = number == len(layers) - 1
        if last:  # it is read at masks only
            weights = [(w > 1).float() for w in weights]
        middles = []
        for old in range(layers[number], ends[number]):
            both = [passed(big.bert.encoder.layer[old], x) for x in theirs]
            theirs = [x for _, x in both]
            middles = middles or [m.flatten(0, 1) for m, _ in both]
        a, o = getattr(layer.attention, "self"), layer.attention.output
        rows, lost = [context(layer, x) for x in own], [0.0, 0.0]
        mean, _, cov = moments(rows, weights)
        if heads[number] < layer.heads:
            columns, lost[0] = cut(o.dense, mean, cov, layer.width, heads[number], layer.heads - heads[number])
            rows, cov, layer.heads = [r[:, columns] for r in rows], cov[columns][:, columns], heads[number]
            for m in (a.query, a.key, a.value):
                m.weight, m.bias = (torch.nn.Parameter(p.data[columns].clone()) for p in (m.weight, m.bias))
        flat = [x.flatten(0, 1) for x in own]
        if not last:
            now = [x + o.dense(r) for x, r in zip(flat, rows)]
            move(o.dense, cov, rows, weights, [before(o.LayerNorm, t, n) for t, n in zip(middles, now)], ridge)
        flat = [o.LayerNorm(x + o.dense(r)) for x, r in zip(flat, rows)]
        first, second = layer.intermediate.dense, layer.output.dense
        rows = [F.gelu(first(x)) for x in flat]
        mean, _, cov = moments(rows, weights)
        if inner[number] < len(first.weight):
            columns, lost[1] = cut(second, mean, cov, 1, inner[number], STEPS)
            rows, cov = [r[:, columns] for r in rows], cov[columns][:, columns]
            first.weight, first.bias = (torch.nn.Parameter(p.data[columns].clone()) for p in (first.weight, first.bias))
        norm = layer.output.LayerNorm
        if not last:
            now = [x + second(r) for x, r in zip(flat, rows)]
            goals = [before(norm, t.flatten(0, 1), n) for t, n in zip(theirs, now)]
            move(second, cov, rows, weights, goals, ridge)
        own = [norm(x + second(r)).view(t.shape) for x, r, t in zip(flat, rows, theirs)]
        print(f"layer {layers[number]}: {heads[number]} heads, {lost[0]:.3f} of the variance lost, "
              f"{inner[number]} neurons, {lost[1]:.3f}", flush=True)  # fmt: skip
    return net.state_dict(), model.shaped(config, heads, inner)


def text(folder: str, vocab: str, batches: int, share: float, seed: int) -> list:
    """Batches of prepare.py's folder with random masks: (ids [batch, length], flat positions of masks)."""
    special, rng = data.special(vocab), np.random.default_rng([seed, 3])
    pieces = np.load(f"{folder}/pieces.npy", mmap_mode="r")
    rows = store.plan(folder, seed, 0, data.TOKENS)[-batches:]
    return [data.mask(data.fill(pieces, r, special), share, rng, special)[:2] for r in rows]


def numbers(text: str, count: int) -> list[int]:
    """Numbers by commas, one for each layer; of two, the second is the last layer's, and one is for all."""
    out = [int(i) for i in text.split(",")]
    if len(out) == 2:
        out = [out[0]] * (count - 1) + out[1:]
    out = out * count if len(out) == 1 else out
    if len(out) != count:
        raise SystemExit(f"prune.py: {text} has {len(out)} numbers for {count} layers; give one, two or one a layer")
    return out


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", required=True, help="the larger model: checkpoint.pt or a model folder")
    p.add_argument("--layers", required=True, help="the layers that stay, from 0, separated by commas")
    p.add_argument("--heads", required=True, help="heads that stay: one number, two (the last layer's), or one a layer")
    p.add_argument("--inner", required=True, help="inner neurons that stay, in the same way")
    p.add_argument("--data", required=True, help="folder that prepare.py wrote")
    p.add_argument("--vocab", required=True)
    p.add_argument("--batches", type=int, default=12, help="so many batches of text to fit on")
    p.add_argument("--ridge", type=float, default=3e-4, help="of the regression, as a share of the mean variance")
    p.add_argument("--share", type=float, default=0.25, help="share of masked pieces")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--out", required=True, help="folder for checkpoint.pt, for train.py's --out")
    a = p.parse_args()
    net, todo = evaluate.load(a.model), text(a.data, a.vocab, a.batches, a.share, a.seed)
    layers = [int(i) for i in a.layers.split(",")]
    heads, inner = numbers(a.heads, len(layers)), numbers(a.inner, len(layers))
    state, config = prune(net.state_dict(), net.config, todo, layers, heads, inner, a.ridge)
    print(json.dumps(config))
    train.fresh(state, config, 0, a.out)


if __name__ == "__main__":
    main()
