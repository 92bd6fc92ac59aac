#!/usr/bin/env python3
"""Tokens per second of Hugging Face's tokenizers, one thread, one text at a time, on what BenchmarkKinds encodes.

  python3 speed.py [NAME...]     # the texts are those of ../../bench_test.go
"""
import base64
import gzip
import json
import os
import pathlib
import re
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
source = (HERE.parent.parent / "bench_test.go").read_text()
block = source[source.index("var passages"):]
texts = [json.loads(line.strip().rstrip(",")) for line in block[:block.index("\n}")].splitlines()[1:]]
rules = base64.b64encode(gzip.open(HERE / "charsmap.gz").read())
for folder in [HERE / n for n in sys.argv[1:]] or sorted(HERE.iterdir()):
    file = folder / "tokenizer.json.gz"
    if not file.exists():
        continue
    tok = Tokenizer.from_str(re.sub(b"@charsmap", lambda _: rules, gzip.open(file).read()).decode())
    n, start = 0, time.perf_counter()
    while time.perf_counter() - start < 1:
        for t in texts:
            n += len(tok.encode(t).ids)
    print(f"{folder.name:16} {n / (time.perf_counter() - start):12.0f} tokens/s")
