"""Makes tiny-bert/: a BERT masked language model small enough to enumerate.

Two layers of width 32 over a vocabulary of about 80 pieces, trained for a few hundred steps on the
sentences of the grammar below, in which the words depend on one another (fish swim in rivers, lemons
are yellow), so that the joint distribution of two blanks is peaked and differs from the product of
its marginals. Exported with torch's TorchScript exporter, as a Hugging Face user would.

    python3 make_tiny.py            # writes tiny-bert/ beside this script
"""

import json
import pathlib
import random

import torch
from transformers import BertConfig, BertForMaskedLM

HERE = pathlib.Path(__file__).resolve().parent / "tiny-bert"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]"]
WORDS = "the a is in and near she he saw ate gave her him , . very".split()
ANIMALS = {
    "dog": ("barks runs sleeps", "house garden road"),
    "cat": ("sleeps hides walks", "house garden tree"),
    "bird": ("sings flies eats", "tree garden forest"),
    "fish": ("swims swims hides", "river sea river"),
    "horse": ("runs walks eats", "field road field"),
    "cow": ("eats walks sleeps", "field garden field"),
    "fox": ("runs hides walks", "forest field forest"),
    "bear": ("sleeps walks eats", "forest river forest"),
}
FRUITS = {
    "banana": "yellow yellow green",
    "apple": "red green red",
    "lemon": "yellow",
    "grape": "purple green purple",
    "plum": "purple",
    "cherry": "red",
}
ADJECTIVES = "small big old young hungry happy".split()
NUMBERS = "two three four".split()


def words():
    out = list(WORDS) + list(ANIMALS) + list(FRUITS)
    for verbs, places in ANIMALS.values():
        out += verbs.split() + places.split()
    for colours in FRUITS.values():
        out += colours.split()
    return list(dict.fromkeys(out + ADJECTIVES + NUMBERS))


def sentence(r):
    a = r.choice(list(ANIMALS))
    verb, place = (r.choice(x.split()) for x in ANIMALS[a])
    f = r.choice(list(FRUITS))
    colour = r.choice(FRUITS[f].split())
    k = r.randrange(6)
    if k == 0:
        return f"the {a} {verb} in the {place} ."
    if k == 1:
        return f"the {f} is {r.choice(['very ', ''])}{colour} ."
    if k == 2:
        return f"a {r.choice(ADJECTIVES)} {a} ate the {colour} {f} near the {place} ."
    if k == 3:
        # The second animal shares the place with the first.
        mates = [x for x, (_, p) in ANIMALS.items() if place in p.split()]
        return f"{r.choice(['she', 'he'])} saw a {a} and a {r.choice(mates)} in the {place} ."
    if k == 4:
        who, whom = r.choice([("she", "him"), ("he", "her")])
        return f"{who} gave {whom} {r.choice(NUMBERS)} {colour} {f} ##s ."
    return f"the {r.choice(ADJECTIVES)} {a} is near the {place} , and the {a} {verb} ."


def batch(r, index, n, length):
    ids = torch.zeros(n, length, dtype=torch.long)
    for i in range(n):
        s = ["[CLS]", *sentence(r).split(), "[SEP]"]
        ids[i, : len(s)] = torch.tensor([index[w] for w in s])
    return ids


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    r = random.Random(1)
    vocab = SPECIAL + words() + ["##s", "##y", "##ing"]
    index = {w: i for i, w in enumerate(vocab)}
    config = BertConfig(
        vocab_size=len(vocab), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=40, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, pad_token_id=0,
        attn_implementation="eager", initializer_range=0.1,
    )
    model = BertForMaskedLM(config)
    steps, n = 1500, 64
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, 6e-3, total_steps=steps)
    for step in range(steps):
        ids = batch(r, index, n, 18)
        real = ids >= len(SPECIAL)
        picked = real & (torch.rand(ids.shape) < 0.3)
        inputs = ids.masked_fill(picked, index["[MASK]"])
        out = model(inputs, (ids != 0).long(), labels=ids.masked_fill(~picked, -100))
        opt.zero_grad()
        out.loss.backward()
        opt.step()
        plan.step()
        if step % 250 == 0 or step == steps - 1:
            print(step, round(out.loss.item(), 3))
    model.eval()

    HERE.mkdir(exist_ok=True)
    (HERE / "vocab.txt").write_text("\n".join(vocab) + "\n")
    names = ["input_ids", "attention_mask", "token_type_ids"]
    x = batch(r, index, 2, 18)
    axes = {k: {0: "batch", 1: "sequence"} for k in names + ["logits"]}
    torch.onnx.export(
        model, (x, (x != 0).long(), torch.zeros_like(x)), str(HERE / "model.onnx"), input_names=names,
        output_names=["logits"], dynamic_axes=axes, opset_version=14, dynamo=False,
    )
    keep = ["architectures", "model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
            "vocab_size", "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "hidden_act", "pad_token_id"]
    all_keys = config.to_dict() | {"architectures": ["BertForMaskedLM"], "model_type": "bert"}
    (HERE / "config.json").write_text(json.dumps({k: all_keys[k] for k in keep}, indent=1) + "\n")
    (HERE / "tokenizer_config.json").write_text(json.dumps({
        "do_lower_case": True, "mask_token": "[MASK]", "pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]",
        "sep_token": "[SEP]", "model_max_length": 40, "tokenizer_class": "BertTokenizer"}, indent=1) + "\n")

    # A look at the joint of two blanks, to see that it is peaked and dependent.
    for text in ["the [MASK] swims in the [MASK] .", "the [MASK] is [MASK] .", "a happy [MASK] ate the [MASK] lemon near the sea ."]:
        ids = torch.tensor([[index[w] for w in ["[CLS]", *text.split(), "[SEP]"]]])
        p = model(ids).logits.softmax(-1)[0]
        for i in (ids[0] == index["[MASK]"]).nonzero()[:, 0]:
            v, k = p[i].topk(5)
            print(text, int(i), [(vocab[int(b)], round(float(a), 3)) for a, b in zip(v, k)])


if __name__ == "__main__":
    main()
