"""Scores of words by minicons, on a BERT of random weights, which is made here too.

    pip install torch transformers onnx minicons
    python3 make_words.py   # writes random-bert/ and words.json beside this script

texts: the pieces of 100 texts with what minicons says of each, by both of its metrics. cut: texts
that come cut into words, whose later pieces are masked with each piece of a word. pairs: the sums
over the pieces that two sentences share, each masked by itself, as the program of CrowS-Pairs
(Nangia et al., EMNLP 2020) has them, with Python's difflib to find these pieces.
"""

import difflib
import json
import pathlib
import random

import torch
from minicons.scorer import MaskedLMScorer
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

HERE = pathlib.Path(__file__).resolve().parent
WORDS = "the a cat dog sat on in mat house is was not and she he it , . ' - ! ?".split()
PARTS = ["so", "un", "re", "be", "in", "que", "tri", "do"]
ENDS = ["ven", "ir", "sa", "di", "lla", "bal", "n", "t", "s", "ing", "ed"]


def make(folder):
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS,
             *(p for p in PARTS if p not in WORDS), "don", "t", *("##" + e for e in ENDS)]
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n")
    config = BertConfig(vocab_size=len(vocab), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=32, max_position_embeddings=64, initializer_range=0.5,
                        attn_implementation="eager")
    model = BertForMaskedLM(config).eval()
    keep = ["architectures", "model_type", "hidden_size", "num_hidden_layers", "num_attention_heads",
            "intermediate_size", "vocab_size", "max_position_embeddings", "type_vocab_size",
            "layer_norm_eps", "hidden_act", "pad_token_id"]
    all_keys = config.to_dict() | {"architectures": ["BertForMaskedLM"], "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps({k: all_keys[k] for k in keep}) + "\n")
    special = {"mask_token": "[MASK]", "pad_token": "[PAD]", "unk_token": "[UNK]",
               "cls_token": "[CLS]", "sep_token": "[SEP]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"do_lower_case": True, "model_max_length": 64, "tokenizer_class": "BertTokenizer"} | special) + "\n")
    names = ["input_ids", "attention_mask", "token_type_ids"]
    x = torch.randint(5, len(vocab), (2, 9))
    torch.onnx.export(model, (x, torch.ones_like(x), torch.zeros_like(x)), str(folder / "model.onnx"),
                      input_names=names, output_names=["logits"], opset_version=14, dynamo=False,
                      dynamic_axes={k: {0: "batch", 1: "sequence"} for k in names + ["logits"]})
    tok = BertTokenizerFast(vocab={w: i for i, w in enumerate(vocab)}, do_lower_case=True)
    return model, tok


def sentence(r):
    def word():
        if r.random() < 0.45:
            return r.choice(WORDS[:16])
        return r.choice(PARTS) + "".join(r.choice(ENDS) for _ in range(r.randrange(1, 4)))
    words = [word() for _ in range(r.randrange(4, 10))]
    if r.random() < 0.3:
        words[1] = r.choice(["don't", "cat's", "re-do", "Souvenir"])
    return " ".join(words).capitalize() + r.choice([".", "!", " ?", ""])


def log_probs(model, tok, ids, sets):
    """log f(piece | the others, with a set of places masked), which begins with that of the piece."""
    rows = torch.tensor([ids] * len(sets))
    for i, s in enumerate(sets):
        rows[i, s] = tok.mask_token_id
    with torch.no_grad():
        lp = model(rows).logits.double().log_softmax(-1)
    return [float(lp[i, s[0], ids[s[0]]]) for i, s in enumerate(sets)]


def cut(model, tok, words):
    enc = tok(words, is_split_into_words=True)
    of, n = enc.word_ids(), len(enc.input_ids)
    sets = [[p] + [q for q in range(p + 1, n) if of[q] == of[p]] for p in range(1, n - 1)]
    out = [0.0] * len(words)
    for s, v in zip(sets, log_probs(model, tok, enc.input_ids, sets)):
        out[of[s[0]]] += v
    return {"words": words, "scores": [round(v, 6) for v in out]}


def pair(model, tok, a, b):
    """The sums over the pieces that both sentences have, as metric.py of CrowS-Pairs makes them."""
    ids = [tok(text).input_ids for text in (a, b)]
    places = [[], []]
    keys = [[str(i) for i in of] for of in ids]  # with [CLS] and [SEP], which both have
    for op, a0, a1, b0, b1 in difflib.SequenceMatcher(None, *keys).get_opcodes():
        if op == "equal":
            places[0] += range(a0, a1)
            places[1] += range(b0, b1)
    sums = [sum(log_probs(model, tok, of, [[p] for p in at[1:-1]])) if len(at) > 2 else 0.0
            for of, at in zip(ids, places)]
    return {"pair": [a, b], "shared": [round(v, 6) for v in sums], "pieces": len(places[0]) - 2}


def main():
    torch.manual_seed(3)
    r = random.Random(3)
    model, tok = make(HERE / "random-bert")
    tok.batch_encode_plus = tok.__call__  # which transformers 5 has no longer
    scorer = MaskedLMScorer(model, "cpu", tokenizer=tok)
    out = {"texts": [], "cut": [], "pairs": []}
    while len(out["texts"]) < 100:
        text = sentence(r)
        pll, within = (scorer.token_score([text], PLL_metric=m)[0] for m in ["original", "within_word_l2r"])
        inner = lambda scores: [(t, round(v, 6)) for t, v in scores if t not in ("[CLS]", "[SEP]")]
        of = tok(text).word_ids()[1:-1]
        out["texts"].append({"text": text, "pieces": [t for t, _ in inner(pll)], "words": of,
                             "pll": [v for _, v in inner(pll)], "within": [v for _, v in inner(within)]})
    for _ in range(30):
        out["cut"].append(cut(model, tok, sentence(r).split()))
    for _ in range(50):
        words = sentence(r).split()
        other = list(words)
        for _ in range(r.randrange(0, 3)):
            at = r.randrange(len(other))
            other[at:at + r.randrange(0, 3)] = sentence(r).split()[:r.randrange(1, 3)]
        out["pairs"].append(pair(model, tok, " ".join(words), " ".join(other)))
    lines = [f'"{k}": [\n' + ",\n".join(json.dumps(x) for x in v) + "\n]" for k, v in out.items()]
    (HERE / "words.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
