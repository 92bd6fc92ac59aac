#!/usr/bin/env python3
"""Writes small tokenizers of the architectures that masked language models have, and what Hugging Face makes of
the same 1,200 nasty lines with each.

  python3 make_hf.py [NAME...]     # needs transformers 5, tokenizers, sentencepiece, protobuf

lines.json.gz        the texts
NAME/                the tokenizer as transformers saves it (tokenizer.json is gzipped), trained here on made-up lines
                     with the normaliser, pre-tokeniser, post-processor and special tokens of the real models
NAME/expected.json.gz  per line: ids, and the character offsets of the pieces between the special tokens around the
                     text, flat, as differences from one number to the next; and what ids are decoded to

Offsets are those of the tokenizer with trim_offsets off: with it on a piece that is nothing but white space has an
empty span. SentencePiece's normalisation rules (300 kB) are the same in several tokenizers: they are in
charsmap.gz, and tokenizer.json says "@charsmap" instead.
"""
import base64
import gzip
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile

import sentencepiece
import transformers
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import gen_expected as old  # noqa: E402

SPELT = ["[MASK]", "<mask>", "<s>", "</s>", "[CLS]", "[SEP]", "<pad>", "[PAD]", "<unk>", "[UNK]", "|||EMAIL_ADDRESS|||", "[unused3]",
         "▁", "▁the", "Ġ", "##ing", "<0x41>", "``", "''", "<|endoftext|>"]


def lines(n):
    r, word = random.Random(11), None
    line = old.parts([AddedToken(s) for s in SPELT])
    emoji = ["😀", "👍🏽", "👩‍👩‍👧", "🇩🇪", "❤️", "☃", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "©\u200d"]
    short = ["don't", "I'm", "we'll", "they've", "it's", "can't", "you're", "he'd", "DON'T", "I'M", "o'clock", "'s", "''", "rock'n'roll", "’s"]
    white = ["  ", "   ", "\n", "\n\n", " \n ", "\t", "\r\n", " " * 8, " " * 30, "\u00a0", "\u3000", "\u2009 ", "\u200b", "\ufeff"]
    marks = ["e\u0301", "a\u0308", "\u1e9b\u0323", "\u1100\u1161\u11a8", "\uac01\u0301", "o\u0323\u0302", "\u0344", "\u03d3", "ﬁ\u0301", "ｱﾞ",
             "㍿", "①", "½", "ﷺ", "Å", "Ω", "\u0915\u093c", "q\u0307\u0323", "\u0301", "c\u0327\u0301", "İ", "ß", "Σ", "ǅ", "\U0001d15e", "\u0f73\u0301"]
    words = old.WORDS

    def sentence(r):
        out = []
        for _ in range(r.randint(3, 14)):
            w = r.choice(words)
            if r.random() < .25:
                w += r.choice(old.TAILS)
            if r.random() < .2:
                w = w.capitalize()
            x = r.random()
            if x < .07:
                w = r.choice(short)
            elif x < .12:
                w = str(r.randint(0, 10 ** r.randint(1, 9)))
            elif x < .16:
                w = r.choice(emoji)
            elif x < .20:
                w = r.choice(marks)
            elif x < .25:
                w = r.choice(SPELT)
            elif x < .26:
                w = "".join(r.choice(words) for _ in range(r.randint(10, 60)))
            out += [w, r.choice([" "] * 12 + white + ["", ", ", ". ", "! ", " (", ") ", "-", ": "])]
        return "".join(out)[:r.choice([10 ** 6, 10 ** 6, 40])]

    out = ["", " ", "  ", "\n", "\u0301", "▁", "a", " a", "[MASK]", "<mask>", " <mask>", "<mask> ", "The <mask> sat.", "The [MASK] sat on  [MASK].",
           "\x00", "\x00 a", "x" * 300, "\u00e9" * 200, "a\n[MASK]\nb", "un[MASK]able", "[MASK][MASK]", "a\u00a0[MASK]"]
    while len(out) < n:
        out.append(line(r) if r.random() < .4 else sentence(r))
    return out


def corpus(cased=True):
    r = random.Random(5)
    words = old.WORDS + [w.capitalize() for w in old.WORDS]
    weights = [1 / (i % len(old.WORDS) + 3) for i in range(len(words))]
    out = []
    for _ in range(3000):
        ws = [w + (r.choice(old.TAILS) if r.random() < .2 else "") for w in r.choices(words, weights, k=r.randint(4, 16))]
        s = " ".join(ws) + r.choice([".", "!", "?", " ,", "'s", "'t", " 1234", " 19", " (a)", "..."])
        out.append(s if cased else s.lower())
    return out + ["".join(c + " " for c in old.EXTRA), "😀 ☃ ü é ñ 中文 日本語 Привет мир שלום"] * 3


def special(*names, lstrip=()):
    return [AddedToken(n, lstrip=n in lstrip, normalized=False, special=True) for n in names]


def bpe(first, size, prefix=False):
    """Byte-level BPE of GPT-2; first are the tokens with the lowest ids."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    t.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=size, special_tokens=list(first), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    m = json.loads(t.to_str())["model"]
    return m["vocab"], [tuple(p) for p in m["merges"]]


def spm(rule="nmt_nfkc", size=900, cased=True, **more):
    with tempfile.TemporaryDirectory() as d:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(corpus(cased)), model_prefix=f"{d}/m", vocab_size=size, model_type="unigram",
            normalization_rule_name=rule, character_coverage=0.999, minloglevel=2, hard_vocab_limit=False, num_threads=1, **more)
        from transformers.utils import sentencepiece_model_pb2_new as pb
        proto = pb.ModelProto()
        proto.ParseFromString(open(f"{d}/m.model", "rb").read())
    return [(p.piece, p.score) for p in proto.pieces], proto.normalizer_spec.precompiled_charsmap


def wrap(tok, **kw):
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tok, **kw)


def bert(kind, cased, **kw):
    pieces = old.vocabulary(cased)
    if kind == "MPNetTokenizer":  # its vocabulary begins so
        pieces = ["<s>", "<pad>", "</s>", "<unk>"] + [p for p in pieces if p not in ("[PAD]", "[CLS]", "[SEP]", "[MASK]")] + ["<mask>"]
    return getattr(transformers, kind)(vocab={p: i for i, p in enumerate(pieces)}, do_lower_case=not cased, **kw)


def roberta():
    vocab, merges = bpe(["<s>", "<pad>", "</s>", "<unk>"], 900)
    vocab["<mask>"] = len(vocab)
    return transformers.RobertaTokenizer(vocab=vocab, merges=merges, mask_token=special("<mask>", lstrip=["<mask>"])[0])


def modernbert():
    """As tokenizer.json of answerdotai/ModernBERT-base: ids of added tokens below and above the vocabulary's."""
    vocab, merges = bpe(["|||IP_ADDRESS|||", "<|padding|>"], 1000)
    t = Tokenizer(models.BPE(vocab, merges))
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True)
    t.decoder = decoders.ByteLevel()
    t.add_tokens([AddedToken("|||IP_ADDRESS|||", normalized=True)])
    t.add_special_tokens([AddedToken("<|padding|>", normalized=False)])
    t.add_tokens([AddedToken(" " * n, normalized=True) for n in range(24, 1, -1)])
    t.add_tokens([AddedToken("|||EMAIL_ADDRESS|||", normalized=True), AddedToken("|||PHONE_NUMBER|||", normalized=True)])
    t.add_special_tokens(special("<|endoftext|>", "[UNK]", "[CLS]", "[SEP]", "[PAD]"))
    t.add_special_tokens(special("[MASK]", lstrip=["[MASK]"]))
    t.add_tokens([AddedToken(f"[unused{i}]", normalized=True) for i in range(8)])
    cls, sep = t.token_to_id("[CLS]"), t.token_to_id("[SEP]")
    t.post_processor = processors.TemplateProcessing(single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:0 [SEP]:0",
                                                     special_tokens=[("[CLS]", cls), ("[SEP]", sep)])
    return wrap(t, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", mask_token="[MASK]", model_max_length=8192)


def metaspace(scheme="always"):
    return pre_tokenizers.Metaspace(replacement="▁", prepend_scheme=scheme)


def unigram(vocab, unk, norm, pre, around, added, byte_fallback=False, **kw):
    """A Unigram tokenizer as transformers 4 converts it from a SentencePiece model."""
    t = Tokenizer(models.Unigram(vocab, unk_id=unk, byte_fallback=byte_fallback))
    if norm:
        t.normalizer = normalizers.Sequence(norm)
    t.pre_tokenizer, t.decoder = pre, decoders.Metaspace()
    t.add_special_tokens(added)
    t.post_processor = processors.TemplateProcessing(single=f"{around[0]} $A {around[1]}", pair=None,
                                                     special_tokens=[(s, t.token_to_id(s)) for s in around])
    return wrap(t, **kw)


BRACKETS = dict(unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", mask_token="[MASK]")
ANGLES = dict(bos_token="<s>", eos_token="</s>", unk_token="<unk>", cls_token="<s>", sep_token="</s>", pad_token="<pad>", mask_token="<mask>")
ALBERT = BRACKETS | dict(unk_token="<unk>", pad_token="<pad>")


def albert_pieces():
    pieces, rules = spm("nmt_nfkc_cf", cased=False)
    pieces = [("<pad>", 0.0), ("<unk>", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("[MASK]", 0.0)] + pieces[3:]
    return pieces, spm("nmt_nfkc")[1]


def albert():
    pieces, rules = albert_pieces()
    return transformers.AlbertTokenizer(vocab=pieces, _spm_precompiled_charsmap=rules,
                                        mask_token=special("[MASK]", lstrip=["[MASK]"])[0])


def albert4():
    pieces, rules = albert_pieces()
    norm = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(), normalizers.StripAccents(),
            normalizers.Lowercase(), normalizers.Precompiled(rules), normalizers.Replace(Regex(" {2,}"), " ")]
    return unigram(pieces, 1, norm, pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace()]), ("[CLS]", "[SEP]"),
                   special("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", lstrip=["[MASK]"]), **ALBERT)


def deberta_pieces():
    pieces, rules = spm("nmt_nfkc")
    return [("[PAD]", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("[UNK]", 0.0)] + pieces[3:] + [("[MASK]", 0.0)], rules


def deberta2():
    pieces, _ = deberta_pieces()
    return transformers.DebertaV2Tokenizer(vocab=pieces, do_lower_case=True, split_by_punct=True)


def deberta3():
    pieces, rules = deberta_pieces()
    norm = [normalizers.Strip(), normalizers.Precompiled(rules), normalizers.Replace(Regex(" {2,}"), " ")]
    return unigram(pieces, 3, norm, pre_tokenizers.Sequence([metaspace()]), ("[CLS]", "[SEP]"),
                   special("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"), **BRACKETS)


def xlmr_pieces(**kw):
    pieces, rules = spm("nmt_nfkc", **kw)
    return [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)] + pieces[3:] + [("<mask>", 0.0)], rules


def xlmr():
    pieces, rules = xlmr_pieces()
    return transformers.XLMRobertaTokenizer(vocab=pieces, _spm_precompiled_charsmap=rules,
                                            mask_token=special("<mask>", lstrip=["<mask>"])[0])


def xlmr4():
    pieces, rules = xlmr_pieces(byte_fallback=True)
    norm = [normalizers.Precompiled(rules), normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "▁")]
    return unigram(pieces, 3, norm, metaspace("first"), ("<s>", "</s>"),
                   special("<s>", "<pad>", "</s>", "<unk>", "<mask>", lstrip=["<mask>"]), byte_fallback=True, **ANGLES)


LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")


def eurobert():
    """As EuroBERT's: Llama 3's expression and merges, no token for unknown words, one token for end and padding."""
    pre = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
                                   pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t = Tokenizer(models.BPE(ignore_merges=True))
    t.pre_tokenizer, t.decoder = pre, decoders.ByteLevel()
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=1000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                                        show_progress=False))
    # Pieces that no merges make are found whole all the same.
    state = json.loads(t.to_str())
    for piece in ["Ġxylophone", "Zz", "ĠÃ©t"]:
        state["model"]["vocab"][piece] = len(state["model"]["vocab"])
    t = Tokenizer.from_str(json.dumps(state))
    t.add_special_tokens(special("<|begin_of_text|>", "<|end_of_text|>", "<|mask|>", lstrip=["<|mask|>"]))
    bos, eos = "<|begin_of_text|>", "<|end_of_text|>"
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single=f"{bos} $A {eos}", pair=None, special_tokens=[(s, t.token_to_id(s)) for s in (bos, eos)])])
    return wrap(t, bos_token=bos, eos_token=eos, pad_token=eos, mask_token="<|mask|>", model_max_length=8192)


def mmbert():
    """As mmBERT's, which is Gemma 2's: characters, bytes for those without a piece, and one stretch of text a word."""
    t = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    t.normalizer, t.pre_tokenizer = normalizers.Replace(" ", "▁"), pre_tokenizers.Metaspace(prepend_scheme="never")
    first = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<unused0>", "<unused1>", "\n", "\n\n", "▁▁", "▁▁▁"]
    t.train_from_iterator(corpus()[:3000] + ["été über señor 中文 日本語 мир 😀"] * 9, trainers.BpeTrainer(
        vocab_size=1100, show_progress=False, special_tokens=first + [f"<0x{b:02X}>" for b in range(256)]))
    m = json.loads(t.to_str())["model"]
    t = Tokenizer(models.BPE(m["vocab"], [tuple(p) for p in m["merges"]], byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    t.normalizer, t.pre_tokenizer = normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous")
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    t.add_special_tokens(special(*first[:5], lstrip=["<mask>"]))
    t.add_tokens([AddedToken(s, normalized=False) for s in first[5:]])
    t.post_processor = processors.TemplateProcessing(single="<bos> $A <eos>", pair=None, special_tokens=[("<bos>", 2), ("<eos>", 1)])
    return wrap(t, bos_token="<bos>", eos_token="<eos>", unk_token="<unk>", pad_token="<pad>", mask_token="<mask>", model_max_length=8192)


MODELS = {
    "bert-uncased": lambda: bert("BertTokenizer", False),
    "bert-cased": lambda: bert("BertTokenizer", True),
    "distilbert": lambda: bert("DistilBertTokenizer", False) if hasattr(transformers, "DistilBertTokenizer") else bert("BertTokenizer", False),
    "electra": lambda: bert("ElectraTokenizer" if hasattr(transformers, "ElectraTokenizer") else "BertTokenizer", False),
    "mpnet": lambda: bert("MPNetTokenizer", False),
    "roberta": roberta, "roberta-files": roberta, "modernbert": modernbert,
    "albert": albert, "albert-4": albert4, "deberta-v2": deberta2, "deberta-v3": deberta3, "xlm-roberta": xlmr, "xlm-roberta-4": xlmr4,
    "eurobert": eurobert, "mmbert": mmbert,
}


def pack(path, data):
    with open(path, "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
        z.write(data if isinstance(data, bytes) else json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode())


def hide(node):
    """Takes the normalisation rules out of a tokenizer.json."""
    if isinstance(node, dict):
        if "precompiled_charsmap" in node:
            node["precompiled_charsmap"] = "@charsmap"
        for v in node.values():
            hide(v)
    elif isinstance(node, list):
        for v in node:
            hide(v)


def save(name, tok, texts):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    tok.save_pretrained(folder)
    raw = tok.backend_tokenizer
    whole = json.loads(raw.to_str())
    if name == "roberta-files":  # as older versions of transformers save it
        (folder / "vocab.json").write_text(json.dumps(whole["model"]["vocab"], ensure_ascii=False))
        (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in whole["model"]["merges"]))
    if name == "distilbert":  # as older versions save it
        vocab = sorted(whole["model"]["vocab"], key=whole["model"]["vocab"].get)
        (folder / "vocab.txt").write_text("".join(p + "\n" for p in vocab))
    loose = Tokenizer.from_str(raw.to_str())
    if whole["post_processor"]["type"] == "RobertaProcessing":
        p = whole["post_processor"]
        loose.post_processor = processors.RobertaProcessing(sep=tuple(p["sep"]), cls=tuple(p["cls"]), trim_offsets=False,
                                                            add_prefix_space=p["add_prefix_space"])
    out = []
    for text in texts:
        ids, e = raw.encode(text).ids, loose.encode(text)
        assert ids == e.ids
        flat, last = [], 0
        for o in e.offsets[1:-1]:
            for v in o:
                flat.append(v - last)
                last = v
        out.append([ids, flat, raw.decode(ids, skip_special_tokens=False)])
    pack(folder / "expected.json.gz", out)
    hide(whole)
    (folder / "tokenizer.json").unlink()
    if name not in ("roberta-files", "distilbert"):
        pack(folder / "tokenizer.json.gz", whole)
    print(name, sum(f.stat().st_size for f in folder.iterdir()), sum(len(e[0]) for e in out), "ids")


def main():
    texts = lines(1200)
    pack(HERE / "lines.json.gz", texts)
    pack(HERE / "charsmap.gz", spm("nmt_nfkc")[1])
    for name, make in MODELS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            save(name, make(), texts)


if __name__ == "__main__":
    main()
