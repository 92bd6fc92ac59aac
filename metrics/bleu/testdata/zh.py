#!/usr/bin/env python3
"""Makes zh.json: 200 lines of mixed Chinese, Latin letters, numbers and signs, with the tokens that
sacrebleu's zh makes of each, and the BLEU of all against 200 others. Run once, from this folder:

    pip install sacrebleu && python3 zh.py
"""
import json
import random

import sacrebleu
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

# Ends of sacrebleu's ranges and their neighbours, which are not all what their comments say.
ODD = [0x2000, 0x2001, 0x20ac, 0x2a6d, 0x2a6e, 0x2f80, 0x2f81, 0x2fa1, 0x2fa2, 0x3400, 0x4db5, 0x4db6, 0x9fbb,
       0x9fbc, 0xfa2d, 0xfa2e, 0xfad9, 0xff00, 0xffef, 0x20000, 0x2f800, 0x2010, 0x2014, 0x2018, 0x2026, 0xa0]
WORDS = ["我们", "北京", "天气", "好", "的", "是", "不", "机器翻译", "。", "，", "、", "！", "（", "）", "１２３", "ＡＢ",
         "the", "GPU", "can't", "3.14", "1,000", "3-4", "10-", "a.b", ".", ",", "-", "(x)", "50%", "&amp;", "&quot;", "é"]


def line(r):
    parts = []
    for _ in range(r.randrange(1, 14)):
        parts.append(chr(r.choice(ODD)) if r.random() < 0.15 else r.choice(WORDS))
        parts.append(r.choice(["", "", " ", "  "]))
    return "".join(parts)


r, tok = random.Random(5), TokenizerZh()
lines = [line(r) for _ in range(200)]
refs = [line(r) if r.random() < 0.3 else l + r.choice(["", "好", "。", " x"]) for l in lines]
out = {"made with": f"sacrebleu {sacrebleu.__version__}",
       "lines": lines, "tokens": [tok(l) for l in lines], "refs": refs,
       "bleu": {case: sacrebleu.corpus_bleu(lines, [refs], tokenize="zh", lowercase=case == "lc").score
                for case in ("lc", "mixed")}}
with open("zh.json", "w") as f:
    json.dump(out, f, ensure_ascii=True, indent=0)
