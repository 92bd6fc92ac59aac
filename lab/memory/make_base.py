"""Makes exports of randomly initialised BERTs of real size, to measure memory and the time of loading.

    python3 make_base.py FOLDER [--size base|large|tiny] [--external] [--dynamo]

writes model.onnx (with model.onnx.data beside it if --external), config.json and a vocab.txt of as many made-up words as the
model has rows. Needs torch and transformers, and onnx for --external. The weights mean nothing, so that
the folder need not be kept: 438 MB for base, 1.3 GB for large.
"""

import argparse
import json
import pathlib
import warnings

import torch
import transformers

SIZES = {
    "base": dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072),
    "large": dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096),
    "tiny": dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64),
}
VOCABULARY = 30522
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
NAMES = ["input_ids", "attention_mask", "token_type_ids"]


class Logits(torch.nn.Module):
    """The model under the names that its inputs have in the export."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits


def words():
    """Pronounceable strings, each once, in the order of a vocabulary."""
    consonants, vowels = "bdfgklmnprstvz", "aeiou"
    syllables = [c + v for c in consonants for v in vowels]
    out = list(SPECIAL) + list("abcdefghijklmnopqrstuvwxyz.,") + ["##" + c for c in "abcdefghijklmnopqrstuvwxyz"] + ["the", "old", "sat", "on", "and"]
    for a in syllables:
        for b in syllables:
            for c in ["", *syllables]:
                if len(out) == VOCABULARY:
                    return out
                out.append(a + b + c)
    raise ValueError("not enough syllables")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--size", choices=SIZES, default="base")
    p.add_argument("--external", action="store_true", help="weights in a file beside the model")
    p.add_argument("--dynamo", action="store_true", help="torch's newer exporter")
    o = p.parse_args()
    warnings.filterwarnings("ignore")
    o.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    config = transformers.BertConfig(vocab_size=VOCABULARY, **SIZES[o.size])
    model = transformers.BertForMaskedLM(config).eval()
    x = torch.arange(5, 21).reshape(2, 8)
    inputs = (x, torch.ones_like(x), torch.zeros_like(x))
    file = str(o.folder / "model.onnx")
    if o.dynamo:
        axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence", max=510)}
        torch.onnx.export(Logits(model), inputs, file, input_names=NAMES, output_names=["logits"], dynamic_shapes=(axes,) * 3,
                          opset_version=18, dynamo=True, external_data=o.external, verbose=False)
    else:
        torch.onnx.export(Logits(model), inputs, file, input_names=NAMES, output_names=["logits"], opset_version=14, dynamo=False,
                          dynamic_axes={k: {0: "batch", 1: "sequence"} for k in NAMES + ["logits"]})
        if o.external:
            import onnx

            graph = onnx.load(file)
            onnx.save_model(graph, file, save_as_external_data=True, location="model.onnx.data")
    w = words()
    (o.folder / "vocab.txt").write_text("\n".join(w) + "\n")
    (o.folder / "config.json").write_text(json.dumps({
        "architectures": ["BertForMaskedLM"], "model_type": "bert", "vocab_size": VOCABULARY, "max_position_embeddings": 512}) + "\n")
    (o.folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, "model_max_length": 512}) + "\n")
    print(sum(q.numel() for q in model.parameters()), "parameters,", (o.folder / "model.onnx").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
