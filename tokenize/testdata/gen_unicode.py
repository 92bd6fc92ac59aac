#!/usr/bin/env python3
"""Writes unicode.json from Hugging Face's `tokenizers`.

Run in this folder, with the `tokenizers` package (made with 0.22.2):  python3 gen_unicode.py

BERT's normaliser and pre-tokeniser ask three questions of a character: is it
dropped by text cleaning, is it a non-spacing mark, is it punctuation. The
answers of `tokenizers` come from Unicode tables of about 2015, so neither Go's
tables nor Python's give the same ids. This script asks the library itself
about every code point: what it answers, with the case mapping and the canonical
decompositions, is what the tests compare ../unicode.go with.
"""
import json
import unicodedata

from tokenizers import normalizers, pre_tokenizers, __version__


def bert(**on):
    flags = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**flags, **on})


clean, chinese, accents, low = (bert(**{k: True}) for k in
                                ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"))
split, nfd = pre_tokenizers.BertPreTokenizer(), normalizers.NFD()
sets = {k: [] for k in ("removed", "space", "chinese", "mark", "punct")}
decomposed, lowered, white = {}, {}, []
for code in range(0x110000):
    if 0xD800 <= code <= 0xDFFF:
        continue
    c = chr(code)
    out = clean.normalize_str(c)
    assert out in ("", " ", c)
    if out == "":
        sets["removed"].append(code)
    if out == " ":
        sets["space"].append(code)
    if chinese.normalize_str(c) == f" {c} ":
        sets["chinese"].append(code)
    if accents.normalize_str(c) == "":
        sets["mark"].append(code)
    parts = [t for t, _ in split.pre_tokenize_str(f"a{c}b")]
    if parts == ["a", c, "b"]:
        sets["punct"].append(code)
    elif parts == ["a", "b"]:
        white.append(code)
    else:
        assert parts == [f"a{c}b"]
    if (out := low.normalize_str(c)) != c:
        lowered[f"{code:x}"] = out
    if (out := nfd.normalize_str(c)) != c and not 0xAC00 <= code <= 0xD7A3:  # Hangul: by formula
        decomposed[f"{code:x}"] = out
sets["white"] = white



def later(a, b):
    """Whether a has a higher combining class than b, neither class being 0."""
    return nfd.normalize_str(a + b) == b + a != a + b


def has_class(c):
    """Whether c has a combining class: it moves behind one of class 1, or before one of class 240."""
    return nfd.normalize_str(c) == c and (later(c, "\u0334") or later("\u0345", c))


# Combining classes, from the order in which two marks come out of NFD.
combining = [chr(c) for c in range(0x300, 0x110000) if not 0xD800 <= c <= 0xDFFF and has_class(chr(c))]
examples = {}
for c in combining:
    if unicodedata.combining(c):
        examples.setdefault(unicodedata.combining(c), c)
classes = {}
for c in combining:
    same = [k for k, e in examples.items() if not later(c, e) and not later(e, c)]
    assert len(same) == 1
    classes[f"{ord(c):x}"] = same[0]


def ranges(codes):
    out = []
    for code in codes:
        if out and out[-1][1] == code - 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


with open("unicode.json", "w") as f:
    f.write('{"tokenizers": "%s",\n"ranges": {\n' % __version__)
    f.write(",\n".join(f'"{k}": {json.dumps(ranges(v), separators=(",", ":"))}' for k, v in sets.items()))
    f.write("},\n")
    maps = [f'"{name}": {json.dumps(m, separators=(",", ":"))}'
            for name, m in (("lower", lowered), ("nfd", decomposed), ("class", classes))]
    f.write(",\n".join(maps) + "}\n")
