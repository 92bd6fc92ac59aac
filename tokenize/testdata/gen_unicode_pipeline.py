#!/usr/bin/env python3
"""Writes unicode_pipeline.json.gz from Hugging Face's `tokenizers`.

Run in this folder, with the `tokenizers` package (made with 0.22.2):  python3 gen_unicode_pipeline.py

Byte-level BPE splits at letters and numbers as its regular expressions see them, and SentencePiece tokenizers use
the normalisation forms; the library's Unicode tables for these are of other years than Go's. As gen_unicode.py
does, this script asks the library about every code point.
"""
import gzip
import json

from tokenizers import normalizers, pre_tokenizers

CODES = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
split = pre_tokenizers.ByteLevel(add_prefix_space=False)


def ranges(codes):
    out = []
    for code in codes:
        if out and out[-1][1] == code - 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


def joins(a, c):
    return len(split.pre_tokenize_str(a + c)) == 1


sets = {
    "letter": [c for c in CODES if joins("a", chr(c))],
    "number": [c for c in CODES if joins("1", chr(c))],
    "other": [c for c in CODES if joins("!", chr(c))],
}
forms = {}
for name in ["NFC", "NFD", "NFKC", "NFKD", "Nmt"]:
    f = getattr(normalizers, name)()
    forms[name] = {"%x" % c: f.normalize_str(chr(c)) for c in CODES
                   if not 0xAC00 <= c <= 0xD7A3 and f.normalize_str(chr(c)) != chr(c)}
sets["compatible"] = sorted(int(k, 16) for k in forms["NFKD"])
strip = normalizers.StripAccents()
sets["combining"] = [c for c in CODES if strip.normalize_str(chr(c)) == ""]

with open("unicode_pipeline.json.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
    z.write(json.dumps({"ranges": {k: ranges(v) for k, v in sets.items()}, "forms": forms}, separators=(",", ":")).encode())
