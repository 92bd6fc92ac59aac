"""Makes fillmask.json: what the fill-mask pipeline of transformers answers with tiny-bert.

The weights come from mlm/testdata/tiny-bert/model.onnx, as in mlm/testdata/make_expected.py. Needs
torch, transformers, onnx, onnxruntime.

    python3 make_fillmask.py        # writes fillmask.json
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
MLM = HERE.parent.parent / "mlm" / "testdata"
sys.path.insert(0, str(MLM))

import make_expected  # noqa: E402
from transformers import BertTokenizer, FillMaskPipeline  # noqa: E402

CASES = [
    {"inputs": "the [MASK] sleeps in the house ."},
    {"inputs": "the [MASK] sleeps in the [MASK] .", "parameters": {"top_k": 3}},
    {"inputs": ["the dog [MASK] .", "a [MASK] eats the [MASK] ."], "parameters": {"top_k": 2}},
    {"inputs": ["the dog [MASK] in the house ."]},
    {"inputs": "The [MASK] sleeps .", "parameters": {"targets": ["dog", "cat", "fish", "dog"]}},
    {"inputs": "the [MASK] sleeps , the [MASK] eats", "parameters": {"targets": "cat", "top_k": 4}},
    # Blanks between letters and marks: the pipeline cuts what follows a blank as if a word began.
    {"inputs": "the cow[MASK]a dog sees him ."},
    {"inputs": "the dog[MASK]s in the house ."},
    {"inputs": "the[MASK]dog sleeps in[MASK]the house .", "parameters": {"top_k": 3}},
    {"inputs": "the big[MASK]fox runs, she walks[MASK]she sings.", "parameters": {"top_k": 3}},
    {"inputs": "[MASK]he saw the sea."},
    {"inputs": "a cat eats[MASK].", "parameters": {"targets": ["fish", "banana", ","]}},
]


def main():
    config = json.loads((MLM / "tiny-bert" / "tokenizer_config.json").read_text())
    tokenizer = BertTokenizer(str(MLM / "tiny-bert" / "vocab.txt"), do_lower_case=config.get("do_lower_case", True))
    pipeline = FillMaskPipeline(model=make_expected.load().float(), tokenizer=tokenizer, device="cpu")
    out = []
    for case in CASES:
        out.append({"request": case, "answer": pipeline(case["inputs"], **case.get("parameters", {}))})
    (HERE / "fillmask.json").write_text(json.dumps(out, indent=1) + "\n")


main()
