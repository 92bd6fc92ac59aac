"""Expected scores of 200 sentences on the model small, by ONNX Runtime and Hugging Face's tokenizers.

Pseudo-log-likelihood, the same with the later pieces of the word masked (PLL-word-l2r of Kauf and
Ivanova, ACL 2023), and the chain rules from both sides. Words are told apart by the tokenizer's own
word numbers. Nothing of infill takes part but the weights.

    infill model save small FOLDER
    python3 make_text_scores.py FOLDER > text_scores.json   # pip install onnxruntime tokenizers numpy
"""

import json
import sys

import numpy as np
import onnxruntime
from tokenizers import BertWordPieceTokenizer

WHO = ["The cartographer", "An interdisciplinary committee", "My grandmother", "The subcontractor",
       "Somebody", "The ornithologist's neighbour", "A traveller without luggage",
       "The kindergarten teacher", "The misunderstood accordionist", "Nobody in the cafeteria"]
DID = ["repainted the lighthouse", "misplaced a souvenir", "never apologised",
       "photographed seven hummingbirds", "sold the motorcycle", "overestimated the thunderstorm",
       "waited quietly", "bought two quesadillas", "unscrewed the doorknob", "whispered, then laughed"]
WHEN = ["yesterday.", "before the intermission!"]


def main(folder):
    tok = BertWordPieceTokenizer(folder + "/vocab.txt", lowercase=True)
    session = onnxruntime.InferenceSession(folder + "/model.onnx",
                                           providers=["CPUExecutionProvider"])
    names = {i.name for i in session.get_inputs()}
    mask = tok.token_to_id("[MASK]")

    def log(rows, at):
        feed = {"input_ids": rows, "attention_mask": np.ones_like(rows),
                "token_type_ids": np.zeros_like(rows)}
        logits = session.run(None, {k: v for k, v in feed.items() if k in names})[0]
        x = logits[np.arange(len(rows)), at].astype(np.float64)
        x -= x.max(axis=1, keepdims=True)
        return x - np.log(np.exp(x).sum(axis=1, keepdims=True))

    out = []
    for text in [f"{a} {b} {c}" for a in WHO for b in DID for c in WHEN]:
        enc = tok.encode(text)
        ids = np.array(enc.ids, dtype=np.int64)
        places = np.arange(1, len(ids) - 1)
        hidden = {
            "pll": [[p] for p in places],
            "within": [[q for q in places if q >= p and enc.word_ids[q] == enc.word_ids[p]]
                       for p in places],
            "left": [[q for q in places if q >= p] for p in places],
            "right": [[q for q in places if q <= p] for p in places],
        }
        scores = {"text": text}
        for name, sets in hidden.items():
            rows = np.tile(ids, (len(places), 1))
            for r, s in enumerate(sets):
                rows[r, s] = mask
            scores[name] = round(float(log(rows, places)[np.arange(len(places)), ids[places]].sum()), 5)
        out.append(scores)
    print("[\n" + ",\n".join(json.dumps(s) for s in out) + "\n]")


if __name__ == "__main__":
    main(sys.argv[1])
