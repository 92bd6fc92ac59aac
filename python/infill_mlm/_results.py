"""What the program found, as Python values. Each has the whole record beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Iterator, Sequence, overload


@dataclass(frozen=True)
class Filling:
    """One way to fill the blanks of a text."""

    text: str
    score: float  # in nats, nearer to 0 is likelier
    score_per_token: float
    tokens: list[str]  # the words of each blank, as the model spells them
    spans: list[tuple[int, int]]  # their places in text, in characters
    probability: float | None  # of a single blank: its share among all fillings
    record: dict[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Filled(Sequence[Filling]):
    """The fillings of a text, best first."""

    text: str  # with its blanks
    fillings: list[Filling]
    record: dict[str, Any] = field(repr=False, compare=False)

    @overload
    def __getitem__(self, index: int) -> Filling: ...

    @overload
    def __getitem__(self, index: slice) -> list[Filling]: ...

    def __getitem__(self, index: int | slice) -> Filling | list[Filling]:
        return self.fillings[index]

    def __len__(self) -> int:
        return len(self.fillings)

    def __iter__(self) -> Iterator[Filling]:
        return iter(self.fillings)


@dataclass(frozen=True)
class Piece:
    """A piece of a text, and its log-probability in nats."""

    piece: str
    log_prob: float


@dataclass(frozen=True)
class Word:
    """A word of a text. Its pieces are masked together with the later ones."""

    word: str
    start: int  # its place in the text, in characters
    end: int
    pieces: str  # with spaces between
    score: float | None  # in nats; None for a word without a piece of its own
    surprisal_bits: float | None


@dataclass(frozen=True)
class Pair:
    """Two texts that were compared."""

    good: str
    bad: str
    good_score: float
    bad_score: float
    difference: float
    record: dict[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Tokens:
    """The pieces of a text, with the special ones around it."""

    tokens: list[str]
    ids: list[int]
    spans: list[tuple[int, int]]  # their places in the text, in characters


@dataclass(frozen=True)
class Candidate:
    """A candidate for the blank of a text."""

    candidate: str
    text: str
    score: float
    share: float  # among all candidates, from 0 to 1


@dataclass(frozen=True)
class Scored:
    """The score of a text; of one with a blank, its candidates, best first."""

    text: str
    score: float | None
    score_per_token: float | None
    pieces: list[Piece]
    words: list[Word]  # with words=True
    candidates: list[Candidate]
    record: dict[str, Any] = field(repr=False, compare=False)


def filled(record: dict[str, Any]) -> Filled:
    """The fillings of a record."""
    return Filled(record["text"], [_filling(f) for f in record.get("fillings", ())], record)


def _filling(f: dict[str, Any]) -> Filling:
    return Filling(f["text"], _number(f["score"]), _number(f["score_per_token"]), f["tokens"],
                   characters(f["text"], f["spans"]), f.get("probability"), f)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def characters(text: str, spans: list[list[int]]) -> list[tuple[int, int]]:
    """Places in characters, of places in bytes."""
    if text.isascii():
        return [(a, b) for a, b in spans]
    data = text.encode()
    return [(len(data[:a].decode()), len(data[:b].decode())) for a, b in spans]


def scored(record: dict[str, Any]) -> Scored:
    """The score of a record."""
    return Scored(
        record["text"], record.get("score"), record.get("score_per_token"),
        [Piece(p["piece"], p["log_prob"]) for p in record.get("pieces", ())],
        [_word(w) for w in record.get("words", ())],
        [Candidate(c["candidate"], c["text"], c["score"], c["share"])
         for c in record.get("candidates", ())],
        record)


def _word(w: dict[str, Any]) -> Word:
    return Word(w["word"], w["start_char"], w["end_char"], w["pieces"], w["score"],
                w["surprisal_bits"])


def pair(record: dict[str, Any]) -> Pair:
    """The pair of a record."""
    other = record["pair"]
    return Pair(record["text"], other["text"], record["score"], other["score"], record["difference"],
                record)


def tokens(text: str, record: dict[str, Any]) -> Tokens:
    """The pieces of a record of infill tokenize."""
    return Tokens(record["tokens"], record["ids"], characters(text, record["offsets"]))
