"""Start values of a model with another vocabulary: its layers as they are, and a new table of word pieces.

A piece that both vocabularies have keeps its row and its bias. A continuation (##ing) of more than LETTERS letters that the
old vocabulary has as a word takes the row of that word. Any other piece gets the mean of the rows of the pieces that the old
vocabulary spells it with, or the mean of all rows where it has none. The biases of pieces that are new come from their frequency in
the text, by the straight line of bias over log frequency that fits the shared pieces best. Writes DIR/checkpoint.pt, for
evaluate.py and prune.py, and train.py goes on from it.
"""

import argparse

import numpy as np
import torch

import data
import evaluate
import prepare
import train

LETTERS = 3  # of a short continuation, which says little as a word
COUNTED = 20_000_000  # pieces of text to count


def continuation(letters: str, known: dict[str, int]) -> list[int]:
    """The ids of the ## pieces that spell these letters, the longest first; none where they cannot."""
    out = []
    while letters:
        size = next((n for n in range(len(letters), 0, -1) if "##" + letters[:n] in known), 0)
        if not size:
            return []
        out.append(known["##" + letters[:size]])
        letters = letters[size:]
    return out


def spelling(pieces: list[str], vocab: str) -> list[list[int]]:
    """For each piece the ids, in a vocab.txt, of the pieces whose mean stands for it; may be none."""
    known, unknown = {w: i for i, w in enumerate(data.vocabulary(vocab))}, data.special(vocab).unk
    words = prepare.tokenizer(vocab).encode_batch(pieces, add_special_tokens=False)
    out = []
    for piece, word in zip(pieces, words):
        letters = piece.removeprefix("##")
        if piece in known:
            out.append([known[piece]])
        elif letters == piece:
            out.append([i for i in word.ids if i != unknown])
        elif letters in known and len(letters) > LETTERS:
            out.append([known[letters]])
        else:
            out.append(continuation(letters, known))
    return out


def revocab(state: dict, config: dict, vocab: str, pieces: list[str], count: np.ndarray) -> tuple[dict, dict]:
    """The state and the configuration with these pieces in place of those of the old vocab.txt.

    count [pieces] says how often the text has each piece.
    """
    table, bias = state["bert.embeddings.word_embeddings.weight"], state["cls.predictions.bias"]
    shared = np.isin(pieces, data.vocabulary(vocab))
    frequency = np.log(count + 0.5)
    parts = spelling(pieces, vocab)
    own = bias[[p[0] for p, s in zip(parts, shared) if s]].numpy()
    slope, height = np.polyfit(frequency[shared], own, 1)
    biases = slope * frequency + height
    biases[shared] = own
    print(f"{shared.sum()} of {len(pieces)} pieces are in both, {count[shared].sum() / count.sum():.3f} of the text; "
          f"bias {slope:.3f} x log frequency {height:+.3f}")  # fmt: skip
    mean = table.mean(0)
    new = {
        "bert.embeddings.word_embeddings.weight": torch.stack([table[p].mean(0) if p else mean for p in parts]),
        "cls.predictions.bias": torch.from_numpy(biases.astype(np.float32)),
    }
    return {**state, **new}, {**config, "vocab_size": len(pieces)}


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", required=True, help="model folder, with its vocab.txt")
    p.add_argument("--vocab", required=True, help="the new vocab.txt")
    p.add_argument("--data", required=True, help="folder that prepare.py wrote with the new vocabulary")
    p.add_argument("--out", required=True, help="folder for checkpoint.pt")
    a = p.parse_args()
    net, pieces = evaluate.load(a.model), data.vocabulary(a.vocab)
    text = np.load(f"{a.data}/pieces.npy", mmap_mode="r")[:COUNTED]
    state, config = revocab(net.state_dict(), net.config, f"{a.model}/vocab.txt", pieces, np.bincount(text, minlength=len(pieces)))
    train.fresh(state, config, 0, a.out)


if __name__ == "__main__":
    main()
