"""Writes a BERT-base-sized model with random weights: model.onnx, model.safetensors, config.json
and a vocabulary.

The weights are drawn as BERT's are before training. The output bias follows Zipf's law, so that the
model prefers some words to others as text does and a sampler has something to find. The vocabulary
is the one given, filled up to BERT's 30,522 with words that do not occur.
"""

import argparse
import json
import pathlib

import torch
import transformers


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--vocab", required=True, help="vocab.txt of an uncased BERT")
    p.add_argument("--out", required=True)
    args = p.parse_args()
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)

    torch.manual_seed(1)
    config = transformers.BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model = transformers.BertForMaskedLM(config).eval().requires_grad_(False)
    rank = torch.arange(config.vocab_size, dtype=torch.float32)
    model.cls.predictions.bias.copy_(-(rank + 10).log())
    model.save_pretrained(out)

    words = pathlib.Path(args.vocab).read_text(encoding="utf-8").splitlines()
    words += [f"zq{n}" for n in range(config.vocab_size - len(words))]
    (out / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    special = {k + "_token": f"[{k.upper()}]" for k in ("mask", "pad", "unk", "cls", "sep")}
    tokenizer = {"do_lower_case": True, **special, "model_max_length": 512, "tokenizer_class": "BertTokenizer"}
    (out / "tokenizer_config.json").write_text(json.dumps(tokenizer, indent=1) + "\n")

    model.set_attn_implementation("eager")
    ids = torch.ones(2, 7, dtype=torch.int64)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    torch.onnx.export(
        model, (ids, ids, 0 * ids), str(out / "model.onnx"), input_names=names, output_names=["logits"],
        dynamic_axes={n: {0: "batch", 1: "sequence"} for n in [*names, "logits"]}, opset_version=14, dynamo=False,
    )


if __name__ == "__main__":
    main()
