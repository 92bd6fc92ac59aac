#!/usr/bin/env python3
"""Writes small tokenizers and what Hugging Face's `tokenizers` makes of nasty lines.

  python3 gen_expected.py                      the folders beside this script
  python3 gen_expected.py --vocab F --cased --lines TEXT -n 5000 --out FOLDER
                                               the same for another vocabulary, with lines of a text file

Made with tokenizers 0.22.2. Every folder holds a tokenizer as a model's export
would, and expected.jsonl: text, ids, character offsets and word numbers.
"""
import argparse
import json
import os
import random

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = """the of and to in was he is that it on as with for his had be at by not this are but from or have an they
which one you were all her she there would their we him been has when who will no more if out so up said what its
about than into them can only other time new some could these two may first then do man any like my now over such our
me even most made after also did many must before back see through way where get much go well your know should down
work year because come people just say each those take day good how long life men house tree river walked dog cat
walk talk play jump sing work read write open close table chair street city garden music water light night morning
Paris London Anna Peter Monday April Hello World cafe naive uber garcon ecole""".split()
TAILS = """s ed ing er est ly ness ment tion able ful less un re in dis al ic ous ive en ize ist ism ity ant ent ance
ence ary ory ate age ship hood ward wise""".split()
EXTRA = ("àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœšžłđığ" "αβγδεζηθικλμνξοπρστυφχψως" "абвгдежзийклмнопрстуфхцчшщъыьэюя"
         "אבגדהוזחטיכלמנסעפצקרשת" "ابتثجحخدذرزسشصضطظعغفقكلمنهوي" "अआइकखगघचजटडतदनपबमयरलवसहािीुे" "กขคงจชดตนบปมยรลวสหา"
         "一二三四五六七八九十人大中文日本語東京北世界你好我愛" "あいうえおかきくけこさしすせそ" "アイウエオカキクケコ" "ﬁ①²³½™€£¥°±×÷…—–‘’“”«»¿¡、。，！？ℝ"
         + "".join(map(chr, list(range(0x1100, 0x1113)) + list(range(0x1161, 0x1176)) + list(range(0x11A8, 0x11C3)))))


def vocabulary(cased):
    ascii_ = [chr(c) for c in range(33, 127)]
    if not cased:
        ascii_ = [c for c in ascii_ if not c.isupper()]
    words = WORDS + [w.capitalize() for w in WORDS[:60]] if cased else [w.lower() for w in WORDS]
    extra = [c for c in EXTRA if cased or normalizers.BertNormalizer(lowercase=True).normalize_str(c).strip() == c]
    out = SPECIAL + [f"[unused{i}]" for i in range(8)] + ascii_ + extra + words
    out += ["##" + c for c in ascii_ + extra if c.isalnum() and not 0x3400 <= ord(c) < 0xA000] + ["##" + t for t in TAILS]
    return list(dict.fromkeys(out))


def build(pieces, clean=True, chinese=True, strip=None, lower=True, added=(), mask="[MASK]"):
    t = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(
        clean_text=clean, handle_chinese_chars=chinese, strip_accents=strip, lowercase=lower)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    t.add_special_tokens([AddedToken(s, normalized=False, special=True)
                          for s in SPECIAL[:4] + [mask]])
    for a in added:
        (t.add_special_tokens if a.special else t.add_tokens)([a])
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", t.token_to_id("[CLS]")), ("[SEP]", t.token_to_id("[SEP]"))])
    return t


def parts(added):
    spell = SPECIAL + ["<mask>", "[MASK", "MASK]", "[mask]", "##ing", "[unused1]"] + [a.content for a in added]
    marks = [chr(c) for c in [*range(0x300, 0x370), 0x591, 0x64B, 0x94D, 0xE31, 0x302E, 0x3099, 0x1D165, 0x1D16D, 0x20E3]]
    white = list(" \t\n\r\x0b\x0c\x85\xa0\u1680\u2003\u2028\u2029\u202f\u3000")
    control = list("\x00\x01\x07\x1f\x7f\x80\xad\u200b\u200d\u2060\ufeff\ufffd\ue000\U000e0001\u061c")
    blocks = [(0x21, 0x7E), (0xA1, 0x24F), (0x250, 0x2FF), (0x370, 0x52F), (0x590, 0x6FF), (0x700, 0x1FFF), (0x2000, 0x2BFF),
              (0x3000, 0x33FF), (0x3400, 0x9FFF), (0xA000, 0xABFF), (0xAC00, 0xD7A3), (0xF900, 0xFFFF), (0x10000, 0x1FFFF),
              (0x20000, 0x2FA1F), (0x30000, 0x10FFFF)]

    def char(r):
        while True:
            c = r.randint(*r.choice(blocks))
            if not 0xD800 <= c <= 0xDFFF:
                return chr(c)

    def word(r):
        w = r.choice(WORDS)
        w += r.choice(TAILS) * (r.random() < 0.4)
        return r.choice([w, w, w.capitalize(), w.upper(), "".join(c + r.choice(marks) * (r.random() < .3) for c in w)])

    makers = [(30, word), (12, lambda r: " "), (4, lambda r: r.choice(white)), (3, lambda r: r.choice(control)),
              (8, lambda r: r.choice(spell)), (6, lambda r: r.choice(".,;:!?'\"()[]-_/#$%&*+<>=@\\^`{|}~")),
              (8, char), (4, lambda r: r.choice(EXTRA)), (4, lambda r: r.choice(EXTRA).upper()), (4, lambda r: r.choice(marks)),
              (1, lambda r: r.choice("aéxß가中") * r.randint(95, 105)), (1, lambda r: "".join(char(r) for _ in range(6)))]
    weights, makers = [m[0] for m in makers], [m[1] for m in makers]

    def line(r):
        sep = r.choice(["", "", " "])
        return sep.join(m(r) for m in r.choices(makers, weights, k=r.randint(1, 14)))
    return line


def write(folder, tok, n, added=(), lines=()):
    os.makedirs(folder, exist_ok=True)
    r, make = random.Random(7), parts(added)
    with open(os.path.join(folder, "expected.jsonl"), "w") as f:
        for text in [*lines, *(make(r) for _ in range(n))]:
            e = tok.encode(text)
            d = dict(text=text, ids=e.ids, offsets=e.offsets, words=[-1 if w is None else w for w in e.word_ids],
                     decoded=tok.decode(e.ids, skip_special_tokens=False))
            f.write(json.dumps(d, separators=(",", ":")) + "\n")


def save(folder, pieces=None, tok=None, config=None):
    os.makedirs(folder, exist_ok=True)
    if pieces:
        with open(os.path.join(folder, "vocab.txt"), "w") as f:
            f.write("".join(p + "\n" for p in pieces))
    if tok:
        tok.save(os.path.join(folder, "tokenizer.json"), pretty=False)
    if config:
        with open(os.path.join(folder, "tokenizer_config.json"), "w") as f:
            json.dump(config, f, indent=1)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--vocab")
    a.add_argument("--cased", action="store_true")
    a.add_argument("--lines")
    a.add_argument("-n", type=int, default=250)
    a.add_argument("--out")
    a = a.parse_args()
    if a.vocab:
        pieces = open(a.vocab, encoding="utf-8").read().splitlines()
        tok = build(pieces, lower=not a.cased)
        lines = [s.rstrip("\n") for s in open(a.lines, encoding="utf-8")] if a.lines else []
        save(a.out, pieces=pieces)
        write(a.out, tok, a.n, lines=lines)
        return
    # A bare vocab.txt, uncased.
    pieces = vocabulary(False)
    save("uncased", pieces=pieces)
    write("uncased", build(pieces), 350)
    # A tokenizer.json, cased, with added tokens of every kind.
    added = [AddedToken("New York", normalized=True), AddedToken("<ent>", special=True, normalized=False),
             AddedToken("co", single_word=True), AddedToken("<l>", lstrip=True, normalized=False),
             AddedToken("<r>", rstrip=True, normalized=False), AddedToken("<lr>", lstrip=True, rstrip=True, normalized=False),
             AddedToken("<ent>2", special=True, normalized=False), AddedToken("Été", normalized=True)]
    pieces = vocabulary(True)
    tok = build(pieces, lower=False, added=added)
    save("cased-json", tok=tok, config={"model_max_length": 512, "tokenizer_class": "BertTokenizer"})
    write("cased-json", tok, 350, added=added)
    # A tokenizer.json, uncased, with added tokens that are matched after normalisation.
    added = [AddedToken("New York", normalized=True), AddedToken("Été", normalized=True),
             AddedToken("Über", normalized=True, single_word=True), AddedToken("中文", normalized=True)]
    pieces = vocabulary(False)
    tok = build(pieces, added=added)
    save("uncased-json", tok=tok)
    write("uncased-json", tok, 200, added=added)
    # A vocab.txt with a configuration that turns every switch the unusual way.
    pieces = [p.replace("[MASK]", "<mask>") for p in vocabulary(True)]
    tok = build(pieces, strip=False, chinese=False, mask="<mask>")
    save("switches", pieces=pieces, config={
        "do_lower_case": True, "strip_accents": False, "tokenize_chinese_chars": False, "mask_token": "<mask>",
        "model_max_length": 1000000000000000019884624838656})
    write("switches", tok, 200)


if __name__ == "__main__":
    main()
