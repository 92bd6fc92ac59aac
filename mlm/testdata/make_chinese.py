"""Makes tiny-chinese/: a BERT masked language model with a Chinese vocabulary, small enough to enumerate.

Two layers of width 32 over some 130 pieces, trained on the sentences of the grammar below. As in the vocabularies of
public models every character also has a piece of the inside of words, which the tokenizer never makes. joined/ is the
same with a tokenizer that does not set ideographs apart, so that it makes these pieces.

    python3 make_chinese.py            # writes tiny-chinese/ and tiny-chinese/joined/ beside this script
"""

import json
import pathlib
import random

import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

HERE = pathlib.Path(__file__).resolve().parent / "tiny-chinese"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
DAYS = ["今天", "明天", "昨天"]
WHO = ["我们", "他们", "她", "我"]
WEATHER = {"好": ["散步", "爬山"], "热": ["游泳"], "冷": ["睡觉", "看书"]}
PLACES = {"散步": "公园", "爬山": "山上", "游泳": "海边", "睡觉": "家里", "看书": "家里"}
FRUITS = {"苹果": "红", "香蕉": "黄", "葡萄": "紫"}
CAPITALS = {"日本": "东京", "中国": "北京"}
PROBES = [("今天天气很", "热", "，我们去游泳吧。"), ("苹果是", "红", "色的。"), ("", "东", "京是日本的首都。"), ("我们在公园散", "步", "。")]
LATIN = ["the", "dog", "ok", "2024"]


def sentence(r):
    k = r.randrange(5)
    if k == 0:
        w = r.choice(list(WEATHER))
        return f"{r.choice(DAYS)}天气很{w}，{r.choice(WHO)}去{r.choice(WEATHER[w])}吧。"
    if k == 1:
        what = r.choice(list(PLACES))
        return f"{r.choice(WHO)}在{PLACES[what]}{what}。"
    if k == 2:
        f = r.choice(list(FRUITS))
        return f"{f}是{FRUITS[f]}色的。"
    if k == 3:
        c = r.choice(list(CAPITALS))
        return f"{CAPITALS[c]}是{c}的首都。"
    f = r.choice(list(FRUITS))
    return f"{r.choice(WHO)}{r.choice(DAYS)}买了{FRUITS[f]}{f}，{r.choice(['ok', 'dog', '2024'])}。"


def characters():
    r = random.Random(0)
    return sorted({c for _ in range(3000) for c in sentence(r) if ord(c) > 0x3000 and c not in "，。"})


def tokenizer(vocab, apart):
    return BertTokenizer(vocab={w: i for i, w in enumerate(vocab)}, do_lower_case=True, tokenize_chinese_chars=apart)


def make(folder, vocab, apart):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    r = random.Random(1)
    tok = tokenizer(vocab, apart)
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
        ids = tok([sentence(r) for _ in range(n)], padding="max_length", max_length=24, return_tensors="pt")["input_ids"]
        picked = (ids >= len(SPECIAL)) & (torch.rand(ids.shape) < 0.3)
        out = model(ids.masked_fill(picked, 4), (ids != 0).long(), labels=ids.masked_fill(~picked, -100))
        opt.zero_grad()
        out.loss.backward()
        opt.step()
        plan.step()
        if step % 250 == 0 or step == steps - 1:
            print(step, round(out.loss.item(), 3))
    model.eval()

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n")
    names = ["input_ids", "attention_mask", "token_type_ids"]
    x = ids[:2]
    axes = {k: {0: "batch", 1: "sequence"} for k in names + ["logits"]}
    torch.onnx.export(
        model, (x, (x != 0).long(), torch.zeros_like(x)), str(folder / "model.onnx"), input_names=names,
        output_names=["logits"], dynamic_axes=axes, opset_version=14, dynamo=False,
    )
    keep = ["architectures", "model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
            "vocab_size", "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "hidden_act", "pad_token_id"]
    all_keys = config.to_dict() | {"architectures": ["BertForMaskedLM"], "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps({k: all_keys[k] for k in keep}, indent=1) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "do_lower_case": True, "tokenize_chinese_chars": apart, "mask_token": "[MASK]", "pad_token": "[PAD]",
        "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "model_max_length": 40,
        "tokenizer_class": "BertTokenizer"}, indent=1) + "\n")

    # What the model itself says at single masks. The ids around one are those around the character there.
    rows = []
    for before, character, after in PROBES:
        ids = tok(before + character + after, return_tensors="pt")["input_ids"]
        at = 1 + len(before)
        assert vocab[ids[0, at]].removeprefix("##") == character
        ids[0, at] = 4
        v, k = model(ids).logits.log_softmax(-1)[0, at].topk(3)
        best = [[vocab[int(b)], round(float(a), 4)] for a, b in zip(v, k)]
        rows.append(dict(text=f"{before}[MASK]{after}", ids=ids[0].tolist(), best=best))
        print(rows[-1])
    (folder / "expected.json").write_text(json.dumps(rows, ensure_ascii=False, indent=0) + "\n")


def main():
    chars = characters()
    vocab = SPECIAL + ["，", "。"] + chars + ["##" + c for c in chars] + LATIN + ["##s"]
    make(HERE, vocab, True)
    make(HERE / "joined", vocab, False)


if __name__ == "__main__":
    main()
