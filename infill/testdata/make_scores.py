"""Expected pseudo-log-likelihoods of the tiny model, computed by torch.

Rebuilds the network of mlm/testdata/tiny-bert with transformers from the weights in the ONNX file
and scores each sentence piece by piece, masking one piece at a time, in float64. Nothing of infill
takes part: pieces are found by splitting at spaces, which is all these sentences need.

    python3 make_scores.py > scores.json      # pip install torch transformers onnx
"""

import json
import pathlib
import re

import onnx
import torch
from onnx import numpy_helper
from transformers import BertConfig, BertForMaskedLM

TINY = pathlib.Path(__file__).resolve().parents[2] / "mlm/testdata/tiny-bert"
SENTENCES = [
    "the dog barks in the house .",
    "the fish swims in the river .",
    "the river swims in the fish .",
    "she ate a yellow banana .",
    "the small bird sings in the tree .",
    "dog",
    "three hungry bear ##s walks near the river , and the cat hides .",
]


def network():
    model = onnx.load(TINY / "model.onnx")
    weights = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    # The exporter folds the transposition of a linear layer's weight into a
    # nameless initializer; the node that uses it bears the layer's name.
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in weights:
            name = re.sub(r"^/|/MatMul$", "", node.name).replace("/", ".")
            for i in range(8):
                name = name.replace(f"layer.{i}.layer.{i}.", f"layer.{i}.")
            weights[name + ".weight"] = weights[node.input[1]].T
    net = BertForMaskedLM(BertConfig(**json.load(open(TINY / "config.json"))))
    state = net.state_dict()
    found = {k: torch.tensor(weights[k].copy()) for k in state if k in weights}
    if "cls.predictions.decoder.weight" not in found:
        found["cls.predictions.decoder.weight"] = found["bert.embeddings.word_embeddings.weight"]
    if "cls.predictions.decoder.bias" not in found:
        found["cls.predictions.decoder.bias"] = found["cls.predictions.bias"]
    missing = [k for k in state if k not in found and "position_ids" not in k]
    if missing:
        raise SystemExit(f"weights not found: {missing}\nthere are: {sorted(weights)}")
    net.load_state_dict(found, strict=False)
    return net.double().eval()


def main():
    vocab = {w: i for i, w in enumerate((TINY / "vocab.txt").read_text().split())}
    net = network()
    out = []
    for s in SENTENCES:
        ids = torch.tensor([[vocab["[CLS]"]] + [vocab[w] for w in s.split()] + [vocab["[SEP]"]]])
        pieces = []
        for i in range(1, ids.shape[1] - 1):
            x = ids.clone()
            x[0, i] = vocab["[MASK]"]
            with torch.no_grad():
                logp = net(input_ids=x).logits[0, i].log_softmax(-1)
            pieces.append(logp[ids[0, i]].item())
        out.append({"text": s.replace(" ##", ""), "score": sum(pieces), "pieces": pieces})
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
