#!/usr/bin/env python3
"""Makes exports of BERT whose files have another interface than usual, out of ../../onnxgrad/testdata, and
expected.json: of each the ids of some texts and log f(piece | the rest, that piece masked) of every piece that is
not special, as onnxruntime has it from the very file.

    python3 make_interfaces.py [NAME...]    # needs numpy, onnx, onnxruntime, onnx_ir
"""
import json
import pathlib
import sys

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "onnxgrad" / "testdata"
TRUTH = HERE.parent / "architectures" / "bert" / "expected.json"
TEXTS = 2
MASK, FIRST_ORDINARY = 4, 5


def load(name):
    return onnx.load(MODELS / (name + ".onnx"))


def four_bits(model, symmetric):
    """Products and tables of words in 4 bits: int4 if symmetric, else uint4 with zero points."""
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    model = onnx.version_converter.convert_version(model, 21)  # the first that has such types
    q = MatMulNBitsQuantizer(model, block_size=16, is_symmetric=symmetric,
                             op_types_to_quantize=("MatMul", "Gather"))
    q.process()
    return q.model.model


def fixed(model, rows, length):
    """Rows of one size, with every shape in the graph folded to numbers."""
    for i in model.graph.input:
        for d, n in zip(i.type.tensor_type.shape.dim, (rows, length)):
            d.Clear()
            d.dim_value = n
    del model.graph.value_info[:]
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(HERE / "folded.onnx")
    onnxruntime.InferenceSession(model.SerializeToString(), options)
    out = onnx.load(options.optimized_model_filepath)
    pathlib.Path(options.optimized_model_filepath).unlink()
    return out


FORMS = {
    "fixed-1x16": lambda: fixed(load("bert-sdpa-tied"), 1, 16),
    "fixed-2x32": lambda: fixed(load("bert-eager-tied"), 2, 32),
    "q4": lambda: four_bits(load("bert-sdpa-tied"), True),
    "q4-uint4": lambda: four_bits(load("bert-sdpa-tied"), False),
    "q4f16": lambda: four_bits(load("bert-float16"), True),
}


def feeds(session, ids):
    """A row of ids in the size that the file asks for, by what each input is."""
    rows, length = (n if isinstance(n, int) else k for n, k in zip(session.get_inputs()[0].shape, ids.shape))
    wide = ((0, rows - 1), (0, length - ids.shape[1]))
    out = {}
    for i in session.get_inputs():
        out[i.name] = np.pad(ids if "ids" in i.name and "type" not in i.name else
                             np.ones_like(ids) if "mask" in i.name else np.zeros_like(ids), wide)
    return out


def log_probs(session, ids):
    """log f of each ordinary piece, that piece masked."""
    out = []
    for place, piece in enumerate(ids):
        if piece < FIRST_ORDINARY:
            continue
        row = np.array([ids], np.int64)
        row[0, place] = MASK
        logits = session.run(["logits"], feeds(session, row))[0][0, place].astype(np.float64)
        out.append(round(float(logits[piece] - np.logaddexp.reduce(logits)), 6))
    return out


def main(names):
    at = HERE / "expected.json"
    expected = json.loads(at.read_text()) if at.exists() else {}
    texts = json.loads(TRUTH.read_text())["scores"][:TEXTS]
    for name in names or FORMS:
        file = HERE / (name + ".onnx")
        onnx.save(FORMS[name](), file)
        session = onnxruntime.InferenceSession(file)
        expected[name] = [{"ids": t["ids"], "log_prob": log_probs(session, t["ids"])} for t in texts]
        print(name, expected[name][0]["log_prob"][:3])
    lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(expected.items()))
    at.write_text("{\n" + ",\n".join(lines) + "\n}\n")


main(sys.argv[1:])
