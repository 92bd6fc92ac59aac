"""Makes tiny-bert/expected.json: what torch says of tiny-bert, in float64.

The weights are taken from tiny-bert/model.onnx and put into transformers' own BertForMaskedLM, whose
logits are first compared with a run of the file. Log-probabilities follow the definition; the gradient
of U with respect to one-hot blanks is torch.autograd's, of the sum over rows

    U(x) = sum_i log f(x_i | x with blank i masked),    x_i a one-hot vector over the vocabulary,

so that it shares nothing with the derivation that is tested. Needs torch, transformers, onnx, onnxruntime.

    python3 make_expected.py        # writes tiny-bert/expected.json
"""

import json
import pathlib

import numpy as np
import onnx
import onnx.numpy_helper
import onnxruntime
import torch
from transformers import BertConfig, BertForMaskedLM

HERE = pathlib.Path(__file__).resolve().parent / "tiny-bert"


def load():
    graph = onnx.load(HERE / "model.onnx").graph
    weights = {t.name: torch.tensor(onnx.numpy_helper.to_array(t)) for t in graph.initializer}
    config = BertConfig(**json.loads((HERE / "config.json").read_text()), attn_implementation="eager")
    model = BertForMaskedLM(config).eval()
    state = {k: v for k, v in weights.items() if "::" not in k}
    for n in graph.node:  # the exporter stores the matrices of Linear transposed, under numbers
        if n.op_type == "MatMul" and n.input[1] in weights and "::" in n.input[1]:
            name = n.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            state[name + ".weight"] = weights[n.input[1]].T
    state = {k: v for k, v in state.items() if k in model.state_dict()}
    state.setdefault("cls.predictions.decoder.weight", state["bert.embeddings.word_embeddings.weight"])
    state.setdefault("cls.predictions.decoder.bias", state["cls.predictions.bias"])
    missing = set(model.state_dict()) - set(state)
    assert not missing - {"bert.embeddings.position_ids"}, missing
    model.load_state_dict(state, strict=False)
    return model


def same_as_file(model, ids):
    session = onnxruntime.InferenceSession(str(HERE / "model.onnx"), providers=["CPUExecutionProvider"])
    x = np.array([ids], dtype=np.int64)
    got = session.run(["logits"], {"input_ids": x, "attention_mask": np.ones_like(x), "token_type_ids": np.zeros_like(x)})[0]
    want = model(torch.tensor(x)).logits.detach().numpy()
    assert np.abs(got - want).max() < 2e-5, np.abs(got - want).max()


def case(model, vocab, mask, text, words):
    tokens = ["[CLS]", *text.split(), "[SEP]"]
    blanks = [i for i, t in enumerate(tokens) if t == "[MASK]"]
    ids = [vocab.index(t) for t in tokens]
    state = [vocab.index(w) for w in words.split()]
    table = model.bert.embeddings.word_embeddings.weight.detach()
    onehot = torch.zeros(len(blanks), len(vocab), dtype=torch.float64)
    onehot[range(len(blanks)), state] = 1
    onehot.requires_grad_()
    u, logp = 0, []
    for i, _ in enumerate(blanks):
        rows = [table[t] for t in ids]
        for j, p in enumerate(blanks):
            rows[p] = table[mask] if j == i else onehot[j] @ table
        logits = model(inputs_embeds=torch.stack(rows)[None]).logits[0, blanks[i]]
        f = torch.log_softmax(logits, -1)
        u = u + (onehot[i] * f).sum()
        logp.append(f[state[i]].item())
    u.backward()
    every = ids[:]
    for p in blanks:
        every[p] = mask
    independent = torch.log_softmax(model(torch.tensor([every])).logits[0, blanks], -1)
    digits = lambda a: [[round(x, 9) for x in row] for row in a.tolist()]
    return {"text": text.replace(" ##", ""), "ids": ids, "blanks": blanks, "state": state, "log_prob": [round(x, 9) for x in logp],
            "gradient": digits(onehot.grad), "independent": digits(independent.detach())}


def main():
    vocab = (HERE / "vocab.txt").read_text().split("\n")[:-1]
    mask = vocab.index("[MASK]")
    model = load()
    ids = [vocab.index(t) for t in "[CLS] the [MASK] swims in the [MASK] . [SEP]".split()]
    same_as_file(model, ids)
    model = model.double()
    cases = [
        case(model, vocab, mask, "the [MASK] swims in the [MASK] .", "fish river"),
        case(model, vocab, mask, "the [MASK] swims in the [MASK] .", "lemon yellow"),
        case(model, vocab, mask, "a [MASK] bear ate the [MASK] [MASK] near the [MASK] .", "hungry red apple forest"),
        case(model, vocab, mask, "[MASK]", "very"),
        case(model, vocab, mask, "[MASK] [MASK] him two green banana ##s .", "she gave"),
        case(model, vocab, mask, "the old fox is near the [MASK] , and the fox [MASK] . she saw a cow and a [MASK] in the field .", "forest runs horse"),
    ]
    (HERE / "expected.json").write_text(json.dumps(cases, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
