"""The call and the answer of transformers' fill-mask pipeline, with all blanks filled together."""

from __future__ import annotations

import math
import os
from typing import Any, Sequence, Union

from ._model import Model
from ._results import Filled, Filling

Answer = dict[str, Any]


def pipeline(task: str = "fill-mask", model: Union[str, os.PathLike[str], Model] = "default",
             top_k: int = 5, targets: Union[str, Sequence[str], None] = None,
             **settings: Any) -> "FillMaskPipeline":
    """A pipeline on a model, by its name or as it is. Settings are those of Model."""
    if task != "fill-mask":
        raise ValueError(f'task is {task!r}, and the one that there is "fill-mask"')
    if isinstance(model, Model):
        if settings:
            raise TypeError("settings go with the name of a model; this one is open")
    else:
        # As there: punctuation fills blanks too, and a probability is the model's own.
        model = Model(model, **{"vocab": "all", "scoring": "pll", **settings})
    return FillMaskPipeline(model, top_k, targets)


class FillMaskPipeline:
    """Call it with a text or several. The answer is a list of dicts for each text.

    They have score, token, token_str and sequence. token is the id of the first token, and tokens
    has those of all blanks. score is exp of the filling's score: of one blank of one token the
    probability that the model gives it, of several blanks the product for all of them.
    """

    task = "fill-mask"

    def __init__(self, model: Model, top_k: int = 5, targets: str | Sequence[str] | None = None):
        self.model, self.top_k, self.targets = model, top_k, targets

    def __call__(self, inputs: str | Sequence[str], top_k: int | None = None,
                 targets: str | Sequence[str] | None = None) -> list[Any]:
        settings: dict[str, Any] = {"top": self.top_k if top_k is None else top_k}
        words = self.targets if targets is None else targets
        if words is not None:
            settings["allow"] = [words] if isinstance(words, str) else list(words)
        texts = [inputs] if isinstance(inputs, str) else list(inputs)
        answers = [self._answers(f) for f in self.model.fill_many(texts, **settings)]
        return answers[0] if len(answers) == 1 else answers  # also of a list, as there

    def _answers(self, filled: Filled) -> list[Answer]:
        return [self._answer(f) for f in filled]

    def _answer(self, filling: Filling) -> Answer:
        ids = self.model.token_ids(filling)
        return {
            "score": math.exp(filling.score),
            "token": ids[0] if ids else None,
            "token_str": " ".join(filling.text[a:b] for a, b in filling.spans),
            "sequence": filling.text,
            "tokens": ids,
        }
