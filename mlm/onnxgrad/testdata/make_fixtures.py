"""Makes the fixtures of mlm/onnxgrad: tiny models of the BERT family exported by torch, and what torch
autograd says of them.

For every model NAME.onnx, NAME.json holds calls of the derived graph (rows of one or several chains,
some padded) and the expected outputs in float64:

  log_prob     log f(target | sentence with the row's blank masked)           [R]
  conditional  log-softmax of the logits at the row's blank                    [R, V]
  gradient     conditional of row j + E · sum_{i != j} d log f(target_i)/d e_j [C, m, V]

and how far torch's own float32 results lie from these, as a measure of what float32 can give.

    python3 make_fixtures.py [NAME...]   # writes beside this script; needs torch, transformers, onnx,
                                         # and onnxscript for the models with dynamo=True
"""

import json
import pathlib
import sys
import types
import warnings

import onnx
import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
MASK, FIRST, VOCABULARY = 4, 5, 97
NAMES = ["input_ids", "attention_mask", "token_type_ids"]

SIZE = dict(
    vocab_size=VOCABULARY, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
    max_position_embeddings=32, initializer_range=0.25, pad_token_id=0,
)

EUROBERT = dict(
    attn_implementation="sdpa", num_key_value_heads=3, head_dim=8, bos_token_id=1, eos_token_id=2, mask_token_id=MASK,
    tie_word_embeddings=False,
)

# name: class, configuration, inputs, opset, dynamo exporter
MODELS = {
    "bert-eager-tied": ("Bert", dict(attn_implementation="eager"), 3, 14, False),
    "bert-sdpa-tied": ("Bert", dict(attn_implementation="sdpa"), 3, 14, False),
    "bert-untied": ("Bert", dict(attn_implementation="sdpa", tie_word_embeddings=False), 3, 17, False),
    "bert-tanh": ("Bert", dict(attn_implementation="eager", hidden_act="gelu_new"), 3, 13, False),
    "bert-dynamo": ("Bert", dict(attn_implementation="sdpa"), 3, 18, True),
    "distilbert": ("DistilBert", dict(attn_implementation="sdpa", hidden_dim=40), 2, 14, False),
    "roberta": ("Roberta", dict(attn_implementation="eager", pad_token_id=1, type_vocab_size=1), 2, 14, False),
    "electra": ("Electra", dict(attn_implementation="sdpa", embedding_size=16), 3, 17, False),
    "albert": ("Albert", dict(attn_implementation="eager", embedding_size=16), 3, 17, False),
    "mpnet": ("MPNet", dict(pad_token_id=1), 2, 14, False),
    "deberta-v2": ("DebertaV2", dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8), 2, 17, False),
    "modernbert": ("ModernBert", dict(attn_implementation="sdpa", global_attn_every_n_layers=2, local_attention=8, initializer_range=0.35), 2, 17, False),
    "modernbert-dynamo": ("ModernBert", dict(attn_implementation="sdpa", global_attn_every_n_layers=2, local_attention=8, initializer_range=0.35), 2, 23, True),
    # As xlarge and xxlarge: a convolution beside the first layer.
    "deberta-v2-conv": ("DebertaV2", dict(
        relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8, conv_kernel_size=3, conv_act="gelu"), 2, 17, False),
    "eurobert": ("EuroBert", EUROBERT, 2, 17, False),
    "eurobert-dynamo": ("EuroBert", EUROBERT, 2, 20, True),
    "neobert": ("NeoBert", dict(norm="WrittenNorm"), 2, 17, False),
    "neobert-dynamo": ("NeoBert", dict(norm="RMSNorm"), 2, 23, True),
}


class Logits(torch.nn.Module):
    """The model under the names that its inputs have in the export."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        more = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        return self.model(input_ids=input_ids, attention_mask=attention_mask, **more).logits


class Named(torch.nn.Module):
    """The same for any inputs; the exporter gives their names."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs))).logits


def whole(model, inputs):
    """The model and the names of its inputs: the first so many of NAMES, or a list of names."""
    if isinstance(inputs, int):
        return Logits(model).eval(), NAMES[:inputs]
    return Named(model, inputs).eval(), inputs


class WrittenNorm(torch.nn.RMSNorm):
    """The norm in elementary operations, for the exporter that does not know it."""

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class NeoBertBlock(torch.nn.Module):
    """Attention with rotary positions, then SwiGLU, each after a root-mean-square norm; no biases."""

    def __init__(self, c):
        super().__init__()
        h = c.hidden_size
        self.heads, inner = c.num_attention_heads, c.intermediate_size
        self.attention_norm, self.ffn_norm = c.norm(h, eps=1e-5), c.norm(h, eps=1e-5)
        self.qkv, self.wo = torch.nn.Linear(h, 3 * h, bias=False), torch.nn.Linear(h, h, bias=False)
        self.w12, self.w3 = torch.nn.Linear(h, 2 * inner, bias=False), torch.nn.Linear(inner, h, bias=False)

    def forward(self, x, cos, sin, mask):
        n, l, h = x.shape
        qkv = self.qkv(self.attention_norm(x)).view(n, l, self.heads, -1).transpose(1, 2)
        q, k, v = qkv.chunk(3, -1)  # of each head its own, as NeoBERT cuts them

        def turned(t):  # pairs of neighbours, as complex numbers
            a, b = t.unflatten(-1, (-1, 2)).unbind(-1)
            return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)

        y = torch.nn.functional.scaled_dot_product_attention(turned(q), turned(k), v, attn_mask=mask)
        x = x + self.wo(y.transpose(1, 2).reshape(n, l, h))
        a, b = self.w12(self.ffn_norm(x)).chunk(2, -1)
        return x + self.w3(torch.nn.functional.silu(a) * b)


class NeoBertForMaskedLM(torch.nn.Module):
    """NeoBERT (Le Breton et al. 2025, arXiv:2502.19587), which is not part of transformers."""

    def __init__(self, c):
        super().__init__()
        self.config = c
        self.encoder = torch.nn.Embedding(c.vocab_size, c.hidden_size, padding_idx=c.pad_token_id)
        self.layers = torch.nn.ModuleList(NeoBertBlock(c) for _ in range(c.num_hidden_layers))
        self.layer_norm = c.norm(c.hidden_size, eps=1e-5)
        self.decoder = torch.nn.Linear(c.hidden_size, c.vocab_size)
        for p in self.parameters():
            if p.dim() > 1:
                torch.nn.init.normal_(p, std=c.initializer_range)

    def get_input_embeddings(self):
        return self.encoder

    def forward(self, input_ids, attention_mask):
        half = self.config.hidden_size // self.config.num_attention_heads // 2
        x = self.encoder(input_ids)
        places, pairs = torch.arange(input_ids.shape[1], dtype=x.dtype), torch.arange(half, dtype=x.dtype)
        angles = places[:, None] * 10000.0 ** (-pairs / half)
        mask = attention_mask[:, None, None, :].bool()
        for layer in self.layers:
            x = layer(x, angles.cos(), angles.sin(), mask)
        return types.SimpleNamespace(logits=self.decoder(self.layer_norm(x)))


def build(seed, kind, kw):
    torch.manual_seed(seed)
    if kind == "NeoBert":
        norm = {"WrittenNorm": WrittenNorm, "RMSNorm": torch.nn.RMSNorm}[kw["norm"]]
        model = NeoBertForMaskedLM(types.SimpleNamespace(**SIZE, norm=norm))
    else:
        config = getattr(transformers, kind + "Config")(**(SIZE | kw))
        model = getattr(transformers, kind + "ForMaskedLM")(config)
    with torch.no_grad():  # biases and norms away from their neutral start, so that no mistake hides there
        for name, p in model.named_parameters():
            if p.dim() == 1:
                p.add_(0.3 * torch.randn_like(p))
    return model.eval()


def call(seed, chains, blanks, length, padded, pad, first=0):
    """Rows of `chains` sentences with `blanks` blanks; the last `padded` positions of odd chains are padding."""
    r = torch.Generator().manual_seed(seed)
    ids = torch.randint(FIRST, VOCABULARY, (chains, length), generator=r)
    attention = torch.ones_like(ids)
    types = (torch.arange(length) >= length // 2).long().expand(chains, length).clone()
    for c in range(1, chains, 2):
        if padded:
            ids[c, -padded:], attention[c, -padded:], types[c, -padded:] = pad, 0, 0
    where = torch.stack([torch.randperm(length - padded - 2, generator=r)[:blanks].sort().values + 1 for _ in range(chains)])
    rows = ids.repeat_interleave(blanks, 0)
    positions = where.reshape(-1)
    targets = rows.gather(1, positions[:, None])[:, 0].clone()
    rows.scatter_(1, positions[:, None], MASK)
    return dict(
        input_ids=rows, attention_mask=attention.repeat_interleave(blanks, 0), token_type_ids=types.repeat_interleave(blanks, 0),
        position_ids=(first + torch.arange(length)).expand(len(rows), length).contiguous(),
        positions=positions, targets=targets, blanks=where,
    )


def truth(model, c, inputs):
    """What the derived graph should give, by autograd with respect to the output of the word embeddings."""
    table, seen = model.get_input_embeddings(), []

    def watch(module, args, output):
        seen.append(output.detach().requires_grad_())
        return seen[-1]

    hook = table.register_forward_hook(watch)
    net, names = whole(model, inputs)
    logits = net(*(c[k] for k in names))
    hook.remove()
    (e,) = seen
    n, m = c["blanks"].shape
    rows = torch.arange(n * m)
    conditional = logits[rows, c["positions"]].log_softmax(-1)
    log_prob = conditional[rows, c["targets"]]
    (g,) = torch.autograd.grad(log_prob.sum(), e)  # rows do not see each other
    at = g.reshape(n, m, *g.shape[1:]).gather(2, c["blanks"][:, None, :, None].expand(n, m, m, g.shape[-1]))  # [C, i, j, D]
    at = at * (1 - torch.eye(m, dtype=at.dtype))[None, :, :, None]
    gradient = conditional.reshape(n, m, -1) + at.sum(1) @ table.weight.T
    return dict(logits=logits, log_prob=log_prob, conditional=conditional, gradient=gradient)


def export(model, name, inputs, opset, dynamo):
    x = call(99, 2, 2, 9, 0, 0)
    file = str(HERE / f"{name}.onnx")
    net, names = whole(model, inputs)
    if dynamo:
        axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence", max=30)}
        torch.onnx.export(
            net, tuple(x[k] for k in names), file, input_names=names, output_names=["logits"],
            dynamic_shapes=tuple(axes for _ in names), opset_version=opset, dynamo=True, external_data=False, verbose=False,
        )
        graph = onnx.load(file)  # without the stack traces that the exporter leaves at every node
        for part in [graph, graph.graph, *graph.graph.node, *graph.graph.value_info, *graph.graph.initializer, *graph.graph.input, *graph.graph.output]:
            part.ClearField("metadata_props")
            part.ClearField("doc_string")
        del graph.graph.value_info[:]
        onnx.save(graph, file)
        return
    torch.onnx.export(
        net, tuple(x[k] for k in names), file, input_names=names, output_names=["logits"],
        dynamic_axes={k: {0: "batch", 1: "sequence"} for k in names + ["logits"]}, opset_version=opset, dynamo=False,
    )


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    for seed, (name, (kind, kw, inputs, opset, dynamo)) in enumerate(MODELS.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        model = build(seed, kind, kw)
        export(model, name, inputs, opset, dynamo)
        model.eval()  # the exporter leaves it in training mode
        calls, worst = [], 0.0
        for i, shape in enumerate([(1, 1, 6, 0), (1, 2, 8, 0), (3, 3, 12, 3), (2, 4, 17, 5)]):
            c = call(10 * seed + i, *shape, model.config.pad_token_id)
            del c["position_ids"]
            single = truth(model, c, inputs)
            want = truth(model.double(), c, inputs)
            model.float()
            top = want["gradient"].abs().max().item()
            worst = max(worst, (single["gradient"].double() - want["gradient"]).abs().max().item() / top)
            # A few logits tie the export and the reference evaluator to the model: every 24th at every position
            # that is not padding (there some models give nan).
            want["logits"] = want["logits"][c["attention_mask"] > 0][:, ::24]
            calls.append({k: dict(shape=list(v.shape), data=[round(a, 9) if v.is_floating_point() else a for a in v.flatten().tolist()])
                          for k, v in (c | want).items()})
        (HERE / f"{name}.json").write_text(json.dumps({"torch": torch.__version__, "float32_error": worst, "calls": calls}, separators=(",", ":")) + "\n")
        print(name, "float32 error of torch", worst, (HERE / f"{name}.onnx").stat().st_size, (HERE / f"{name}.json").stat().st_size)


if __name__ == "__main__":
    main()
