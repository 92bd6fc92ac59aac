"""Plain text to BERT words: normalisation, sentence splitting, and two tokenised house styles.

The corpus is ordinary running text. Many NLP data sets are not: they are kept as
Penn-Treebank tokens (`` do n't ''), or with the joiners of WikiText (two @-@ third).
A share of the training lines is rewritten into these styles, so that the model knows them.
"""

import re
import sys
import unicodedata

# BERT's punctuation: every ASCII sign that is no letter and no digit, and all of Unicode's P*.
_PUNCT = "".join(
    chr(c)
    for c in range(sys.maxunicode + 1)
    if (c < 128 and not chr(c).isalnum() and 32 < c < 127) or unicodedata.category(chr(c)).startswith("P")
)
_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ceaf\U0002f800-\U0002fa1f"
_WORD = re.compile(f"[^\\s{re.escape(_PUNCT)}{_CJK}]+|[{re.escape(_PUNCT)}{_CJK}]")


def normalize(text: str) -> str:
    """Lower case without accents or control characters, as BERT's uncased models have it."""
    text = unicodedata.normalize("NFD", text.lower())
    return "".join(c for c in text if c.isascii() or unicodedata.category(c) not in ("Mn", "Cc", "Cf"))


def words(text: str) -> list[str]:
    """BERT's basic tokens of a text: runs of letters and digits, and single punctuation signs."""
    return _WORD.findall(normalize(text))


# A sentence ends at . ! ? (with closing quotes or brackets) before a space and a capital, digit or quote.
_END = re.compile(r"(?<=[.!?])([\"')\]]*)\s+(?=[\"'(\[`]*[A-Z0-9])")
_ABBREVIATION = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Prof|Gen|Col|Sgt|Lt|Capt|Rev|vs|Jr|Sr|No|Vol|Fig|Mt)\.$")


def sentences(line: str) -> list[str]:
    """The sentences of a line, in order."""
    out, start = [], 0
    for m in _END.finditer(line):
        head = line[start : m.end(1)]
        if _ABBREVIATION.search(head):
            continue
        out.append(head)
        start = m.end()
    out.append(line[start:])
    return out


_CONTRACTION = [
    (re.compile(r"(?i)\b(ca|wo|sha)(n't)\b"), r"\1 \2"),
    (re.compile(r"(?i)([a-z])(n't)\b"), r"\1 \2"),
    (re.compile(r"(?i)([a-z])('(?:s|re|ve|ll|d|m))\b"), r"\1 \2"),
]


def treebank(line: str) -> str:
    """The line in Penn-Treebank style: do n't, it 's, and `` quotes ''."""
    for pattern, to in _CONTRACTION:
        line = pattern.sub(to, line)
    line = re.sub(r"(^|[\s(\[-])\"(?=\S)", r"\1`` ", line)
    return line.replace('"', " ''")


def wikitext(line: str) -> str:
    """The line in the style of WikiText-103: spaced possessives, @-@ @,@ @.@ inside words and numbers."""
    for pattern, to in _CONTRACTION[2:]:
        line = pattern.sub(to, line)
    line = re.sub(r"(?<=\w)-(?=\w)", " @-@ ", line)
    return re.sub(r"(?<=\d)([.,])(?=\d)", r" @\1@ ", line)


_NARRATIVE = re.compile(r"(?i)\b(?:i|you|she|her|he|him|said|my|me|your)\b|\"")


def narrative(line: str) -> bool:
    """Whether the line reads like fiction or talk: at least one pronoun or quote in 16 words."""
    return 16 * len(_NARRATIVE.findall(line)) >= len(line.split())
