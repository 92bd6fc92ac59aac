#!/usr/bin/env python3
"""Makes, for every architecture of ../../onnxgrad/testdata, what lies beside model.onnx in an export's folder:
config.json and the tokenizer's files, with a vocabulary of as many tokens as those models have (97). The classes
are those of transformers, trained on the sentences below; normaliser, pre-tokeniser, post-processor and special
tokens are those of the real models.

NAME/expected.json: for some texts the ids of the tokenizer, and for every piece that is not special
log f(piece | the rest, that piece masked) as onnxruntime has it from model.onnx; for a text with masks, log f of
the likeliest tokens at each mask, all of them masked.

    python3 make_folders.py [NAME...]    # needs transformers 5, tokenizers, sentencepiece, onnxruntime
"""
import json
import pathlib
import random
import shutil
import sys
import tempfile

import numpy as np
import onnxruntime
import sentencepiece
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "onnxgrad" / "testdata"
sys.path.insert(0, str(MODELS))
import make_fixtures as fixtures  # noqa: E402

SIZE = fixtures.VOCABULARY
TEXTS = ["the cat sat on the mat.", "a dog ran", "the old man saw a red cat, and she sat.", "on the mat the dog sat.", "she ran to the cat's mat"]
# Blanks, and words of one piece that could fill them: the ids around a mask are those around the word.
MASKED = [("the {} sat on the {}.", ["cat", "mat"]), ("{} cat ran", ["the"]), ("she saw {}, {}.", ["the", "cat"])]
WORDS = "the cat sat on mat a dog ran old man saw red and she to".split()


def corpus():
    r = random.Random(1)
    out = ["abcdefghijklmnopqrstuvwxyz . , '", "a b c d e f g h i j k l m n o p q r s t u v w x y z"] * 20
    for _ in range(500):
        out.append(" ".join(r.choices(WORDS, k=r.randint(3, 9))) + r.choice([".", ",", "'s", ""]))
    return out


def wordpiece(specials):
    letters = list("abcdefghijklmnopqrstuvwxyz")
    out = specials + WORDS[:15] + letters + [".", ",", "'"] + ["##" + c for c in letters] + ["##ing", "##ed", "##er"]
    out += [f"[unused{i}]" for i in range(SIZE - len(set(out)) - (specials[0] == "<s>"))]
    out = list(dict.fromkeys(out))
    if specials[0] == "<s>":
        out.append("<mask>")
    assert len(out) == SIZE, len(out)
    return {p: i for i, p in enumerate(out)}


BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def bpe(first, size):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=size, special_tokens=first, show_progress=False))
    m = json.loads(t.to_str())["model"]
    assert len(m["vocab"]) == size
    return m["vocab"], [tuple(p) for p in m["merges"]]


def spm(size):
    with tempfile.TemporaryDirectory() as d:
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus()), model_prefix=f"{d}/m", vocab_size=size,
                                                 model_type="unigram", normalization_rule_name="identity", minloglevel=2, num_threads=1,
                                                 hard_vocab_limit=False)
        p = sentencepiece.SentencePieceProcessor(f"{d}/m.model")
    out = [(p.id_to_piece(i), p.get_score(i)) for i in range(len(p))]
    more = [a + b for a in ["▁", ""] for b in "ing ed er ly un re be de th he in an ar or st nd es en te al ou it is ti as et ng of ha se hi".split()]
    known = {p for p, _ in out}
    out += [(p, -12 - i / 16) for i, p in enumerate(m for m in more if m not in known)]
    assert len(out) >= size, len(out)
    return out[:size]


def stripped(mask):
    return AddedToken(mask, lstrip=True, normalized=False, special=True)


def roberta():
    vocab, merges = bpe(["<s>", "<pad>", "</s>", "<unk>"], SIZE - 1)
    vocab["<mask>"] = SIZE - 1
    return transformers.RobertaTokenizer(vocab=vocab, merges=merges, mask_token=stripped("<mask>"))


def modernbert():
    vocab, merges = bpe(["[PAD]"], SIZE - 6)
    t = Tokenizer(models.BPE(vocab, merges))
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.add_tokens([AddedToken("   ", normalized=True), AddedToken("  ", normalized=True)])
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in BERT[:4]])
    t.add_special_tokens([stripped("[MASK]")])
    assert t.get_vocab_size() == SIZE
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair=None,
                                                     special_tokens=[(s, t.token_to_id(s)) for s in ("[CLS]", "[SEP]")])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=t, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
                                                pad_token="[PAD]", mask_token="[MASK]")


def albert():
    pieces = [("<pad>", 0.0), ("<unk>", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("[MASK]", 0.0)] + spm(SIZE - 2)[3:]
    return transformers.AlbertTokenizer(vocab=pieces, mask_token=stripped("[MASK]"))


def deberta():
    pieces = [("[PAD]", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("[UNK]", 0.0)] + spm(SIZE - 2)[3:] + [("[MASK]", 0.0)]
    return transformers.DebertaV2Tokenizer(vocab=pieces)


TOKENIZERS = {
    "bert": lambda: transformers.BertTokenizer(vocab=wordpiece(BERT)),
    "distilbert": lambda: transformers.DistilBertTokenizer(vocab=wordpiece(BERT)),
    "electra": lambda: transformers.ElectraTokenizer(vocab=wordpiece(BERT)),
    "mpnet": lambda: transformers.MPNetTokenizer(vocab=wordpiece(["<s>", "<pad>", "</s>", "[UNK]"])),
    "roberta": roberta, "modernbert": modernbert, "albert": albert, "deberta-v2": deberta,
}
FIXTURE = {"bert": "bert-sdpa-tied"}  # of the others it has their name


def log_probs(session, rows):
    rows = np.array(rows)
    feeds = {"input_ids": rows, "attention_mask": np.ones_like(rows), "token_type_ids": np.zeros_like(rows)}
    logits = session.run(None, {i.name: feeds[i.name] for i in session.get_inputs()})[0].astype(np.float64)
    top = logits.max(-1, keepdims=True)
    return logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))


def main():
    for name, make in TOKENIZERS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        folder, tok, fixture = HERE / name, make(), FIXTURE.get(name, name)
        shutil.rmtree(folder, ignore_errors=True)
        tok.save_pretrained(folder)
        kind, kw = fixtures.MODELS[fixture][:2]
        config = getattr(transformers, kind + "Config")(**(fixtures.SIZE | kw))
        config.architectures = [kind + "ForMaskedLM"]
        assert config.vocab_size == len(tok) == SIZE and config.pad_token_id == tok.pad_token_id, (len(tok), tok.pad_token_id)
        config.save_pretrained(folder)
        session = onnxruntime.InferenceSession(str(MODELS / f"{fixture}.onnx"), providers=["CPUExecutionProvider"])
        out = dict(fixture=fixture, scores=[], masked=[])
        special = set(tok.all_special_ids)
        for text in TEXTS:
            ids = tok(text)["input_ids"]
            places = [i for i, t in enumerate(ids) if t not in special]
            rows = [[tok.mask_token_id if i == p else t for i, t in enumerate(ids)] for p in places]
            lp = log_probs(session, rows)
            out["scores"].append(dict(text=text, ids=ids, log_prob=[round(float(lp[k, p, ids[p]]), 6) for k, p in enumerate(places)]))
        for text, words in MASKED:
            e, at, places = tok(text.format(*words)), 0, []
            ids = list(e["input_ids"])
            for w in words:
                at = text.format(*words).index(w, at)
                places.append(e.char_to_token(at))
                assert e.char_to_token(at + len(w) - 1) == places[-1]
                at += len(w)
                ids[places[-1]] = tok.mask_token_id
            lp = log_probs(session, [ids])[0]
            best = [[[int(v), round(float(lp[p, v]), 6)] for v in np.argsort(-lp[p])[:3]] for p in places]
            out["masked"].append(dict(text=text.format(*["[MASK]"] * len(words)), ids=ids, best=best))
        (folder / "expected.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")
        print(name, sum(f.stat().st_size for f in folder.iterdir()), tok.convert_ids_to_tokens(out["scores"][0]["ids"]), [len(s["log_prob"]) for s in out["scores"]])


if __name__ == "__main__":
    main()
