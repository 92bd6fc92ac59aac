"""Makes an ONNX model above 2 GB: a BERT-base with a vocabulary of 300,000 and a head of its own, weights beside the graph.

    python3 make_large.py BASE FOLDER [--vocabulary N]

BASE is a folder that make_base.py wrote (without --external or --dynamo). The tables of words and of the head are made anew, of
random numbers, with as many rows as asked for; all else stays. Needs onnx and numpy. 2.2 GB, written in a minute; the
numbers mean nothing, so that the folder need not be kept.
"""

import argparse
import pathlib
import shutil

import numpy
import onnx


def main():
    p = argparse.ArgumentParser()
    p.add_argument("base", type=pathlib.Path)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--vocabulary", type=int, default=300_000)
    o = p.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    m = onnx.load(o.base / "model.onnx")
    rng = numpy.random.default_rng(1)
    old = max(t.dims[0] for t in m.graph.initializer if "word_embeddings" in t.name)
    with open(o.folder / "weights.bin", "wb") as out:
        for t in m.graph.initializer:
            dims = [o.vocabulary if d == old else d for d in t.dims]
            if dims == list(t.dims):
                if len(t.raw_data) < 1024:
                    continue
                data = t.raw_data
            else:
                data = (rng.standard_normal(dims, dtype=numpy.float32) * 0.02).tobytes()
            out.write(b"\0" * (-out.tell() % 4096))
            del t.dims[:]
            t.dims.extend(dims)
            t.ClearField("raw_data")
            t.data_location = onnx.TensorProto.EXTERNAL
            for k, v in (("location", "weights.bin"), ("offset", out.tell()), ("length", len(data))):
                t.external_data.add(key=k, value=str(v))
            out.write(data)
    for v in m.graph.output:
        d = v.type.tensor_type.shape.dim[2]
        if d.dim_value == old:
            d.dim_value = o.vocabulary
    (o.folder / "model.onnx").write_bytes(m.SerializeToString())
    for f in o.base.iterdir():
        if f.suffix in (".json", ".txt"):
            shutil.copy(f, o.folder)
    text = (o.folder / "config.json").read_text()
    (o.folder / "config.json").write_text(text.replace(f'"vocab_size": {old}', f'"vocab_size": {o.vocabulary}'))
    with open(o.folder / "vocab.txt", "a") as words:
        words.writelines(f"x{i}\n" for i in range(old, o.vocabulary))
    print((o.folder / "weights.bin").stat().st_size, "bytes of weights")


if __name__ == "__main__":
    main()
