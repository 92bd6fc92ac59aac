"""Builds the WordPiece vocabulary: the most frequent whole words, and for the rest characters and merges.

Whole words matter for filling blanks: a blank is one piece, so a word that is no piece can
never be filled in. WHOLE of the slots therefore go to the most frequent words; the others hold every frequent
character (alone and as ##continuation) and the merges that byte-pair encoding finds on the
words left over.
"""

import argparse
import collections
import heapq
import itertools
import multiprocessing

import text

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WHOLE = 0.80
CHAR_MIN = 1000  # a character seen less often than this in the corpus is [UNK]


def _count(lines: list[str]) -> collections.Counter:
    c: collections.Counter = collections.Counter()
    for line in lines:
        c.update(text.words(line))
    return c


def count_words(path: str, processes: int) -> collections.Counter:
    """How often each basic token occurs in the file."""
    total: collections.Counter = collections.Counter()
    with open(path, encoding="utf-8") as f, multiprocessing.Pool(processes) as pool:
        for c in pool.imap(_count, iter(lambda: list(itertools.islice(f, 20000)), [])):
            total.update(c)
    return total


def merges(counts: dict[str, int], number: int) -> list[str]:
    """The pieces that `number` byte-pair merges make on the counted words, in the order learnt."""
    symbols = [[w[0]] + ["##" + c for c in w[1:]] for w in counts]
    weight = list(counts.values())
    pairs: collections.Counter = collections.Counter()
    where: dict = collections.defaultdict(set)
    for i, s in enumerate(symbols):
        for p in zip(s, s[1:]):
            pairs[p] += weight[i]
            where[p].add(i)
    heap = [(-n, p) for p, n in pairs.items()]
    heapq.heapify(heap)
    out: list[str] = []
    seen = set()
    while heap and len(out) < number:
        n, p = heapq.heappop(heap)
        if -n != pairs[p]:  # an old entry: put it back with its present count
            if pairs[p] > 0:
                heapq.heappush(heap, (-pairs[p], p))
            continue
        new = p[0] + p[1].removeprefix("##")
        if new not in seen:
            seen.add(new)
            out.append(new)
        for i in where.pop(p):
            s, j = symbols[i], 0
            for q in zip(s, s[1:]):
                pairs[q] -= weight[i]
            merged = []
            while j < len(s):
                if j + 1 < len(s) and (s[j], s[j + 1]) == p:
                    merged.append(new)
                    j += 2
                else:
                    merged.append(s[j])
                    j += 1
            symbols[i] = merged
            for q in zip(merged, merged[1:]):
                pairs[q] += weight[i]
                where[q].add(i)
                if new in q:
                    heapq.heappush(heap, (-pairs[q], q))
    return out


def build(counts: dict[str, int], size: int) -> list[str]:
    """A vocabulary of exactly `size` pieces (fewer if the text has too few words)."""
    chars: collections.Counter = collections.Counter()
    for w, n in counts.items():
        for c in w:
            chars[c] += n
    ascii_signs = {c for c in map(chr, range(33, 127)) if not c.isupper()}
    alphabet = sorted(ascii_signs | {c for c, n in chars.items() if n >= CHAR_MIN})
    vocab = dict.fromkeys(SPECIAL + alphabet + ["##" + c for c in alphabet if c.isalnum()])
    ranked = sorted((w for w in counts if set(w) <= set(alphabet)), key=lambda w: (-counts[w], w))
    vocab.update(dict.fromkeys(ranked[: max(0, int(size * WHOLE))]))
    rest = {w: counts[w] for w in ranked if w not in vocab and counts[w] >= 5 and len(w) <= 30}
    for piece in itertools.chain(merges(rest, size), ranked):
        if len(vocab) >= size:
            break
        vocab[piece] = None
    return list(vocab)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--corpus", required=True, help="text, one line a sentence or paragraph")
    p.add_argument("--out", required=True, help="vocab.txt to write")
    p.add_argument("--size", type=int, default=16384)
    p.add_argument("--processes", type=int, default=2)
    a = p.parse_args()
    vocab = build(count_words(a.corpus, a.processes), a.size)
    with open(a.out, "w", encoding="utf-8") as f:
        f.writelines(v + "\n" for v in vocab)


if __name__ == "__main__":
    main()
