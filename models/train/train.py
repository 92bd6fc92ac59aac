"""Trains the masked language model, or goes on from a checkpoint.

Warm-up, constant rate, and a linear decay to zero over the last part. The end is a time (--until) or a
number of tokens (--tokens), and either can be changed when going on, so that a run can be ended at any
moment with weights that are good then. Masks are always [MASK]: that is what filling blanks sees.

On a CPU, each core is a process of its own with one thread, all on one set of weights in shared memory:
a step is --batches batches, which the workers take one after the other, and then each worker updates
its share of the weights. So a core that other programs keep busy slows the run down in
proportion, where threads inside each operation would wait for one another thousands of times a step.
With a GPU there is one worker.
"""

import argparse
import datetime
import json
import os
import pathlib
import time

import numpy as np
import torch
import torch.multiprocessing as mp

import data
import model
import muon


def config(vocab: int, hidden: int, layers: int, inner: int | None = None) -> dict:
    """A Hugging Face BERT configuration with heads of 64 and an inner size of 4 x hidden, or `inner`."""
    return {
        "architectures": ["BertForMaskedLM"],
        "model_type": "bert",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": hidden // 64,
        "intermediate_size": inner or 4 * hidden,
        "vocab_size": vocab,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
        "pad_token_id": 0,
    }


class Optimizer:
    """Muon for the matrices of layers and head; Adam (W, no decay on vectors) for tables, norms and biases.

    The weights are split among the workers; state() is the buffers, which live in shared memory.
    """

    def __init__(self, net: model.MaskedLM, workers: int):
        self.params = dict(net.named_parameters())
        self.first = {n: torch.zeros_like(p) for n, p in self.params.items()}
        hidden = [n for n, p in self.params.items() if p.dim() == 2 and "embeddings" not in n]
        self.second = {n: torch.zeros_like(p) for n, p in self.params.items() if n not in hidden}
        # Matrices of one shape go through the iteration together; dealt out so that each worker has of each shape.
        self.shards: list[list[list[str]]] = [[] for _ in range(workers)]
        for shape in sorted({self.params[n].shape for n in hidden}):
            same = [n for n in hidden if self.params[n].shape == shape]
            for w in range(workers):
                if same[w::workers]:
                    self.shards[w].append(same[w::workers])
        self.adam = [list(self.second)[w::workers] for w in range(workers)]

    def state(self) -> dict:
        """The buffers by name."""
        return {"first": self.first, "second": self.second}

    @torch.no_grad()
    def step(self, worker: int, grads: list[dict], scale: float, rate: float, muon_rate: float, number: int) -> None:
        """Applies the sum of the workers' gradients times scale to this worker's share of the weights."""

        def grad(n: str) -> torch.Tensor:
            g = grads[0][n] * scale
            for other in grads[1:]:
                g.add_(other[n], alpha=scale)
            return g

        for names in self.shards[worker]:
            own = [self.params[n].data for n in names]
            muon.step(own, [grad(n) for n in names], [self.first[n] for n in names], muon_rate)
        b1, b2 = 0.9, 0.98
        for n in self.adam[worker]:
            g, m, v, p = grad(n), self.first[n], self.second[n], self.params[n].data
            m.lerp_(g, 1 - b1)
            v.mul_(b2).addcmul_(g, g, value=1 - b2)
            if p.dim() == 2:
                p.mul_(1 - 0.01 * rate)
            c1, c2 = 1 - b1**number, 1 - b2**number
            p.addcdiv_(m, (v / c2).sqrt_().add_(1e-8), value=-rate / c1)


class Schedule:
    """The factor on the learning rates, from 1 down to 0, where the run ends."""

    def __init__(self, a: argparse.Namespace):
        self.a, self.end = a, None
        if a.until:
            now = datetime.datetime.now(datetime.timezone.utc)
            h, m = map(int, a.until.split(":"))
            end = now.replace(hour=h, minute=m, second=0)
            self.end = (end if end > now else end + datetime.timedelta(days=1)).timestamp()

    def factor(self, step: int, tokens: int) -> float:
        """The factor at a step (counted from 0) that has seen so many tokens."""
        f = min(1.0, (step + 1) / self.a.warmup)
        if self.end:
            f = min(f, (self.end - time.time()) / (60 * self.a.decay_minutes))
        if self.a.tokens:
            f = min(f, (self.a.tokens - tokens) / (self.a.tokens * self.a.decay))
        return max(f, 0.0)


def save(path: pathlib.Path, state: dict) -> None:
    """Writes a checkpoint so that a kill at any moment leaves a whole one."""
    torch.save(state, path.with_suffix(".tmp"))
    os.replace(path.with_suffix(".tmp"), path)


def work(worker: int, a, net, teacher, opt, grads, at, shared, barrier, lock) -> None:
    """The loop of one worker. shared: next batch, factor, and sums of loss, hits and tokens."""
    torch.set_num_threads(1 if a.workers > 1 else a.threads)
    device = next(net.parameters()).device.type
    pieces = np.load(f"{a.data}/pieces.npy", mmap_mode="r")
    bounds = [np.load(f"{a.data}/{n}.npy") for n in ("sentence", "line", "narrative")]
    for n, p in net.named_parameters():
        p.grad = grads[worker][n]
    compiled = (lambda f: f) if a.no_compile else (lambda f: torch.compile(f, dynamic=True))
    loss_of = compiled(net.loss)
    teacher_of = compiled(teacher.logits) if teacher else None
    out, schedule = pathlib.Path(a.out), Schedule(a)
    log = open(out / "log.jsonl", "a", buffering=1) if worker == 0 else None
    began = saved = time.time()
    before, sums = at["seconds"], np.zeros(4)
    while True:
        rng = np.random.default_rng([a.seed, at["epoch"]])
        todo = data.batches(data.windows(*bounds, rng), rng)
        while at["batch"] + a.batches <= len(todo):
            if worker == 0:
                shared[:] = torch.tensor([0, schedule.factor(at["step"], at["tokens"]), 0, 0, 0])
            barrier.wait()
            f = float(shared[1])
            share = a.mask_end + (a.mask - a.mask_end) * (f if at["step"] >= a.warmup else 1.0)
            if f > 0:
                for g in grads[worker].values():
                    g.zero_()
            while f > 0:
                with lock:
                    k = int(shared[0])
                    shared[0] += 1
                if k >= a.batches:
                    break
                length, rows = todo[at["batch"] + k]
                ids = data.fill(pieces, length, rows)
                draw = np.random.default_rng([a.seed, at["step"], k])
                ids_, mask, places, target = data.mask(ids, share, draw)
                position = data.positions(length, net.config["max_position_embeddings"], draw)
                x = [t if t is None else t.to(device) for t in (ids_, mask, places, target, position)]
                with torch.autocast(device, torch.bfloat16, enabled=not a.fp32):
                    soft = ()
                    if teacher:
                        with torch.no_grad():
                            soft = (teacher_of(x[0], x[1], x[2], x[4]), a.soft)
                    loss, hit = loss_of(*x, *soft)
                loss.backward()
                with lock:
                    shared[2:] += torch.tensor([loss.item(), hit.item() / len(places), (ids != data.PAD).sum()])
            barrier.wait()
            if worker == 0:
                at["seconds"] = before + time.time() - began
            if worker == 0 and (f <= 0 or time.time() - saved > 60 * a.save_minutes):
                save(out / "checkpoint.pt", {"model": net.state_dict(), "optimizer": opt.state(), "at": at,
                                             "config": net.config})  # fmt: skip
                saved = time.time()
            if f <= 0:
                return
            opt.step(worker, grads, 1 / a.batches, a.rate * f, a.muon_rate * f, at["step"] + 1)
            at["step"] += 1
            at["batch"] += a.batches
            at["tokens"] += int(shared[4])
            sums += [1, shared[2] / a.batches, shared[3] / a.batches, shared[4]]
            barrier.wait()
            if worker == 0 and at["step"] % 100 == 0:
                line = {"step": at["step"], "tokens": at["tokens"], "seconds": round(at["seconds"], 1),
                        "loss": round(sums[1] / sums[0], 4), "top1": round(sums[2] / sums[0], 4),
                        "factor": round(f, 4), "mask": round(share, 3)}  # fmt: skip
                log.write(json.dumps(line) + "\n")
                sums[:] = 0
        at["epoch"] += 1
        at["batch"] = 0


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", required=True, help="folder that prepare.py wrote")
    p.add_argument("--vocab", required=True)
    p.add_argument("--embeddings", help="start values that embed.py wrote")
    p.add_argument("--out", required=True, help="folder for checkpoint.pt and log.jsonl; continued, in its shape, if there")
    p.add_argument("--hidden", type=int, default=256)
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--inner", type=int, help="width of the feed-forward blocks (default: 4 x hidden)")
    p.add_argument("--teacher", help="checkpoint.pt of a larger model with the same vocabulary to learn from")
    p.add_argument("--soft", type=float, default=0.5, help="with --teacher: its share of the loss")
    p.add_argument("--until", help="end at this time of day, HH:MM UTC")
    p.add_argument("--decay-minutes", type=float, default=25, help="the decay before --until")
    p.add_argument("--tokens", type=int, help="end after this many tokens")
    p.add_argument("--decay", type=float, default=0.2, help="the share of --tokens that is decay")
    p.add_argument("--batches", type=int, default=4, help="batches (of 1,440 tokens) in a step")
    p.add_argument("--rate", type=float, default=1e-3)
    p.add_argument("--muon-rate", type=float, default=0.005)
    p.add_argument("--warmup", type=int, default=200, help="steps")
    p.add_argument("--mask", type=float, default=0.25, help="share of masked pieces")
    p.add_argument("--mask-end", type=float, default=0.15, help="share at the end of the decay")
    p.add_argument("--save-minutes", type=float, default=5)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--workers", type=int, default=2, help="processes on a CPU")
    p.add_argument("--threads", type=int, default=2, help="threads where there is one worker")
    p.add_argument("--fp32", action="store_true", help="no bfloat16")
    p.add_argument("--no-compile", action="store_true")
    a = p.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        a.workers = 1
    torch.manual_seed(a.seed)
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    size = sum(1 for _ in open(a.vocab, encoding="utf-8"))
    saved = torch.load(out / "checkpoint.pt", map_location=device) if (out / "checkpoint.pt").exists() else None
    shape = saved["config"] if saved else config(size, a.hidden, a.layers, a.inner)
    net = model.MaskedLM(shape).to(device)
    if a.embeddings:
        start = torch.load(a.embeddings, map_location=device)
        net.bert.embeddings.word_embeddings.weight.data.copy_(start["embeddings"])
        seen = start["counts"] + 1.0
        net.cls.predictions.bias.data.copy_((seen / seen.sum()).log() + np.log(size))
    opt = Optimizer(net, a.workers)
    at = {"epoch": 0, "batch": 0, "step": 0, "tokens": 0, "seconds": 0.0}
    if saved:
        net.load_state_dict(saved["model"])
        for kind, buffers in opt.state().items():
            for n, b in buffers.items():
                b.copy_(saved["optimizer"][kind][n])
        at = saved["at"]
    grads = [{n: torch.zeros_like(p, requires_grad=False) for n, p in net.named_parameters()} for _ in range(a.workers)]
    teacher = None
    if a.teacher:
        known = torch.load(a.teacher, map_location=device)
        teacher = model.MaskedLM(known["config"]).to(device).requires_grad_(False).share_memory()
        teacher.load_state_dict(known["model"])
    rest = [a, net, teacher, opt, grads, at, torch.zeros(5, dtype=torch.float64)]
    if a.workers == 1:
        import threading

        work(0, *rest, threading.Barrier(1), threading.Lock())
        return
    net.share_memory()
    for buffers in [*opt.state().values(), *grads, {"": rest[-1]}]:
        for b in buffers.values():
            b.share_memory_()
    # The optimizer names the weights of the shared network, so it must travel together with it.
    context = mp.get_context("spawn")
    mp.spawn(work, (*rest, context.Barrier(a.workers), context.Lock()), nprocs=a.workers)


if __name__ == "__main__":
    main()
