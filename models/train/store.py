"""Stores what a teacher says at fixed masks: its largest probabilities, once, for every pass, student and shape.

DIR/00000.npz, 00001.npz, … are chunks of --chunk batches each. A chunk is complete when it is there, so
train.py --stored can read the first ones while this program writes more. Of a chunk:

    length  [batches]        pieces of a window, with [CLS] and [SEP]
    rows    [batches]        windows of a batch
    masked  [batches]        masked pieces of a batch
    window  [windows]        int64, the first piece of each window in pieces.npy
    at      [masks]          int32, flat position in the batch [rows, length]
    ids     [masks, top]     uint16, the teacher's most probable pieces, the first the most probable
    probs   [masks, top]     float16, their probabilities

Chunk n is made from the windows of epoch n // --per-epoch and seeds with n, so that another machine makes the same
masks, and several processes can share the work (--first, --stride).
"""

import argparse
import os
import pathlib
import time

import numpy as np
import torch

import data
import evaluate


def top(logits: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and probabilities [positions, count] of the largest logits [positions, vocabulary], in order."""
    probs, ids = logits.softmax(-1).topk(min(count, logits.shape[-1]), -1)
    return ids, probs


def plan(folder: str, seed: int, epoch: int, tokens: int) -> list[np.ndarray]:
    """The batches of one epoch."""
    rng = np.random.default_rng([seed, epoch])
    bounds = [np.load(f"{folder}/{n}.npy") for n in ("sentence", "line", "narrative")]
    return data.batches(data.windows(*bounds, rng), rng, tokens)


@torch.no_grad()
def chunk(teacher, pieces, todo: list, special: data.Special, share: float, count: int, rng) -> dict:
    """The arrays of one chunk."""
    out = {n: [] for n in ("length", "rows", "masked", "window", "at", "ids", "probs")}
    for rows in todo:
        ids = data.fill(pieces, rows, special)
        masked, at, _ = data.mask(ids, share, rng, special)
        where, probs = top(teacher.logits(masked, None, at), count)
        out["length"].append(ids.shape[1])
        out["rows"].append(len(rows))
        out["masked"].append(len(at))
        out["window"].append(rows[:, 0])
        out["at"].append(at.numpy().astype(np.int32))
        out["ids"].append(where.numpy().astype(np.uint16))
        out["probs"].append(probs.numpy().astype(np.float16))
    return {n: np.array(x) if np.isscalar(x[0]) else np.concatenate(x) for n, x in out.items()}


class Chunks:
    """Reads stored chunks as batches for training; keeps the last `room` chunks in memory."""

    def __init__(self, folder: str, room: int = 40):
        self.folder, self.room, self.known = pathlib.Path(folder), room, {}

    def count(self) -> int:
        """The number of chunks 0, 1, … that are there without a gap."""
        n = 0
        while (self.folder / f"{n:05d}.npz").exists():
            n += 1
        return n

    def chunk(self, number: int) -> dict:
        """The arrays of a chunk, and where each batch begins in them."""
        if number not in self.known:
            while len(self.known) >= self.room:
                del self.known[next(iter(self.known))]
            with np.load(self.folder / f"{number:05d}.npz") as f:
                c = {n: f[n] for n in f.files}
            for name, size in (("first_window", "rows"), ("first_mask", "masked")):
                c[name] = np.concatenate([[0], np.cumsum(c[size])])
            self.known[number] = c
        return self.known[number]

    def batch(self, number: int, k: int, pieces: np.ndarray, special: data.Special):
        """Batch k of a chunk: (ids, flat positions, targets, (the teacher's ids, probabilities)) as tensors."""
        c = self.chunk(number)
        w = c["window"][c["first_window"][k] : c["first_window"][k + 1]]
        some = slice(c["first_mask"][k], c["first_mask"][k + 1])
        ids = data.fill(pieces, np.stack([w, w + c["length"][k] - 2], 1), special)
        flat, at = ids.reshape(-1), c["at"][some].astype(np.int64)
        target = flat[at].copy()
        flat[at] = special.mask
        t = torch.from_numpy
        soft = t(c["ids"][some].astype(np.int64)), t(c["probs"][some].astype(np.float32))
        return t(ids), t(at), t(target), soft


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", required=True, help="folder that prepare.py wrote with the teacher's vocabulary")
    p.add_argument("--teacher", required=True, help="Hugging Face folder of the teacher")
    p.add_argument("--out", required=True, help="folder of the chunks; goes on after the last one")
    p.add_argument("--chunks", type=int, default=10**5 - 1, help="end when there are so many")
    p.add_argument("--chunk", type=int, default=32, help="batches in a chunk")
    p.add_argument("--per-epoch", type=int, default=800, help="chunks from one drawing of windows")
    p.add_argument("--first", type=int, default=0, help="of several processes, the number of this one")
    p.add_argument("--stride", type=int, default=1, help="of several processes, how many")
    p.add_argument("--share", type=float, default=0.25, help="share of masked pieces")
    p.add_argument("--top", type=int, default=64, help="probabilities a masked piece")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--fp32", action="store_true", help="no bfloat16: for processors that compute it slowly (speed.py says)")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    special = data.special(f"{a.teacher}/vocab.txt")
    teacher = evaluate.load(a.teacher).requires_grad_(False)
    if not a.fp32:
        teacher = teacher.bfloat16()
    pieces = np.load(f"{a.data}/pieces.npy", mmap_mode="r")
    epoch, todo = -1, []
    for number in range(a.first, a.chunks, a.stride):
        path = out / f"{number:05d}.npz"
        if path.exists():
            continue
        if number // a.per_epoch != epoch:
            epoch = number // a.per_epoch
            todo = plan(a.data, a.seed, epoch, data.TOKENS)
        first = number % a.per_epoch * a.chunk
        part = todo[first : first + a.chunk]
        if len(part) < a.chunk:
            raise SystemExit(f"store.py: --per-epoch {a.per_epoch} is more chunks than an epoch has ({len(todo)} batches)")
        began = time.time()
        made = chunk(teacher, pieces, part, special, a.share, a.top, np.random.default_rng([a.seed, 1, number]))
        with open(path.with_suffix(".tmp"), "wb") as f:
            np.savez(f, **made)
        os.replace(path.with_suffix(".tmp"), path)
        tokens = int((made["length"] * made["rows"]).sum())
        print(f"{number} {tokens} tokens {tokens / (time.time() - began):.0f}/s "
              f"first {made['probs'][:, 0].mean():.3f} all {made['probs'].sum(1, dtype=np.float32).mean():.4f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
