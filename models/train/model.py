"""BERT with its masked-LM head, under Hugging Face's parameter names.

The mathematics is that of transformers' BertForMaskedLM (post-LN, erf GELU, tied decoder, no
dropout), arranged for speed: one matrix product makes query, key and value, and the head and what follows
the last layer's attention run on the masked positions only. With an embedding_size other than hidden_size it is
ElectraForMaskedLM, whose table is factorised (see electra).
"""

import torch
import torch.nn.functional as F
from torch import nn


class _Box(nn.Module):
    """A module that only holds others, to give parameters their dotted names."""

    def __init__(box, /, **parts):  # noqa: N805  (one of the names is "self")
        super().__init__()
        for name, part in parts.items():
            setattr(box, name, part)


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Softmax attention of [batch, heads, length, width]; the mask is False at keys to leave out."""
    if q.is_cuda:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    # On short sequences torch's fused CPU kernel takes four times as long as these two products.
    score = (q @ k.mT).float() * q.shape[-1] ** -0.5
    if mask is not None:
        score = score.masked_fill(~mask, torch.finfo(torch.float32).min)
    return score.softmax(-1).to(v.dtype) @ v


class Layer(nn.Module):
    """One transformer layer over [batch, length, hidden]."""

    def __init__(self, hidden: int, heads: int, inner: int, width: int):
        super().__init__()
        self.heads, self.width, all_ = heads, width, heads * width
        own = _Box(query=nn.Linear(hidden, all_), key=nn.Linear(hidden, all_), value=nn.Linear(hidden, all_))
        out = _Box(dense=nn.Linear(all_, hidden), LayerNorm=nn.LayerNorm(hidden, eps=1e-12))
        self.attention = _Box(**{"self": own, "output": out})
        self.intermediate = _Box(dense=nn.Linear(hidden, inner))
        self.output = _Box(dense=nn.Linear(inner, hidden), LayerNorm=nn.LayerNorm(hidden, eps=1e-12))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None, at: torch.Tensor | None = None) -> torch.Tensor:
        """The layer of x [batch, length, hidden]; with flat positions `at`, only its rows there, [positions, hidden]."""
        b, n, h = x.shape
        a = getattr(self.attention, "self")
        weight = torch.cat([a.query.weight, a.key.weight, a.value.weight])
        bias = torch.cat([a.query.bias, a.key.bias, a.value.bias])
        q, k, v = F.linear(x, weight, bias).view(b, n, 3, self.heads, self.width).permute(2, 0, 3, 1, 4)
        y = attend(q, k, v, mask)
        o = self.attention.output
        y = y.transpose(1, 2).reshape(b, n, self.heads * self.width)
        if at is not None:
            x, y = x.reshape(-1, h)[at], y.reshape(-1, y.shape[-1])[at]
        x = o.LayerNorm(x + o.dense(y))
        y = self.output.dense(F.gelu(self.intermediate.dense(x)))
        return self.output.LayerNorm(x + y)


OWN_KEYS = ("intermediate_sizes", "attention_heads")  # of config.json that transformers does not have


def inner_sizes(config: dict) -> list[int]:
    """The width of each layer's feed-forward block: our key intermediate_sizes, or intermediate_size for all.

    For transformers, which has one width for all layers, a narrower layer is one whose further neurons, and heads,
    have zero weights (see widen).
    """
    return config.get("intermediate_sizes") or [config["intermediate_size"]] * config["num_hidden_layers"]


def head_counts(config: dict) -> list[int]:
    """The attention heads of each layer: our key attention_heads, or num_attention_heads for all."""
    return config.get("attention_heads") or [config["num_attention_heads"]] * config["num_hidden_layers"]


def shaped(config: dict, heads: list[int], inner: list[int]) -> dict:
    """The configuration with so many attention heads and inner neurons in each layer."""
    out = {k: v for k, v in config.items() if k not in OWN_KEYS}
    out |= {"num_hidden_layers": len(inner), "intermediate_size": max(inner)}
    if len(set(inner)) > 1:
        out["intermediate_sizes"] = inner
    if set(heads) != {config["num_attention_heads"]}:
        out["attention_heads"] = heads
    return out


def _cut_tensors(config: dict):
    """(Name, dimension, size) of the tensors of layers that are narrower than transformers has them."""
    own = config["hidden_size"] // config["num_attention_heads"]
    for number, (heads, inner) in enumerate(zip(head_counts(config), inner_sizes(config))):
        layer = f"bert.encoder.layer.{number}."
        for part in ("query", "key", "value"):
            yield f"{layer}attention.self.{part}.weight", 0, heads * own
            yield f"{layer}attention.self.{part}.bias", 0, heads * own
        yield layer + "attention.output.dense.weight", 1, heads * own
        yield layer + "intermediate.dense.weight", 0, inner
        yield layer + "intermediate.dense.bias", 0, inner
        yield layer + "output.dense.weight", 1, inner


def widen(state: dict, config: dict) -> dict:
    """The state as transformers reads it: attention and feed-forward blocks of full width, what is added zero."""
    out = dict(state)
    for n, dim, _ in _cut_tensors(config):
        full = config["intermediate_size"] if "attention." not in n else config["hidden_size"]
        more = full - out[n].shape[dim]
        out[n] = F.pad(out[n], (0, more) if dim == out[n].dim() - 1 else (0, 0, 0, more))
    return out


def narrow(state: dict, config: dict) -> dict:
    """The reverse of widen; a state that is narrow already stays as it is."""
    out = dict(state)
    for n, dim, width in _cut_tensors(config):
        out[n] = out[n].narrow(dim, 0, width).contiguous()
    return out


# Names of the parts outside the layers: ours, which are BERT's, and those of ElectraForMaskedLM.
_ELECTRA = [
    ("cls.predictions.transform.", "generator_predictions."),
    ("cls.predictions.bias", "generator_lm_head.bias"),
    ("bert.", "electra."),
]


def factorised(config: dict) -> bool:
    """Whether the table of word pieces is narrower than the layers."""
    return config.get("embedding_size", config["hidden_size"]) != config["hidden_size"]


def electra(state: dict) -> dict:
    """The state of a factorised model under the names of transformers' ElectraForMaskedLM."""
    out = {}
    for name, t in state.items():
        old, new = next(p for p in _ELECTRA if name.startswith(p[0]))
        out[new + name.removeprefix(old)] = t
    return out


def from_electra(state: dict) -> dict:
    """The reverse of electra; a state under BERT's names stays as it is."""
    out = {}
    for name, t in state.items():
        old, new = next(((o, n) for o, n in _ELECTRA if name.startswith(n)), ("", ""))
        out[old + name.removeprefix(new)] = t
    return out


def cross_entropies(logits, target, soft=None):
    """Mean cross-entropies of logits [positions, vocabulary] with the words [positions], and with a teacher.

    soft is None, the teacher's logits, or its largest probabilities (ids, probabilities), both [positions, top]. The
    probability that is not among the largest counts as one more class, so that the loss is least where the
    student gives each of them the teacher's probability.
    """
    total = logits.logsumexp(-1)
    hard = (total - logits.gather(1, target[:, None])[:, 0]).mean()
    if soft is None:
        return hard, None
    if isinstance(soft, torch.Tensor):
        return hard, F.cross_entropy(logits, soft.softmax(-1))
    ids, probs = soft
    own = logits.gather(1, ids) - total[:, None]
    rest = (1 - own.exp().sum(-1)).clamp(min=1e-4).log()
    return hard, -((probs * own).sum(-1) + (1 - probs.sum(-1)).clamp(min=0) * rest).mean()


class MaskedLM(nn.Module):
    """The model. config holds the keys of a Hugging Face BERT config.json, perhaps intermediate_sizes and attention_heads.

    With embedding_size the tables and the head are so wide, and a linear map leads to the layers.
    """

    def __init__(self, config: dict):
        super().__init__()
        self.config = config
        hidden, vocab = config["hidden_size"], config["vocab_size"]
        table = config.get("embedding_size", hidden)

        def norm():
            return nn.LayerNorm(table, eps=config["layer_norm_eps"])

        width = hidden // config["num_attention_heads"]
        layers = [Layer(hidden, heads, inner, width) for heads, inner in zip(head_counts(config), inner_sizes(config))]
        self.bert = _Box(
            embeddings=_Box(
                word_embeddings=nn.Embedding(vocab, table),
                position_embeddings=nn.Embedding(config["max_position_embeddings"], table),
                token_type_embeddings=nn.Embedding(config["type_vocab_size"], table),
                LayerNorm=norm(),
            ),
            encoder=_Box(layer=nn.ModuleList(layers)),
        )
        if table != hidden:
            self.bert.embeddings_project = nn.Linear(table, hidden)
        transform = _Box(dense=nn.Linear(hidden, table), LayerNorm=norm())
        predictions = _Box(transform=transform)
        predictions.bias = nn.Parameter(torch.zeros(vocab))
        self.cls = _Box(predictions=predictions)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.zeros_(m.bias)

    def encode(
        self,
        ids: torch.Tensor,
        mask: torch.Tensor | None = None,
        position: torch.Tensor | None = None,
        at: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Hidden states [batch, length, hidden] of ids; mask [batch, length] is False at padding.

        With flat positions `at`, only the states there, [positions, hidden].
        """
        x = self.embed(ids, position)
        if mask is not None:
            mask = mask[:, None, None, :]
        *below, last = self.bert.encoder.layer
        for layer in below:
            x = layer(x, mask)
        return last(x, mask, at)

    def embed(self, ids: torch.Tensor, position: torch.Tensor | None = None) -> torch.Tensor:
        """What the first layer reads, [batch, length, hidden], of ids at positions [length], which are 0, 1, … if not given."""
        e = self.bert.embeddings
        if position is None:
            position = torch.arange(ids.shape[1], device=ids.device)
        x = e.word_embeddings(ids) + e.position_embeddings(position) + e.token_type_embeddings.weight[0]
        return self.project(e.LayerNorm(x))

    def project(self, x: torch.Tensor) -> torch.Tensor:
        """What the first layer reads, [..., hidden], of the normalised embeddings."""
        return self.bert.embeddings_project(x) if factorised(self.config) else x

    def head(self, x: torch.Tensor) -> torch.Tensor:
        """Logits [..., vocabulary] of hidden states."""
        p = self.cls.predictions
        x = p.transform.LayerNorm(F.gelu(p.transform.dense(x)))
        return F.linear(x, self.bert.embeddings.word_embeddings.weight, p.bias)

    def logits(self, ids, mask, at, position=None) -> torch.Tensor:
        """Logits [positions, vocabulary] at the flat positions `at`."""
        return self.head(self.encode(ids, mask, position, at)).float()

    def loss(self, ids, at, target, position=None, soft=None, share=0.0):
        """Mean cross-entropy at the flat positions `at`, and the number that top-1 gets right.

        With a teacher (distillation, Hinton et al. 2015, at temperature 1; soft is what cross_entropies takes), `share`
        of the loss is the cross-entropy with the teacher's probabilities in place of the word that stood there.
        """
        logits = self.logits(ids, None, at, position)
        right = (logits.argmax(-1) == target).sum()
        hard, taught = cross_entropies(logits, target, soft)
        return hard if taught is None else (1 - share) * hard + share * taught, right
