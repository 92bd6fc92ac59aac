"""Makes the fixtures of mlm/onnxgrad: tiny BERTs exported by torch, and what torch autograd says of them.

For every model NAME.onnx, NAME.json holds calls of the derived graph (rows of one or several chains,
some padded) and the expected outputs in float64:

  log_prob     log f(target | sentence with the row's blank masked)           [R]
  conditional  log-softmax of the logits at the row's blank                    [R, V]
  gradient     conditional of row j + E · sum_{i != j} d log f(target_i)/d e_j [C, m, V]

and how far torch's own float32 results lie from these, as a measure of what float32 can give.

    python3 make_fixtures.py        # needs torch, transformers, onnx; writes beside this script
"""

import json
import pathlib
import warnings

import torch
from transformers import BertConfig, BertForMaskedLM

HERE = pathlib.Path(__file__).resolve().parent
MASK, PAD, FIRST = 4, 0, 5
NAMES = ["input_ids", "attention_mask", "token_type_ids"]

MODELS = {
    "bert-eager-tied": dict(opset=14, attn_implementation="eager"),
    "bert-sdpa-tied": dict(opset=14, attn_implementation="sdpa"),
    "bert-untied": dict(opset=17, attn_implementation="sdpa", tie_word_embeddings=False),
    "bert-tanh": dict(opset=13, attn_implementation="eager", hidden_act="gelu_new"),
}


def build(seed, opset, **kw):
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=97, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
        max_position_embeddings=24, type_vocab_size=2, pad_token_id=PAD, initializer_range=0.25, **kw,
    )
    model = BertForMaskedLM(config)
    with torch.no_grad():  # biases and norms away from their neutral start, so that no mistake hides there
        for name, p in model.named_parameters():
            if p.dim() == 1:
                p.add_(0.3 * torch.randn_like(p))
    return model.eval()


def call(seed, chains, blanks, length, padded):
    """Rows of `chains` sentences with `blanks` blanks; the last `padded` positions of odd chains are padding."""
    r = torch.Generator().manual_seed(seed)
    ids = torch.randint(FIRST, 97, (chains, length), generator=r)
    attention = torch.ones_like(ids)
    types = (torch.arange(length) >= length // 2).long().expand(chains, length).clone()
    for c in range(1, chains, 2):
        if padded:
            ids[c, -padded:], attention[c, -padded:], types[c, -padded:] = PAD, 0, 0
    where = torch.stack([torch.randperm(length - padded - 2, generator=r)[:blanks].sort().values + 1 for _ in range(chains)])
    rows = ids.repeat_interleave(blanks, 0)
    positions = where.reshape(-1)
    targets = rows.gather(1, positions[:, None])[:, 0].clone()
    rows.scatter_(1, positions[:, None], MASK)
    return dict(
        input_ids=rows, attention_mask=attention.repeat_interleave(blanks, 0), token_type_ids=types.repeat_interleave(blanks, 0),
        positions=positions, targets=targets, blanks=where,
    )


def truth(model, c):
    table = model.get_input_embeddings().weight
    e = table[c["input_ids"]].detach().requires_grad_()
    logits = model(inputs_embeds=e, attention_mask=c["attention_mask"], token_type_ids=c["token_type_ids"]).logits
    n, m = c["blanks"].shape
    rows = torch.arange(n * m)
    conditional = logits[rows, c["positions"]].log_softmax(-1)
    log_prob = conditional[rows, c["targets"]]
    (g,) = torch.autograd.grad(log_prob.sum(), e)  # rows do not see each other
    at = g.reshape(n, m, *g.shape[1:]).gather(2, c["blanks"][:, None, :, None].expand(n, m, m, g.shape[-1]))  # [C, i, j, D]
    at = at * (1 - torch.eye(m, dtype=at.dtype))[None, :, :, None]
    gradient = conditional.reshape(n, m, -1) + at.sum(1) @ table.T
    return dict(logits=logits[:, :, :], log_prob=log_prob, conditional=conditional, gradient=gradient)


def main():
    warnings.filterwarnings("ignore")
    for seed, (name, kw) in enumerate(MODELS.items()):
        model = build(seed, **kw)
        x = call(99, 2, 2, 9, 0)
        torch.onnx.export(
            model, tuple(x[k] for k in NAMES), str(HERE / f"{name}.onnx"), input_names=NAMES, output_names=["logits"],
            dynamic_axes={k: {0: "batch", 1: "sequence"} for k in NAMES + ["logits"]}, opset_version=kw["opset"], dynamo=False,
        )
        calls, worst = [], 0.0
        for i, shape in enumerate([(1, 1, 6, 0), (1, 2, 8, 0), (3, 3, 12, 3), (2, 4, 17, 5)]):
            c = call(10 * seed + i, *shape)
            single = truth(model, c)
            want = truth(model.double(), c)
            model.float()
            top = want["gradient"].abs().max().item()
            worst = max(worst, (single["gradient"].double() - want["gradient"]).abs().max().item() / top)
            # A few logits, padding rows among them, tie the export and the reference evaluator to the model.
            logits = want.pop("logits")[:, :, ::24]
            calls.append({k: dict(shape=list(v.shape), data=[round(a, 10) if v.is_floating_point() else a for a in v.flatten().tolist()])
                          for k, v in (c | want | {"logits": logits}).items()})
        (HERE / f"{name}.json").write_text(json.dumps({"torch": torch.__version__, "float32_error": worst, "calls": calls}, separators=(",", ":")) + "\n")
        print(name, "float32 error of torch", worst, (HERE / f"{name}.onnx").stat().st_size, (HERE / f"{name}.json").stat().st_size)


if __name__ == "__main__":
    main()
