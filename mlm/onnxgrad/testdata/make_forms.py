"""Makes more fixtures, in the forms in which models reach a user: other opsets, optimum's exporter, ONNX
Runtime's optimisers, position_ids as an input, external data, float16 and bfloat16, and int8 by dynamic quantisation. See make_fixtures.py for what they hold.

    python3 make_forms.py [NAME...]   # needs torch, transformers, onnx, onnxruntime; onnxconverter-common for
                                      # float16, and optimum-onnx for the names that end in -optimum

An int8 model computes something else than torch does. Its expected logits are those of onnxruntime for
each row alone; it has no gradient (tests see that it is refused).

The truth of a narrow model is that of its rounded weights in float64; what is left is that the files
hold other constants (1/sqrt(d), sqrt(2), epsilons) in the narrow type too.
"""

import json
import pathlib
import sys
import tempfile
import warnings
import zlib

import onnx
import torch

import make_fixtures as f

HERE = f.HERE
EAGER, SDPA = dict(attn_implementation="eager"), dict(attn_implementation="sdpa")
BERT = ("Bert", SDPA, 3)
ROBERTA = dict(pad_token_id=1, type_vocab_size=1)
DEBERTA = dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8)
ALL = ["input_ids", "attention_mask", "token_type_ids", "position_ids"]
MODERN = ("ModernBert", SDPA | dict(global_attn_every_n_layers=2, local_attention=8, initializer_range=0.35), 2)

# name: (class, configuration, inputs), opset, form
FORMS = {
    "bert-opset12": (("Bert", EAGER, 3), 12, "torch"),
    "bert-opset15": (BERT, 15, "torch"),
    "bert-opset16": (BERT, 16, "torch"),
    "bert-optimum": (BERT, 18, "optimum"),
    "distilbert-optimum": (("DistilBert", SDPA | dict(hidden_dim=40), 2), 14, "optimum"),
    "roberta-optimum": (("Roberta", SDPA | dict(pad_token_id=1, type_vocab_size=1), 2), 17, "optimum"),
    "modernbert-optimum": (MODERN, 17, "optimum"),
    "bert-ort-basic": (BERT, 14, "level 1"),
    "bert-ort-extended": (("Bert", EAGER, 3), 14, "level 2"),
    "bert-ort-all": (("Bert", SDPA | dict(hidden_act="gelu_new"), 3), 17, "level 99"),
    "bert-ort-transformers": (("Bert", EAGER, 3), 14, "transformers"),
    "bert-ort-fastgelu": (("Bert", EAGER | dict(hidden_act="gelu_new"), 3), 14, "transformers"),
    "bert-ort-mha": (("Bert", EAGER, 3), 14, "multi head"),
    "bert-ort-rawmask": (("Bert", EAGER, 3), 14, "raw mask"),
    "distilbert-ort-transformers": (("DistilBert", EAGER | dict(hidden_dim=40), 2), 14, "transformers"),
    "roberta-ort-transformers": (("Roberta", EAGER | dict(pad_token_id=1, type_vocab_size=1), 2), 14, "transformers"),
    "bert-dynamo-opset20": (BERT, 20, "dynamo"),
    "distilbert-dynamo": (("DistilBert", SDPA | dict(hidden_dim=40), 2), 18, "dynamo"),
    "roberta-dynamo": (("Roberta", SDPA | ROBERTA, 2), 18, "dynamo"),
    "mpnet-dynamo": (("MPNet", dict(pad_token_id=1), 2), 18, "dynamo"),
    "roberta-sdpa": (("Roberta", SDPA | ROBERTA, 2), 17, "torch"),
    "modernbert-eager": ((MODERN[0], MODERN[1] | EAGER, 2), 17, "torch"),
    "electra-optimum": (("Electra", EAGER | dict(embedding_size=16), 3), 17, "optimum"),
    "albert-optimum": (("Albert", EAGER | dict(embedding_size=16), 3), 17, "optimum"),
    "mpnet-optimum": (("MPNet", dict(pad_token_id=1), 2), 17, "optimum"),
    "electra-ort-extended": (("Electra", EAGER | dict(embedding_size=16), 3), 17, "level 2"),
    "albert-ort-all": (("Albert", EAGER | dict(embedding_size=16), 3), 17, "level 99"),
    "modernbert-ort-all": (MODERN, 17, "level 99"),
    "deberta-v2-ort-all": (("DebertaV2", DEBERTA, 2), 17, "level 99"),
    "bert-positions": (("Bert", SDPA, ALL), 17, "torch"),
    "roberta-positions": (("Roberta", SDPA | ROBERTA, [ALL[0], ALL[1], ALL[3]]), 14, "torch"),
    "bert-external": (BERT, 17, "external"),
    "bert-float16": (BERT, 17, "float16"),
    "bert-float16-torch": (BERT, 17, "half"),
    "bert-float16-weights": (BERT, 17, "weights"),
    "bert-ort-float16": (("Bert", EAGER, 3), 14, "transformers float16"),
    "roberta-float16": (("Roberta", EAGER | ROBERTA, 2), 14, "float16"),
    "modernbert-float16": (MODERN, 17, "float16"),
    "bert-bfloat16": (BERT, 18, "bfloat16"),
    "distilbert-int8": (("DistilBert", SDPA | dict(hidden_dim=40), 2), 14, "int8"),
    "roberta-int8": (("Roberta", SDPA | ROBERTA, 2), 17, "int8"),
    "bert-int8": (BERT, 14, "int8"),
    "bert-int8-ort": (("Bert", EAGER, 3), 14, "int8 transformers"),
}


def optimum(model, name, opset):
    from optimum.exporters.onnx import onnx_export_from_model

    with tempfile.TemporaryDirectory() as d:
        onnx_export_from_model(model, d, task="fill-mask", opset=opset, do_validation=False)
        return onnx.load(f"{d}/model.onnx")


def optimised(file, level):
    import onnxruntime as ort

    with tempfile.TemporaryDirectory() as d:
        o = ort.SessionOptions()
        o.graph_optimization_level = ort.GraphOptimizationLevel(level)
        o.optimized_model_filepath = f"{d}/out.onnx"
        ort.InferenceSession(file, o, providers=["CPUExecutionProvider"])
        return onnx.load(f"{d}/out.onnx")


def narrow_weights(graph):
    """Matrices stored in float16 and cast, as compact models do that compute in float32."""
    casts = []
    for t in graph.graph.initializer:
        if t.data_type != onnx.TensorProto.FLOAT or len(t.dims) != 2:
            continue
        name, v = t.name, onnx.numpy_helper.to_array(t)
        t.CopyFrom(onnx.numpy_helper.from_array(v.astype("float16"), name + ".half"))
        casts.append(onnx.helper.make_node("Cast", [name + ".half"], [name], name + "/Cast", to=onnx.TensorProto.FLOAT))
    nodes = [*casts, *graph.graph.node]
    del graph.graph.node[:]
    graph.graph.node.extend(nodes)
    return graph


def rounded(model, form):
    """Rounds the weights as the file's are."""
    kind = torch.bfloat16 if form == "bfloat16" else torch.float16
    with torch.no_grad():
        for p in model.parameters():
            if form != "weights" or p.dim() == 2:
                p.copy_(p.to(kind).float())


def transformers(file, model, mha=False, raw=False, half=False):
    from onnxruntime.transformers import optimizer
    from onnxruntime.transformers.fusion_options import FusionOptions

    o = FusionOptions("bert")
    o.use_multi_head_attention = mha
    o.use_raw_attention_mask(raw)
    heads, width = getattr(model.config, "num_attention_heads", 3), 24
    m = optimizer.optimize_model(file, model_type="bert", num_heads=heads, hidden_size=width, optimization_options=o, opt_level=0)
    if half:
        m.convert_float_to_float16(keep_io_types=True)
    return m.model


def quantised(file):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as d:
        quantize_dynamic(file, f"{d}/out.onnx", weight_type=QuantType.QInt8, extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})
        return onnx.load(f"{d}/out.onnx")


def make(name, model, inputs, opset, form):
    """Writes NAME.onnx."""
    file = str(HERE / f"{name}.onnx")
    if form == "optimum":
        graph = optimum(model, name, opset)
    elif form in ("half", "bfloat16"):
        import copy

        f.export(copy.deepcopy(model).to(torch.float16 if form == "half" else torch.bfloat16), name, inputs, opset, form == "bfloat16")
        graph = onnx.load(file)
    else:
        f.export(model, name, inputs, opset, form == "dynamo")
        graph = onnx.load(file)
    if form.startswith("level"):
        graph = optimised(file, int(form.split()[1]))
    if form == "transformers" or form == "int8 transformers":
        graph = transformers(file, model)
    if form == "transformers float16":
        graph = transformers(file, model, half=True)
    if form == "weights":
        graph = narrow_weights(graph)
    if form == "raw mask":
        graph = transformers(file, model, raw=True)
    if form == "multi head":
        graph = transformers(file, model, True)
    if form == "float16":
        from onnxconverter_common import float16

        graph = float16.convert_float_to_float16(graph, keep_io_types=True)
    if form.startswith("int8"):
        if not any(o.domain for o in graph.opset_import):
            graph.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))
        onnx.save(graph, file)
        graph = quantised(file)
    for part in [graph, graph.graph, *graph.graph.node]:
        part.ClearField("doc_string")
        part.ClearField("metadata_props")
    del graph.graph.value_info[:]
    if form == "external":
        pathlib.Path(file + "_data").unlink(missing_ok=True)
        onnx.save(graph, file, save_as_external_data=True, location=f"{name}.onnx_data", size_threshold=256)
    else:
        onnx.save(graph, file)
    print(name, sorted({(n.domain + "." if n.domain else "") + n.op_type for n in graph.graph.node}))


def alone(file, c, inputs):
    """The logits at each row's blank, by onnxruntime, one row at a time."""
    import onnxruntime as ort

    s = ort.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    out = []
    for r in range(len(c["positions"])):
        (y,) = s.run(None, {k: c[k][r : r + 1].numpy() for k in f.NAMES[:inputs]})
        out.append(torch.tensor(y[0, c["positions"][r]], dtype=torch.float64))
    conditional = torch.stack(out).log_softmax(-1)
    return dict(conditional=conditional, log_prob=conditional.gather(1, c["targets"][:, None])[:, 0])


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    for name, ((kind, kw, inputs), opset, form) in FORMS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        seed = zlib.crc32(name.encode()) % 10_000
        model = f.build(seed, kind, kw)
        make(name, model, inputs, opset, form)
        if form in ("float16", "half", "weights", "transformers float16", "bfloat16"):
            rounded(model, form)
        model.eval()
        calls, worst = [], 0.0
        for i, shape in enumerate([(1, 1, 6, 0), (1, 2, 8, 0), (3, 3, 12, 3)]):
            first = model.config.pad_token_id + 1 if kind == "Roberta" else 0
            c = f.call(10 * seed + i, *shape, model.config.pad_token_id, first)
            if isinstance(inputs, int):
                del c["position_ids"]
            if form.startswith("int8"):  # as package mlm calls it
                c["token_type_ids"].zero_()
            single = f.truth(model, c, inputs)
            want = f.truth(model.double(), c, inputs)
            model.float()
            top = want["gradient"].abs().max().item()
            worst = max(worst, (single["gradient"].double() - want["gradient"]).abs().max().item() / top)
            want["logits"] = want["logits"][c["attention_mask"] > 0][:, ::24]
            if form.startswith("int8"):
                want = alone(HERE / f"{name}.onnx", c, inputs)
            calls.append({k: dict(shape=list(v.shape), data=[round(a, 9) if v.is_floating_point() else a for a in v.flatten().tolist()])
                          for k, v in (c | want).items()})
        (HERE / f"{name}.json").write_text(json.dumps({"torch": torch.__version__, "form": form, "float32_error": worst, "calls": calls}, separators=(",", ":")) + "\n")
        print(name, "float32 error of torch", worst, (HERE / f"{name}.onnx").stat().st_size, (HERE / f"{name}.json").stat().st_size)


if __name__ == "__main__":
    main()
