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
        [Candidate(c["candidate"], c["text"], c["score"], c["share"])
         for c in record.get("candidates", ())],
        record)
