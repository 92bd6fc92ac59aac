"""Makes classifier/ and encoder/: random BERT networks, small, with what transformers says of some texts.

    python3 make_networks.py        # writes the folders and expected.json beside this script

The weights are random and large, so that the numbers differ between texts. Both networks have the vocabulary
of the classifier's own list, not that of infill's models.
"""

import json
import pathlib

import torch
from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer

HERE = pathlib.Path(__file__).resolve().parent
VOCAB = "[PAD] [UNK] [CLS] [SEP] [MASK] a the film was good bad and dull ##ly ##ing fun ##ny sad . , not very".split()
TEXTS = ["The film was good and funny.", "the film was not good, badly dull.", "A sad film.", "Fun!", "not very sad"]
NAMES = ["input_ids", "attention_mask", "token_type_ids"]


class Hidden(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, ids, mask, types):
        return self.net(ids, attention_mask=mask, token_type_ids=types).last_hidden_state


def folder(name, net, output, config):
    out = HERE / name
    out.mkdir(exist_ok=True)
    (out / "vocab.txt").write_text("\n".join(VOCAB) + "\n")
    (out / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, "tokenizer_class": "BertTokenizer"}) + "\n")
    keep = ["architectures", "model_type", "vocab_size", "max_position_embeddings", "id2label", "problem_type", "pad_token_id"]
    (out / "config.json").write_text(json.dumps({k: config[k] for k in keep if config.get(k) is not None}, indent=1) + "\n")
    x = torch.tensor([[2, 5, 7, 3]])
    axes = {k: {0: "batch", 1: "sequence"} for k in NAMES} | {output: {0: "batch"}}
    torch.onnx.export(net, (x, torch.ones_like(x), torch.zeros_like(x)), str(out / "model.onnx"), input_names=NAMES,
                      output_names=[output], dynamic_axes=axes, opset_version=14, dynamo=False)


def main():
    torch.manual_seed(7)
    config = BertConfig(vocab_size=len(VOCAB), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=24, max_position_embeddings=24, type_vocab_size=2, initializer_range=0.5,
                        id2label={0: "dull", 1: "neither", 2: "lively"}, attn_implementation="eager")
    classifier, encoder = BertForSequenceClassification(config).eval(), BertModel(config, add_pooling_layer=False).eval()
    stated = config.to_dict() | {"model_type": "bert"}
    folder("classifier", classifier, "logits", stated | {"architectures": ["BertForSequenceClassification"]})
    folder("encoder", Hidden(encoder).eval(), "last_hidden_state", stated | {"architectures": ["BertModel"], "id2label": None})
    tok = BertTokenizer(str(HERE / "classifier" / "vocab.txt"), do_lower_case=True)
    with torch.no_grad():
        logits, means = [], []
        for text in TEXTS:
            x = tok(text, return_tensors="pt")
            logits.append(classifier(**x).logits[0])
            means.append(encoder(**x).last_hidden_state[0].mean(0))
        cosine = torch.nn.functional.cosine_similarity
        expected = {
            "texts": TEXTS,
            "softmax": [torch.log_softmax(z, -1).tolist() for z in logits],
            "sigmoid": [torch.nn.functional.logsigmoid(z).tolist() for z in logits],
            "cosine": [[cosine(a, b, dim=0).item() for b in means] for a in means],
        }
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
