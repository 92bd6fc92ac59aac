"""Fills the blanks of sentences jointly, with a masked language model.

>>> import infill_mlm as infill
>>> model = infill.Model()
>>> for f in model.fill("The [MASK] sat on the [MASK].", top=3):
...     print(f.score, f.text)
"""

from ._errors import InfillError, LineError, ProgramError
from ._metrics import metrics
from ._model import Mapper, Model
from ._pipeline import FillMaskPipeline, pipeline
from ._program import VERSION as __version__
from ._results import Candidate, Filled, Filling, Pair, Piece, Scored, Tokens, Word
from ._settings import ERRORS, FillSettings, ModelSettings, ScoreSettings, SharedSettings

# Every kind of error that a record has is a class of its own, such as NoBlankError.
globals().update({kind.__name__: kind for kind in ERRORS.values()})

__all__ = [
    "Candidate", "ERRORS", "FillMaskPipeline", "FillSettings", "Filled", "Filling", "InfillError",
    "LineError", "Mapper", "Model", "ModelSettings", "Pair", "Piece", "ProgramError",
    "ScoreSettings", "Scored", "SharedSettings", "Tokens", "Word", "metrics", "pipeline",
] + sorted(kind.__name__ for kind in ERRORS.values())
