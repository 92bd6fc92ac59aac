"""A model, and the processes of the program that work with it."""

from __future__ import annotations

import atexit
import collections
import collections.abc
import dataclasses
import difflib
import json
import os
import subprocess
import sys
import threading
import weakref
from typing import (TYPE_CHECKING, Any, Callable, Iterable, Iterator, Literal, Mapping, Sequence,
                    overload)

from . import _results
from ._child import Answer, Child
from ._errors import LineError, ProgramError
from ._program import environment, path
from ._results import Filled, Filling, Scored
from ._settings import ERRORS, FillSettings, ModelSettings, ScoreSettings, SharedSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack

_AHEAD = 64  # texts of fill_many that are sent before the first answer is taken

# The lines of a process that goes on for as long as lines come. Without a format the program
# would wait for more bytes, to find it by them.
_LINES = ["--format", "jsonl", "--output-format", "jsonl", "--text-field", "text", "--on-null", "error", "--quiet"]
_PAIRS = ["score", "--file", "-", "-o", "-", "--pairs", "text,against", "--format", "jsonl",
          "--output-format", "jsonl", "--quiet"]
_COMMANDS = {
    "pairs": _PAIRS,
    "shared": [*_PAIRS, "--shared"],
    "fill": ["batch", "-", "-o", "-", "--per", "sentence", *_LINES],
    "score": ["score", "--file", "-", "-o", "-", *_LINES],
    "tokenize": ["tokenize", "--json", "-"],
}

# Settings that help against an error of a line, as the command names its flags.
_HELP = {
    "no_blank": ("mask_words",),
    "too_long": ("long",),
    "empty_support": ("allow", "ban", "vocab", "min_distance", "no_repeat"),
    "filtered": ("min_edits", "max_edits", "max_drop", "min_similarity", "max_similarity"),
}

_models: "weakref.WeakSet[Model]" = weakref.WeakSet()


class Model:
    """A masked language model that fills and scores texts.

    name is a name of `infill model list`, a folder of an ONNX export or its .onnx file. Settings of
    ModelSettings and SharedSettings say how it is opened, those of FillSettings are the defaults of
    fill and fill_many.

    The program starts with the first text, in one process for filling and one for scoring, and it
    starts again if it was killed. A model may be used by several threads. It can be pickled, and
    used after a fork: the copy has processes of its own.
    """

    def __init__(self, name: str | os.PathLike[str] = "default", **settings: Any):
        known = _names(ModelSettings, SharedSettings, FillSettings)
        _check(settings, known)
        self.name = os.fspath(name)
        self._settings = dict(settings)
        lines = _names(FillSettings)
        self._defaults = {k: v for k, v in settings.items() if k in lines}
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._children: dict[str, Child] = {}
        _models.add(self)

    @overload
    def fill(self, text: str, **settings: "Unpack[FillSettings]") -> Filled: ...

    @overload
    def fill(self, text: Any, *, column: str = "text", **settings: "Unpack[FillSettings]") -> Any: ...

    def fill(self, text: Any, *, column: str = "text", **settings: Any) -> Any:
        """Fills the blanks of a text jointly. Settings are those of FillSettings.

        Of a Series of pandas the result is the Series of the best fillings. Of a DataFrame, whose
        texts are in the column, it is a copy with the columns filled and filled_score.

        Errors are a LineError of the text, such as NoBlankError, or a ProgramError. Ctrl-C ends the
        work: the next call starts the program again.
        """
        if not hasattr(text, "to_dict"):
            return _results.filled(self._one("fill", text, self._fill_fields(settings)))
        texts = _column(text, column)
        found = [f[0] for f in self.fill_many(texts, **{**settings, "top": 1})]
        if _is_frame(text):
            return text.assign(filled=[f.text for f in found], filled_score=[f.score for f in found])
        return type(text)([f.text for f in found], index=text.index, name=text.name)

    @overload
    def fill_many(self, texts: Iterable[str], *, on_error: Literal["raise"] = "raise",
                  progress: bool | Callable[[int], object] = False,
                  **settings: "Unpack[FillSettings]") -> Iterator[Filled]: ...

    @overload
    def fill_many(self, texts: Iterable[str], *, on_error: Literal["return"],
                  progress: bool | Callable[[int], object] = False,
                  **settings: "Unpack[FillSettings]") -> Iterator[Filled | LineError]: ...

    def fill_many(self, texts: Iterable[str], *, on_error: Literal["raise", "return"] = "raise",
                  progress: bool | Callable[[int], object] = False,
                  **settings: "Unpack[FillSettings]") -> Iterator[Any]:
        """Fills texts, in their order, as they come: no more than a few are read ahead.

        With on_error="return" the LineError of a text stands in its place, and the others go on.
        progress is a function of the number of texts that are done, or True for a line on standard
        error.
        """
        if isinstance(texts, str):
            raise TypeError("fill_many takes several texts, such as a list; fill takes one")
        if on_error not in ("raise", "return"):
            raise ValueError(f'on_error is {on_error!r}, want "raise" or "return"')
        fields = self._fill_fields(settings)
        return self._stream(texts, fields, on_error == "raise", _Progress(progress, texts))

    def _stream(self, texts: Iterable[str], fields: Mapping[str, Any], raises: bool,
                progress: "_Progress") -> Iterator[Filled | LineError]:
        ahead: collections.deque[Answer] = collections.deque()
        source = enumerate(texts)
        more = True
        try:
            while more or ahead:
                while more and len(ahead) < _AHEAD:
                    try:
                        number, text = next(source)
                    except StopIteration:
                        more = False
                        break
                    ahead.append(self._ask("fill", text, fields, number))
                if not ahead:
                    break
                record = ahead[0].result()
                ahead.popleft()
                progress.step()
                error = _line_error(record, FillSettings)
                if error is not None and raises:
                    raise error
                yield _results.filled(record) if error is None else error
        finally:  # also when the caller takes no more, and on Ctrl-C
            _give_up(ahead)
            progress.end()

    @overload
    def score(self, text: str | Sequence[str], **settings: "Unpack[ScoreSettings]") -> Scored: ...

    @overload
    def score(self, text: Any, *, column: str = "text", **settings: "Unpack[ScoreSettings]",
              ) -> Any: ...

    def score(self, text: Any, *, column: str = "text", **settings: Any) -> Any:
        """The score of a text, or the candidates for its blank. Settings are those of ScoreSettings.

        With words=True it has the words, see Word. A list of words is a text that is cut so. Of a
        DataFrame of pandas the texts are in the column. Its copy has a column score, or with
        words=True a row for each word.
        """
        _check(settings, _names(ScoreSettings))
        if not _is_frame(text):
            return _results.scored(self._one("score", text, settings))
        rows: list[dict[str, Any]] = []
        for row, own in zip(text.to_dict("records"), _column(text, column)):
            got = self.score(own, **settings)
            if settings.get("words"):
                rows += [{**row, **dataclasses.asdict(word)} for word in got.words]
            else:
                rows.append({**row, "score": got.score})
        return type(text)(rows)

    def pairs(self, good: Any, bad: Any, frame: Any = None, *, shared: bool = False) -> Any:
        """Compares texts one by one: which of two is likelier, and by how much.

        good and bad are lists of texts, or columns of a DataFrame of pandas, whose copy then has the
        columns good_score, bad_score and difference. shared compares by the words that both texts
        have. The result has a Pair for each two texts.
        """
        texts = (good, bad) if frame is None else (_column(frame, good), _column(frame, bad))
        if len(texts[0]) != len(texts[1]):
            raise ValueError(f"{len(texts[0])} texts and {len(texts[1])} texts are not pairs")
        kind, found = "shared" if shared else "pairs", []
        both = list(zip(*texts))
        for at in range(0, len(both), _AHEAD):
            answers = [self._send(kind, json.dumps({"text": a, "against": b}).encode())
                       for a, b in both[at:at + _AHEAD]]
            try:
                for answer in answers:
                    record = answer.result()
                    error = _line_error(record, ScoreSettings)
                    if error is not None:
                        raise error
                    found.append(_results.pair(record))
            finally:
                _give_up(answers)
        if frame is None:
            return found
        return frame.assign(good_score=[p.good_score for p in found],
                            bad_score=[p.bad_score for p in found],
                            difference=[p.difference for p in found])

    def tokenize(self, text: Any, *, column: str = "text") -> Any:
        """The pieces of a text, with their ids and places. A DataFrame gets the columns of Tokens."""
        if _is_frame(text):
            found = [self.tokenize(t) for t in _column(text, column)]
            return text.assign(tokens=[f.tokens for f in found], ids=[f.ids for f in found],
                               spans=[f.spans for f in found])
        line = text.replace("\n", " ").replace("\r", " ")
        return _results.tokens(line, self._send("tokenize", line.encode()).result())

    def augment(self, texts: Any, *, column: str = "text", **settings: Any) -> Any:
        """Variants of texts, by infill augment, whose flags the settings are: variants=2, seed=1.

        Of a list of texts it returns a list of variants for each. Rows are dictionaries, or a
        DataFrame of pandas, with the texts in the column: the result has rows for the variants, with
        the other columns as they were.
        """
        if isinstance(texts, str):
            raise TypeError("augment takes several texts, such as a list")
        if _is_frame(texts):
            _column(texts, column)
        rows = texts.to_dict("records") if _is_frame(texts) else list(texts)
        plain = all(isinstance(row, str) for row in rows)
        items = [{column: row} if plain else row for row in rows]
        lines = "".join(json.dumps({k: _plain(v) for k, v in row.items()}) + "\n" for row in items)
        command = [path(), "augment", "-", "-o", "-", "--quiet", "--format", "jsonl",
                   "--output-format", "jsonl", "--model", self.name, "--text-field", column,
                   *_flags(self._settings, _names(ModelSettings)), *_flags(settings)]
        done = subprocess.run(command, input=lines.encode(), capture_output=True, env=environment())
        if done.returncode not in (0, 1):  # 1: some texts have none
            says = done.stderr.decode("utf-8", "replace").strip()
            raise ProgramError(f"the program ended with exit code {done.returncode}: {says}",
                               done.returncode)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        if plain:
            out: list[list[str]] = [[] for _ in rows]
            for row in found:
                if row.get("variant"):
                    out[row["line"] - 1].append(row[column])
            return out
        found = [row for row in found if not row.get("error")]
        return type(texts)(found) if _is_frame(texts) else found

    def mapper(self, column: str = "text", into: str = "filled", **settings: "Unpack[FillSettings]",
               ) -> "Mapper":
        """A function for Hugging Face's dataset.map(function, batched=True), see Mapper."""
        return Mapper(self, column, into, self._fill_fields(settings))

    def token_ids(self, filling: Filling) -> list[int]:
        """The ids of the tokens in the blanks of a filling."""
        text = filling.text.replace("\n", " ").replace("\r", " ")
        record = self._send("tokenize", text.encode()).result()
        spans = filling.record["spans"]
        return [n for n, (a, b) in zip(record["ids"], record["offsets"])
                if a < b and any(start <= a and b <= end for start, end in spans)]

    def close(self) -> None:
        """Ends the program. A later call starts it again."""
        with self._lock:
            children, self._children = self._children, {}
        for child in children.values():
            child.close()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_children", None):
            for child in self._children.values():
                child.close()

    def __repr__(self) -> str:
        return f"Model({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self.name, self._settings)

    def _fill_fields(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        _check(settings, _names(FillSettings))
        return {**self._defaults, **settings}

    def _one(self, kind: str, text: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        answer = self._ask(kind, text, fields)
        try:
            record = answer.result()
        finally:
            _give_up([answer])
        error = _line_error(record, FillSettings if kind == "fill" else ScoreSettings)
        if error is not None:
            raise error
        return record

    def _ask(self, kind: str, text: str, fields: Mapping[str, Any], number: int = 0) -> Answer:
        """Sends a text. With a seed, what is drawn depends on its number and not on earlier calls."""
        cut = kind == "score" and isinstance(text, (list, tuple))
        if not isinstance(text, str) and not cut:
            raise TypeError(f"text {number}: a text is a str, and not {type(text).__name__}")
        plain = {name: _plain(value) for name, value in fields.items()}
        return self._send(kind, json.dumps({"id": number, "text": text, **plain}).encode())

    def _send(self, kind: str, line: bytes) -> Answer:
        while True:
            answer = self._child(kind).ask(line)
            if answer is not None:
                return answer

    def _child(self, kind: str) -> Child:
        with self._lock:
            child = self._children.get(kind)
            if child is None or not child.alive:
                child = self._children[kind] = Child(self._command(kind))
            return child

    def _command(self, kind: str) -> list[str]:
        command = [path(), *_COMMANDS[kind], "--model", self.name]
        names = {"fill": _names(ModelSettings, SharedSettings), "tokenize": frozenset(),
                 }.get(kind, _names(ModelSettings))
        return command + _flags(self._settings, names)

    def _after_fork(self) -> None:
        children = list(self._children.values())
        self._begin()
        for child in children:
            child.forget()


def _opened(name: str, settings: Mapping[str, Any]) -> Model:
    return Model(name, **settings)


class Mapper:
    """Fills the texts of a column: dataset.map(model.mapper("text"), batched=True).

    Two columns are added: the best filling of each text, and its score. Both are None for a text
    that cannot be filled.
    """

    def __init__(self, model: Model, column: str, into: str, fields: Mapping[str, Any]):
        self.model, self.column, self.into = model, column, into
        self._fields = {**fields, "top": 1}

    def __call__(self, batch: Mapping[str, Sequence[str | None]]) -> dict[str, list[Any]]:
        texts = [text or "" for text in batch[self.column]]
        found = list(self.model.fill_many(texts, on_error="return", **self._fields))
        best = [f[0] if isinstance(f, Filled) and len(f) else None for f in found]
        return {self.into: [f and f.text for f in best],
                self.into + "_score": [f and f.score for f in best]}


class _Progress:
    """Says how many texts are done."""

    def __init__(self, wanted: bool | Callable[[int], object], texts: Iterable[str]):
        self._tell = wanted if callable(wanted) else None
        self._shown = wanted is True
        self._of = f"/{len(texts)}" if isinstance(texts, collections.abc.Sized) else ""
        self._done = 0

    def step(self) -> None:
        self._done += 1
        if self._tell is not None:
            self._tell(self._done)
        if self._shown:
            print(f"\rinfill: {self._done}{self._of}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._shown and self._done:
            print(file=sys.stderr)


def _names(*tables: type) -> frozenset[str]:
    return frozenset(name for table in tables for name in table.__annotations__)


def _check(settings: Mapping[str, Any], known: frozenset[str]) -> None:
    """Refuses names that are not settings: the program would take them for data."""
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(f"{name!r} is not a setting here"
                            + (f"; did you mean {near[0]!r}?" if near else ""))


def _is_frame(value: Any) -> bool:
    """Whether a value is a DataFrame, without pandas."""
    return hasattr(value, "to_dict") and hasattr(value, "columns")


def _column(table: Any, column: str) -> list[str]:
    """The texts of a DataFrame's column, or of a Series. A row without a text is named."""
    values = table[column] if _is_frame(table) else table
    for name, value in zip(values.index, values):
        if not isinstance(value, str):
            raise TypeError(f"row {name!r}: a text is a str, and not {value!r}")
    return list(values)


def _flags(settings: Mapping[str, Any], names: frozenset[str] | None = None) -> list[str]:
    """Settings as flags of the command."""
    out = []
    for name, value in settings.items():
        if value is None or names is not None and name not in names:
            continue
        value = _plain(value)
        if isinstance(value, (list, tuple)):
            value = ",".join(str(v) for v in value)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        out.append(f"--{name.replace('_', '-')}={text}")
    return out


def _plain(value: Any) -> Any:
    """A value as JSON has it: also of NumPy's numbers and arrays, and of sets."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    return sorted(value) if isinstance(value, (set, frozenset)) else value


def _line_error(record: Mapping[str, Any], settings: type) -> LineError | None:
    failure = record.get("error")
    if failure is None:
        return None
    kind, message = ERRORS.get(failure["code"], LineError), failure["message"]
    helps = [name for name in _HELP.get(failure["code"], ()) if name in _names(settings)]
    if helps:
        message += f" (settings that help: {', '.join(helps)})"
    return kind(message, record.get("text", ""), dict(record))


def _give_up(answers: Iterable[Answer]) -> None:
    """Gives up what is not done, by the process that works on it."""
    by_child: dict[Child, list[Answer]] = {}
    for answer in answers:
        if not answer.done():
            by_child.setdefault(answer.child, []).append(answer)
    for child, left in by_child.items():
        child.abandon(left)


@atexit.register
def _close_all() -> None:
    for model in list(_models):
        model.close()


def _forked() -> None:
    for model in list(_models):
        model._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
