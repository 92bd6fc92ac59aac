"""Prints what this machine and this torch train at: matrix products, and tokens a second of given shapes.

Runs with PyPI's torch and with a distribution's, so that the two can be compared; one process and one
thread, as a worker of train.py has.
"""

import argparse
import contextlib
import statistics
import time

import torch

import data
import model
import train


def rate(seconds_of, repeats: int) -> float:
    """The median time of a call, in seconds."""
    seconds_of()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        seconds_of()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def product(kind: torch.dtype, size: int = 1024) -> float:
    """GFLOPS of a product of two square matrices."""
    a, b = torch.randn(size, size).to(kind), torch.randn(size, size).to(kind)
    return 2e-9 * size**3 / rate(lambda: a @ b, 20)


def shape(layers: int, hidden: int, inner: int, width: int, vocab: int, length: int, mode: str) -> float:
    """Tokens a second, forward and backward without the optimizer, of batches as train.py has them."""
    net = model.MaskedLM(train.config(vocab, hidden, layers, inner, width=width))
    rows = data.TOKENS // length
    ids = torch.randint(0, vocab, (rows, length))
    at = torch.arange(0, rows * length, 5)
    target = ids.flatten()[at]
    loss_of = torch.compile(net.loss, dynamic=True) if mode == "compiled" else net.loss

    def step():
        with contextlib.nullcontext() if mode == "float32" else torch.autocast("cpu", torch.bfloat16):
            loss, _ = loss_of(ids, at, target)
        loss.backward()

    return rows * length / rate(step, 8)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--shapes", default="4x256", help="layers x hidden [x inner [x width of the table]], separated by commas")
    p.add_argument("--modes", default="float32,bfloat16,compiled", help="which of these three (compiled: bfloat16)")
    p.add_argument("--vocab", type=int, default=16384, help="pieces")
    p.add_argument("--length", type=int, default=36, help="pieces in a row")
    a = p.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread; products of 1,024 x 1,024: "
          f"float32 {product(torch.float32):.0f}, bfloat16 {product(torch.bfloat16):.0f} GFLOPS")  # fmt: skip
    for s in a.shapes.split(","):
        layers, hidden, *rest = map(int, s.split("x"))
        dims = (layers, hidden, *rest, *[4 * hidden, hidden][len(rest) :])
        speeds = [f"{m} {shape(*dims, a.vocab, a.length, m):,.0f}" for m in a.modes.split(",")]
        print(f"{s}: {', '.join(speeds)} tokens/s")


if __name__ == "__main__":
    main()
