#!/usr/bin/env python3
"""Writes WordPiece tokenizers whose text stage is not BERT's own but parts of it, as tutorials for training BERT from
scratch have them, and what Hugging Face's tokenizers make of every fifth line of ../hf/lines.json.gz with each.

    python3 make_wordpiece.py    # needs tokenizers

NAME.json      the tokenizer
expected.json.gz    by NAME, per line: ids, and the character offsets of the pieces
"""
import gzip
import json
import pathlib

from tokenizers import Tokenizer, models, normalizers as n, pre_tokenizers as p, processors, trainers

HERE = pathlib.Path(__file__).resolve().parent
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
KINDS = {
    "tutorial": (n.Sequence([n.NFD(), n.Lowercase(), n.StripAccents()]), p.Whitespace()),
    "composed": (n.Sequence([n.NFC(), n.BertNormalizer(lowercase=False, strip_accents=False)]), p.BertPreTokenizer()),
    "cleaned": (n.Sequence([n.BertNormalizer(lowercase=False, strip_accents=False), n.NFD(), n.StripAccents(),
                            n.Lowercase()]), p.Sequence([p.WhitespaceSplit(), p.Punctuation()])),
    "uncased": (n.BertNormalizer(), p.Whitespace()),
    "spaces": (n.Sequence([n.Strip(), n.BertNormalizer()]), p.WhitespaceSplit()),
    "bare": (None, p.Sequence([p.Whitespace(), p.BertPreTokenizer()])),
}


def main():
    lines = json.loads(gzip.decompress((HERE.parent / "hf" / "lines.json.gz").read_bytes()))
    expected = {}
    for name, (norm, pre) in KINDS.items():
        tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        if norm:
            tok.normalizer = norm
        tok.pre_tokenizer = pre
        tok.train_from_iterator(lines, trainers.WordPieceTrainer(vocab_size=600, limit_alphabet=250, show_progress=False,
                                                                 special_tokens=SPECIAL))
        tok.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
        tok.save(str(HERE / (name + ".json")), pretty=False)
        expected[name] = [[e.ids, e.offsets] for e in map(tok.encode, lines[::5])]
        print(name, tok.get_vocab_size(), sum(i == 1 for e in expected[name] for i in e[0]))
    (HERE / "expected.json.gz").write_bytes(gzip.compress(json.dumps(expected).encode(), mtime=0))


main()
