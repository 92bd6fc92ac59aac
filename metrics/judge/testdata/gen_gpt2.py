"""Makes gpt2/, a random GPT-2 of one layer, and what torch says of some texts.

    python3 gen_gpt2.py        # writes gpt2/ and expected.json beside this script

The weights are random and large, so that the numbers differ between texts. The tokenizer is a byte-level BPE,
learnt from the texts below. A text's log-probability is the sum over its tokens, behind one <|endoftext|>.
"""

import json
import pathlib

import onnx
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

HERE = pathlib.Path(__file__).resolve().parent
END = "<|endoftext|>"
TEXTS = ["the cat sat on the mat .", "the dog sat on the mat .", "the cat sat on a red mat .", "A café in Zürich, at 5:30!",
         "  two spaces before", "x", "the old dog sleeps in the house .", "don't stop: 猫 and 🙂"]
NAMES = ["input_ids", "attention_mask", "position_ids"]


class Logits(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, ids, mask, positions):
        return self.net(ids, attention_mask=mask, position_ids=positions, use_cache=False).logits


def tokenizer():
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder, tok.post_processor = decoders.ByteLevel(), processors.ByteLevel(trim_offsets=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tok.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=[END]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, bos_token=END, eos_token=END, unk_token=END)


def main():
    torch.manual_seed(11)
    tok = tokenizer()
    config = GPT2Config(vocab_size=len(tok), n_positions=48, n_embd=8, n_layer=1, n_head=2, initializer_range=0.6,
                        bos_token_id=tok.bos_token_id, eos_token_id=tok.eos_token_id, attn_implementation="eager")
    net = GPT2LMHeadModel(config).eval()
    out = HERE / "gpt2"
    out.mkdir(exist_ok=True)
    tok.backend_tokenizer.save(str(out / "tokenizer.json"), pretty=False)
    special = {"bos_token": END, "eos_token": END, "unk_token": END, "model_max_length": 48, "tokenizer_class": "GPT2Tokenizer"}
    (out / "tokenizer_config.json").write_text(json.dumps(special) + "\n")
    stated = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": len(tok), "n_positions": 48}
    (out / "config.json").write_text(json.dumps(stated) + "\n")
    x = torch.tensor([[1, 5, 7, 3]])
    axes = {k: {0: "batch", 1: "sequence"} for k in NAMES + ["logits"]}
    torch.onnx.export(Logits(net).eval(), (x, torch.ones_like(x), torch.arange(4)[None]), str(out / "model.onnx"),
                      input_names=NAMES, output_names=["logits"], dynamic_axes=axes, opset_version=14, dynamo=False)
    graph = onnx.load(out / "model.onnx")
    short = {}  # names say where in transformers a value came from
    for node in graph.graph.node:
        node.doc_string, node.name = "", ""
        del node.metadata_props[:]
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name and name not in NAMES + ["logits"]:
                    names[i] = short.setdefault(name, f"v{len(short)}")
    for weight in graph.graph.initializer:
        weight.name = short[weight.name]
    del graph.graph.value_info[:]
    onnx.save(graph, out / "model.onnx")
    expected = []
    with torch.no_grad():
        for text in TEXTS:
            ids = tok(text, add_special_tokens=False)["input_ids"]
            row = torch.tensor([[tok.bos_token_id] + ids])
            p = torch.log_softmax(net(row).logits[0, :-1].double(), -1)
            total = p.gather(1, row[0, 1:, None]).sum().item()
            expected.append({"text": text, "log_prob": total, "tokens": len(ids)})
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
