#!/usr/bin/env python3
"""Makes the folder unmarked: a model whose tokenizer is GPT-2's with a mask behind it, as masked diffusion models have
it (MDLM, LLaDA). Nothing is put before or after a text, and there is no token for it. The graph is the fixture eurobert,
which is of LLaDA's kind. expected.json is as architectures/make_folders.py has it.

    python3 make_unmarked.py    # needs tokenizers, onnxruntime
"""
import json
import pathlib

import numpy as np
import onnxruntime
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

FOLDER, FIXTURE, SIZE = pathlib.Path(__file__).resolve().parent / "unmarked", "eurobert", 97
WORDS = "the cat sat on mat a dog ran old man saw red and she to".split()
TEXTS = ["the cat sat on the mat.", "a dog ran", "the", "The old man saw a red cat, and she sat.", " on the mat"]
MASKED = ["[MASK]", "[MASK] cat ran", "the [MASK] sat on the[MASK]"]


def tokenizer():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    lines = [" ".join(WORDS[i % len(WORDS)] for i in range(k, k + 7)) for k in range(200)] + [" ".join("abcdefghijklmnopqrstuvwxyzT.,'")] * 20
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=SIZE - 2, show_progress=False))
    t.post_processor, t.decoder = processors.ByteLevel(trim_offsets=False), decoders.ByteLevel()
    t.add_special_tokens(["[UNK]", AddedToken("[MASK]", lstrip=True, special=True)])  # GPT-2 itself knows all bytes
    assert t.token_to_id("[MASK]") == t.get_vocab_size() - 1 == SIZE - 1
    return t


def main():
    FOLDER.mkdir(exist_ok=True)
    t = tokenizer()
    t.save(str(FOLDER / "tokenizer.json"))
    (FOLDER / "tokenizer_config.json").write_text('{"mask_token": "[MASK]", "unk_token": "[UNK]"}\n')
    (FOLDER / "config.json").write_text(json.dumps(dict(architectures=["MDLM"], model_type="mdlm", hidden_size=24, vocab_size=SIZE)) + "\n")
    session = onnxruntime.InferenceSession(str(FOLDER.parents[1] / "onnxgrad" / "testdata" / f"{FIXTURE}.onnx"), providers=["CPUExecutionProvider"])
    mask = t.token_to_id("[MASK]")

    def log_probs(rows):
        rows = np.array(rows)
        feeds = {"input_ids": rows, "attention_mask": np.ones_like(rows)}
        logits = session.run(None, {i.name: feeds[i.name] for i in session.get_inputs()})[0].astype(np.float64)
        top = logits.max(-1, keepdims=True)
        return logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))

    out = dict(fixture=FIXTURE, scores=[], masked=[])
    for text in TEXTS:
        ids = t.encode(text).ids
        lp = log_probs([[mask if i == p else v for i, v in enumerate(ids)] for p in range(len(ids))])
        out["scores"].append(dict(text=text, ids=ids, log_prob=[round(float(lp[p, p, v]), 6) for p, v in enumerate(ids)]))
    for text in MASKED:
        ids = t.encode(text).ids
        lp = log_probs([ids])[0]
        best = [[[int(v), round(float(lp[p, v]), 6)] for v in np.argsort(-lp[p])[:3]] for p, v in enumerate(ids) if v == mask]
        out["masked"].append(dict(text=text, ids=ids, best=best))
    (FOLDER / "expected.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
