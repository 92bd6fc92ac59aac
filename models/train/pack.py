"""Carries the encoded corpus, a teacher and a checkpoint to a machine with a GPU, in pieces of a fixed size.

    pack.py pack   [--data DATA] [--vocab VOCAB] [--teacher TEACHER] [--checkpoint checkpoint.pt] --out PARTS
    pack.py unpack --parts PARTS --out DIR

The pieces part.000, part.001, … joined are one xz stream of named arrays. Weights travel as bfloat16, in which a
teacher computes, a student's as float16; bytes of one rank lie together, which makes them a third smaller. Names and SHA-256
sums of the pieces are in PARTS/parts.json. unpack writes DIR/data, DIR/vocab.txt, DIR/teacher and DIR/start, as far as they were packed.
A teacher brings its vocabulary.
"""

import argparse
import hashlib
import io
import json
import lzma
import pathlib
import struct

import numpy as np
import safetensors.torch
import torch

import train

NAMES = ("pieces", "sentence", "line", "narrative")


def thin(arrays: dict, every: int) -> dict:
    """The arrays of prepare.py with one line in `every`."""
    line, sentence = arrays["line"], arrays["sentence"]
    keep = np.arange(0, len(line) - 1, every)
    counts = np.diff(line)[keep]
    some = np.concatenate([np.arange(line[i], line[i + 1]) for i in keep]) if len(keep) else np.empty(0, np.int64)
    mask = np.zeros(len(sentence) - 1, bool)
    mask[some] = True
    lengths = np.diff(sentence)
    return {
        "pieces": arrays["pieces"][np.repeat(mask, lengths)],
        "sentence": np.concatenate([[0], np.cumsum(lengths[mask])]),
        "line": np.concatenate([[0], np.cumsum(counts)]),
        "narrative": arrays["narrative"][keep],
    }


class Stream:
    """Named records of bytes in one xz stream: a header line of JSON and, by rank, the bytes of an array."""

    def __init__(self, file):
        self.file = file

    def write(self, name: str, array: np.ndarray) -> None:
        header = {"name": name, "shape": array.shape, "dtype": array.dtype.str, "bytes": array.nbytes}
        line = json.dumps(header).encode()
        self.file.write(struct.pack("<I", len(line)) + line)
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, array.dtype.itemsize)
        self.file.write(np.ascontiguousarray(flat.T).tobytes())

    def read(self):
        """The records (name, array) in order."""
        while head := self.file.read(4):
            h = json.loads(self.file.read(struct.unpack("<I", head)[0]))
            dtype = np.dtype(h["dtype"])
            raw = self.file.read(h["bytes"])
            if len(raw) != h["bytes"]:
                raise ValueError(f"the stream ends inside {h['name']}")
            planes = np.frombuffer(raw, np.uint8).reshape(dtype.itemsize, -1)
            yield h["name"], np.ascontiguousarray(planes.T).view(dtype).reshape(h["shape"])


def content(path: pathlib.Path) -> np.ndarray:
    """The bytes of a file."""
    return np.frombuffer(path.read_bytes(), np.uint8)


def pack(a: argparse.Namespace) -> None:
    """Writes the pieces and parts.json."""
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("part.*"):
        old.unlink()
    raw = io.BytesIO()
    with lzma.open(raw, "wb", preset=a.preset) as f:
        stream = Stream(f)
        if a.data:
            arrays = thin({n: np.load(f"{a.data}/{n}.npy", mmap_mode="r") for n in NAMES}, a.every)
            stream.write("data/pieces", arrays["pieces"])
            for n in ("sentence", "line"):
                stream.write(f"data/{n}", np.diff(arrays[n]).astype(np.uint32))
            stream.write("data/narrative", arrays["narrative"])
        if vocab := a.vocab or a.teacher and pathlib.Path(a.teacher) / "vocab.txt":
            stream.write("vocab.txt", content(pathlib.Path(vocab)))
        if a.teacher:
            for n in ("config.json", "vocab.txt"):
                stream.write(f"teacher/{n}", content(pathlib.Path(a.teacher) / n))
            for n, t in safetensors.torch.load_file(f"{a.teacher}/model.safetensors").items():
                stream.write(f"teacher:{n}", t.bfloat16().view(torch.int16).numpy())
        if a.checkpoint:
            saved = torch.load(a.checkpoint, map_location="cpu")
            meta = json.dumps({"config": saved["config"], "at": saved["at"]}).encode()
            stream.write("start/meta.json", np.frombuffer(meta, np.uint8))
            for n, t in saved["model"].items():
                stream.write(f"start:{n}", t.half().numpy())
    body, parts = raw.getvalue(), []
    for k, at in enumerate(range(0, len(body), a.size)):
        piece = body[at : at + a.size]
        parts.append({"name": f"part.{k:03d}", "bytes": len(piece), "sha256": hashlib.sha256(piece).hexdigest()})
        (out / parts[-1]["name"]).write_bytes(piece)
    (out / "parts.json").write_text(json.dumps(parts, indent=1) + "\n")
    print(f"{len(parts)} pieces, {len(body)} bytes")


def join(folder: pathlib.Path) -> bytes:
    """The pieces in order, each checked."""
    body = []
    for part in json.loads((folder / "parts.json").read_text()):
        path = folder / part["name"]
        if not path.exists():
            raise SystemExit(f"pack.py: {path} is missing: carry it first")
        piece = path.read_bytes()
        if hashlib.sha256(piece).hexdigest() != part["sha256"]:
            raise SystemExit(f"pack.py: {path} is damaged: carry it again")
        body.append(piece)
    return b"".join(body)


def unpack(a: argparse.Namespace) -> None:
    """Writes the folders that train.py takes."""
    out = pathlib.Path(a.out)
    teacher, start, meta = {}, {}, None
    with lzma.open(io.BytesIO(join(pathlib.Path(a.parts))), "rb") as f:
        for name, array in Stream(f).read():
            kind, _, rest = name.partition(":")
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            if kind == "teacher":
                teacher[rest] = torch.from_numpy(array).view(torch.bfloat16)
            elif kind == "start":
                start[rest] = torch.from_numpy(array).float()
            elif name == "start/meta.json":
                meta = json.loads(array.tobytes())
            elif name in ("data/sentence", "data/line"):
                np.save(out / f"{name}.npy", np.concatenate([[0], np.cumsum(array, dtype=np.int64)]))
            elif name.startswith("data/"):
                np.save(out / f"{name}.npy", array)
            else:
                (out / name).write_bytes(array.tobytes())
    if teacher:
        safetensors.torch.save_file(teacher, out / "teacher/model.safetensors")
    if meta:
        train.fresh(start, meta["config"], meta["at"]["epoch"] + 1, out / "start")


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(required=True)
    q = sub.add_parser("pack", help="write the pieces")
    q.add_argument("--data", help="folder that prepare.py wrote")
    q.add_argument("--vocab", help="vocab.txt, where no teacher has it")
    q.add_argument("--teacher", help="Hugging Face folder")
    q.add_argument("--checkpoint", help="checkpoint.pt to go on from; its optimizer's averages stay behind")
    q.add_argument("--every", type=int, default=1, help="take one line of the corpus in so many")
    q.add_argument("--size", type=int, default=22 << 20, help="bytes of a piece")
    q.add_argument("--preset", type=int, default=2, help="xz preset; higher ones gain 2 %% in five times the time")
    q.add_argument("--out", required=True)
    q.set_defaults(run=pack)
    q = sub.add_parser("unpack", help="write the folders that train.py takes")
    q.add_argument("--parts", required=True)
    q.add_argument("--out", required=True)
    q.set_defaults(run=unpack)
    a = p.parse_args()
    a.run(a)


if __name__ == "__main__":
    main()
