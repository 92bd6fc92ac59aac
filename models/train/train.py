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
import evaluate
import grid
import model
import muon
import store


def config(
    vocab: int, hidden: int, layers: int, inner: int | None = None, heads: int | None = None, width: int | None = None
) -> dict:
    """A Hugging Face configuration: BERT's, or ELECTRA's where the table's width is not that of the layers.

    Heads of 64 and an inner size of 4 x hidden where `heads` and `inner` are not given.
    """
    factorised = width is not None and width != hidden
    return {
        "architectures": ["ElectraForMaskedLM" if factorised else "BertForMaskedLM"],
        "model_type": "electra" if factorised else "bert",
        **({"embedding_size": width} if factorised else {}),
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads or hidden // 64,
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

    kind is the type of Muon's products. The weights are split among the workers; state() is the buffers, which live in
    shared memory.
    """

    def __init__(self, net: model.MaskedLM, workers: int, kind: torch.dtype = torch.bfloat16, adam: bool = False):
        self.kind = kind
        self.params = {n: p for n, p in net.named_parameters() if p.requires_grad}
        self.first = {n: torch.zeros_like(p) for n, p in self.params.items()}
        hidden = [n for n, p in self.params.items() if p.dim() == 2 and "_embeddings." not in n and not adam]
        self.second = {n: torch.zeros_like(p) for n, p in self.params.items() if n not in hidden}
        # Matrices of one shape go through the iteration together; dealt out so that each worker has of each shape.
        self.shards: list[list[list[str]]] = [[] for _ in range(workers)]
        for shape in sorted({self.params[n].shape for n in hidden}):
            same = [n for n in hidden if self.params[n].shape == shape]
            for w in range(workers):
                if same[w::workers]:
                    self.shards[w].append(same[w::workers])
        self.adam = [list(self.second)[w::workers] for w in range(workers)]
        self.exact: dict = {}  # the weights behind the rounded ones, which the gradients move (straight through)
        self.scales: dict = {}

    @torch.no_grad()
    def round(self, worker: int) -> None:
        """Rounds this worker's share of the layers' matrices, to scales that are made at the first call."""
        for n in self.adam[worker]:
            if n in self.exact:
                p = self.params[n].data
                if n not in self.scales:
                    self.exact[n].copy_(p)
                    self.scales[n] = grid.scales(p.view(-1, grid.GROUP), 4)[:, None]
                s = self.scales[n]
                p.copy_(((self.exact[n].view(-1, grid.GROUP) / s).round().clamp(-8, 7) * s).view_as(p))

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
            muon.step(own, [grad(n) for n in names], [self.first[n] for n in names], muon_rate, kind=self.kind)
        b1, b2 = 0.9, 0.98
        for n in self.adam[worker]:
            g, m, v = grad(n), self.first[n], self.second[n]
            p = self.exact[n] if n in self.scales else self.params[n].data
            m.lerp_(g, 1 - b1)
            v.mul_(b2).addcmul_(g, g, value=1 - b2)
            if p.dim() == 2:
                p.mul_(1 - 0.01 * rate)
            c1, c2 = 1 - b1**number, 1 - b2**number
            p.addcdiv_(m, (v / c2).sqrt_().add_(1e-8), value=-rate / c1)
        if self.scales:
            self.round(worker)


class Schedule:
    """The factor on the learning rates, from 1 down to 0, where the run ends or is to stop."""

    def __init__(self, a: argparse.Namespace):
        self.a, self.end = a, None
        self.stop = time.time() + 60 * a.stop_minutes if a.stop_minutes else None
        if a.until:
            now = datetime.datetime.now(datetime.timezone.utc)
            h, m = map(int, a.until.split(":"))
            end = now.replace(hour=h, minute=m, second=0)
            self.end = (end if end > now else end + datetime.timedelta(days=1)).timestamp()

    def factor(self, step: int, tokens: int) -> float:
        """The factor at a step (counted from 0) that has seen so many tokens."""
        if self.stop and time.time() > self.stop:
            return 0.0
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


def fresh(state: dict, config: dict, epoch: int, out: str | pathlib.Path) -> None:
    """Writes out/checkpoint.pt: these weights, empty averages of the optimizer, at the beginning of an epoch."""
    net = model.MaskedLM(config)
    net.load_state_dict(state)
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    at = {"epoch": epoch, "batch": 0, "step": 0, "tokens": 0, "seconds": 0.0}
    save(out / "checkpoint.pt", {"model": net.state_dict(), "optimizer": Optimizer(net, 1).state(), "at": at,
                                 "config": config})  # fmt: skip


class Text:
    """Batches with fresh masks; epoch e is drawn from (seed, e)."""

    def __init__(self, a: argparse.Namespace, special: data.Special, table: int):
        self.a, self.special, self.table = a, special, table
        self.pieces = np.load(f"{a.data}/pieces.npy", mmap_mode="r")
        self.kinds = data.kinds(a.vocab) if a.gaps else None

    def epoch(self, at: dict, _: int) -> list:
        """What batch() takes, in order."""
        return store.plan(self.a.data, self.a.seed, at["epoch"], self.a.batch_tokens)

    def batch(self, rows: np.ndarray, share: float, draw: np.random.Generator):
        """Ids, flat positions, targets, position ids, and no teacher's probabilities."""
        ids = data.fill(self.pieces, rows, self.special)
        position = data.positions(ids.shape[1], self.table, draw)
        if self.kinds is not None and draw.random() < self.a.gaps:
            return *data.gaps(ids, self.kinds, draw, self.special), position, None
        return *data.mask(ids, share, draw, self.special), position, None


class Stored:
    """Batches whose masks a teacher has filled. An epoch is the `--epoch-chunks` chunks that were read least often."""

    def __init__(self, a: argparse.Namespace, special: data.Special, table: int):
        self.a, self.special, self.table, self.chunks = a, special, table, store.Chunks(a.stored)
        self.pieces = np.load(f"{a.data}/pieces.npy", mmap_mode="r")

    def epoch(self, at: dict, chunks: int) -> list[tuple[int, int]]:
        """(Chunk, batch) in random order, of so many chunks that are there; counts them as read."""
        read = at.setdefault("read", [])
        read += [0] * (chunks - len(read))
        rng = np.random.default_rng([self.a.seed, 2, at["epoch"]])
        order = sorted(range(chunks), key=lambda i: (read[i], rng.random()))[: self.a.epoch_chunks]
        todo = []
        for i in order:
            read[i] += 1
            todo += [(i, k) for k in range(len(self.chunks.chunk(i)["rows"]))]
        return [todo[i] for i in rng.permutation(len(todo))]

    def batch(self, where: tuple[int, int], _: float, draw: np.random.Generator):
        """Ids, flat positions, targets, position ids, and the teacher's (ids, probabilities)."""
        ids, at, target, soft = self.chunks.batch(*where, self.pieces, self.special)
        return ids, at, target, data.positions(ids.shape[1], self.table, draw), soft


class Mixed:
    """Stored batches, and for each of them --text batches of other windows with fresh masks, which cost no teacher."""

    FIRST = 10**6  # epoch of text: chunks are of the epochs from 0, so these draw other windows

    def __init__(self, a: argparse.Namespace, special: data.Special, table: int):
        self.a, self.text, self.stored = a, Text(a, special, table), Stored(a, special, table)

    def epoch(self, at: dict, chunks: int) -> list:
        """What batch() takes, in random order."""
        todo = self.stored.epoch(at, chunks)
        fresh = self.text.epoch({"epoch": self.FIRST + at["epoch"]}, 0)
        todo += fresh[: round(self.a.text * len(todo))]
        rng = np.random.default_rng([self.a.seed, 3, at["epoch"]])
        return [todo[i] for i in rng.permutation(len(todo))]

    def batch(self, what, share: float, draw: np.random.Generator):
        """As Stored's or Text's, whose batch it is."""
        return (self.stored if isinstance(what, tuple) else self.text).batch(what, share, draw)


def wait_for_chunks(folder: str) -> int:
    """The number of stored chunks, once there is one."""
    while not (n := store.Chunks(folder).count()):
        time.sleep(5)
    return n


def work(worker: int, a, net, teacher, opt, grads, at, shared, barrier, lock) -> None:
    """The loop of one worker. shared: next batch, factor, sums of loss, hits and tokens, and the number of chunks."""
    torch.set_num_threads(1 if a.workers > 1 else a.threads)
    device = next(net.parameters()).device.type
    for n, g in grads[worker].items():
        net.get_parameter(n).grad = g
    compiled = (lambda f: f) if a.no_compile else (lambda f: torch.compile(f, dynamic=True))
    loss_of = compiled(net.loss)
    teacher_of = compiled(teacher.logits) if teacher else None
    table = net.config["max_position_embeddings"]
    source = (Text if not a.stored else Mixed if a.text else Stored)(a, data.special(a.vocab), table)
    out, schedule = pathlib.Path(a.out), Schedule(a)
    log = open(out / "log.jsonl", "a", buffering=1) if worker == 0 else None
    began = saved = time.time()
    before, sums = at["seconds"], np.zeros(4)
    while True:
        if worker == 0 and a.stored:
            shared[5] = wait_for_chunks(a.stored)
        barrier.wait()
        todo = source.epoch(at, int(shared[5]))
        if len(todo) < a.batches:
            raise SystemExit(f"an epoch has {len(todo)} full batches, a step takes {a.batches}: "
                             "give more text, or smaller --batches or --batch-tokens")
        while at["batch"] + a.batches <= len(todo):
            if worker == 0:
                shared[:5] = torch.tensor([0, schedule.factor(at["step"], at["tokens"]), 0, 0, 0])
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
                draw = np.random.default_rng([a.seed, at["step"], k])
                *x, soft = source.batch(todo[at["batch"] + k], share, draw)
                x = [t.to(device) for t in x]
                with torch.autocast(device, torch.bfloat16, enabled=not a.fp32):
                    if soft is not None:
                        soft = tuple(t.to(device) for t in soft)
                    elif teacher:
                        with torch.no_grad():
                            soft = teacher_of(x[0], None, x[1], x[3])
                    loss, hit = loss_of(*x, soft, a.soft)
                loss.backward()
                with lock:
                    shared[2:5] += torch.tensor([loss.item(), hit.item() / len(x[1]), x[0].numel()])
            barrier.wait()
            if worker == 0:
                at["seconds"] = before + time.time() - began
            if worker == 0 and (f <= 0 or time.time() - saved > 60 * a.save_minutes):
                weights = net.state_dict() | (opt.exact if opt.scales else {})
                save(out / "checkpoint.pt", {"model": weights, "optimizer": opt.state(), "at": at,
                                             "config": net.config})  # fmt: skip
                saved = time.time()
            if f <= 0:
                return
            if f < a.round_below and not opt.scales:
                opt.round(worker)
            opt.step(worker, grads, 1 / a.batches, a.rate * f, a.muon_rate * f, at["step"] + 1)
            at["step"] += 1
            at["batch"] += a.batches
            at["tokens"] += int(shared[4])
            sums += [1, shared[2] / a.batches, shared[3] / a.batches, shared[4]]
            barrier.wait()
            if worker == 0 and at["step"] % a.log == 0:
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
    p.add_argument("--heads", type=int, help="attention heads (default: hidden / 64)")
    p.add_argument("--width", type=int, help="width of the table, as ELECTRA's embedding_size (default: hidden)")
    p.add_argument("--teacher", help="a larger model with the same vocabulary to learn from: checkpoint.pt or folder")
    p.add_argument("--stored", help="folder of store.py's chunks to learn from, in place of --teacher")
    p.add_argument("--epoch-chunks", type=int, default=20, help="with --stored: chunks in an epoch")
    p.add_argument("--text", type=float, default=0, help="with --stored: batches of fresh text, words only, for each stored one")
    p.add_argument("--soft", type=float, default=0.5, help="with a teacher: its share of the loss")
    p.add_argument("--until", help="end at this time of day, HH:MM UTC")
    p.add_argument("--decay-minutes", type=float, default=25, help="the decay before --until")
    p.add_argument("--stop-minutes", type=float, help="stop after so many minutes with a checkpoint, to go on later")
    p.add_argument("--tokens", type=int, help="end after this many tokens")
    p.add_argument("--decay", type=float, default=0.2, help="the share of --tokens that is decay")
    p.add_argument("--batches", type=int, default=4, help="batches in a step")
    p.add_argument("--batch-tokens", type=int, default=data.TOKENS, help="tokens in a batch")
    p.add_argument("--rate", type=float, default=1e-3)
    p.add_argument("--muon-rate", type=float, default=0.005)
    p.add_argument("--adam", action="store_true", help="Adam for the matrices too, at --rate: Muon's products cost more than small steps of wide layers")
    p.add_argument("--freeze-table", action="store_true", help="leave the table of word pieces as it is")
    p.add_argument("--warmup", type=int, default=200, help="steps")
    p.add_argument("--mask", type=float, default=0.25, help="share of masked pieces")
    p.add_argument("--gaps", type=float, default=0, help="share of the batches of text that lose words side by side")
    p.add_argument("--round-below", type=float, default=0, help="with --adam: once the factor on the rate is below this, "
                   "compute with the layers' matrices rounded to 4 bits, as export.py stores them")  # fmt: skip
    p.add_argument("--mask-end", type=float, default=0.15, help="share at the end of the decay")
    p.add_argument("--save-minutes", type=float, default=5)
    p.add_argument("--log", type=int, default=100, help="steps between two lines of log.jsonl")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--workers", type=int, default=2, help="processes on a CPU")
    p.add_argument("--threads", type=int, default=2, help="threads where there is one worker")
    p.add_argument("--fp32", action="store_true", help="no bfloat16: for processors that compute it slowly (speed.py says)")
    p.add_argument("--no-compile", action="store_true")
    a = p.parse_args()
    if a.text and not a.stored:
        p.error("--text needs --stored")
    if a.round_below and not a.adam:
        p.error("--round-below needs --adam")

    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        a.workers = 1
    torch.manual_seed(a.seed)
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    size = len(data.vocabulary(a.vocab))
    saved = torch.load(out / "checkpoint.pt", map_location=device) if (out / "checkpoint.pt").exists() else None
    shape = saved["config"] if saved else config(size, a.hidden, a.layers, a.inner, a.heads, a.width)
    net = model.MaskedLM(shape).to(device)
    if a.embeddings:
        start = torch.load(a.embeddings, map_location=device)
        net.bert.embeddings.word_embeddings.weight.data.copy_(start["embeddings"])
        seen = start["counts"] + 1.0
        net.cls.predictions.bias.data.copy_((seen / seen.sum()).log() + np.log(size))
    if a.freeze_table:
        net.bert.embeddings.word_embeddings.weight.requires_grad_(False)
    opt = Optimizer(net, a.workers, torch.float32 if a.fp32 else torch.bfloat16, a.adam)
    at = {"epoch": 0, "batch": 0, "step": 0, "tokens": 0, "seconds": 0.0}
    if saved:
        net.load_state_dict(saved["model"])
        for kind, buffers in opt.state().items():
            for n, b in buffers.items():
                if n in saved["optimizer"][kind]:
                    b.copy_(saved["optimizer"][kind][n])
        at = saved["at"]
    if a.round_below:
        opt.exact = {n: torch.zeros_like(p) for n, p in opt.params.items() if p.dim() == 2 and ".layer." in n}
    grads = [{n: torch.zeros_like(p, requires_grad=False) for n, p in net.named_parameters() if p.requires_grad} for _ in range(a.workers)]
    teacher = None
    if a.teacher:
        teacher = evaluate.load(a.teacher).to(device).requires_grad_(False)
        if not a.fp32:
            teacher = teacher.bfloat16()  # casting 110 million weights in every batch takes longer than using them
        teacher.share_memory()
    rest = [a, net, teacher, opt, grads, at, torch.zeros(6, dtype=torch.float64)]
    if a.workers == 1:
        import threading

        work(0, *rest, threading.Barrier(1), threading.Lock())
        return
    net.share_memory()
    for buffers in [*opt.state().values(), opt.exact, *grads, {"": rest[-1]}]:
        for b in buffers.values():
            b.share_memory_()
    # The optimizer names the weights of the shared network, so it must travel together with it.
    context = mp.get_context("spawn")
    mp.spawn(work, (*rest, context.Barrier(a.workers), context.Lock()), nprocs=a.workers)


if __name__ == "__main__":
    main()
