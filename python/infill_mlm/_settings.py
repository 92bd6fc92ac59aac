"""The settings of the program, and the errors of its records.

Made by: go test ./infill/jsonl -run Python -update
"""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, TypedDict

from ._errors import LineError


class FillSettings(TypedDict, total=False):
    """What a text may choose for its filling.

    method: how fillings are found: search: the best ones, exact: all of a single blank, with probabilities, sample: draws; auto: search, or sample with a setting of the sampling (default: auto)
    scoring: what ranks fillings: blended: words judged beside all others and in the order of the text, pll: beside all others only (default: blended)
    effort: how much a search looks at: quick|normal|thorough (default: normal)
    most_rows: rows of the model that a search evaluates at most (default: 10000)
    row_context: pieces of a long text that a row of a search sees; what is printed is scored in full (default: 128)
    sampler: name of the sampler (default: rows)
    steps: steps of every chain; where probabilities are estimated the default is 50 (default: 20)
    budget: what steps measures: steps; evaluations or rows: every sampler gets as many as this many steps of one evaluation take (default: steps)
    chains: chains per sentence (default: 25)
    top: fillings to return, best first (default: 5)
    step_size: step size of the sampler: a number above 0, or auto (adapted in the first half of the steps)
    balance: balancing function of the sampler: sqrt|ratio|max|min
    params: further parameters of the sampler
    temperature: T of exp(U/T): below 1 likelier, above 1 more diverse fillings (default: 1)
    seed: seed of all randomness; chosen and said when unset
    vocab: what may fill a blank: words|all|whole-words; all: punctuation and numbers too (default: words)
    unit: what a plain blank takes: piece: one piece of the vocabulary, word: a word of up to five, phrase: up to eight (default: piece)
    gradient: full, or forward: without the backward pass (default: full)
    case: auto: with the capitals of English text; model: as the model spells (default: auto)
    ban: words that fill no blank
    allow: the only words or phrases that fill blanks
    no_repeat: what fills no blank again: off: nothing, blanks: content words of other blanks, text: those of the text too (default: blanks)
    mask_rate: blank out this share of the words of texts without blanks; 0: the texts have blanks (default: 0)
    mask_words: blank out exactly this many words of texts without blanks (default: 0)
    min_distance: least edit distance, in characters, from a word that was blanked out (default: 0)
    long: texts longer than the model takes: window: it sees the part around the blanks; error: refuse (default: window)
    end_mark: what the model sees behind a sentence without an end mark: auto: a full stop that is not printed (default: none)
    start: where chains begin: masked: draws with all blanks masked, argmax: the likeliest words then, original: the words before, random: any that fit (default: masked)
    collect: which states are fillings: visited: all that were evaluated, for the best ones, last: the last of every chain, draws of π, chain: every chain after its burn-in (default: visited)
    thin: with collect chain: one state in this many steps; 0: about 25 of each chain (default: 0)
    rank: say the rank and the probability of these words in the one blank, however unlikely
    select: how the fillings to return are chosen: likelihood: the best; diverse: good ones that share few words (default: likelihood)
    energy: parts to add to the energy that is sampled and ranked, with their weights
    marginals: probabilities of the words of each blank and of whole texts, with standard errors; top says how many (default: false)
    keep_words: words and phrases that are not masked, in any case, \"Ann\" also in \"Ann's\"
    mask_class: words that may be masked: all, content: with a letter, and not on the list of stop words, everything: also addresses, versions, names of files and fields (default: all)
    stop_words: words that are not content words, in place of the program's English ones
    mask_labels: mask words in spans of these labels only, * for all; lines of JSON have \"spans\"
    keep_labels: mask no word in spans of these labels, * for all
    span_offsets: what places of words count: characters|utf16|bytes, auto: the one that fits, off: none are places (default: auto)
    min_edits: least edit distance, in characters, of a filled text from the text as it was (default: 0)
    max_edits: greatest edit distance, in characters, of a filled text from the text as it was; 0: any (default: 0)
    max_drop: nats by which a filling may score below the words that were masked; negative: above them
    min_similarity: least cosine of a filled text and the text as it was by the encoder, from -1 to 1
    max_similarity: greatest cosine of a filled text and the text as it was by the encoder: 0.98 leaves out what says the same
    """

    method: Literal["auto", "exact", "search", "sample"]
    scoring: Literal["blended", "pll"]
    effort: Literal["quick", "normal", "thorough"]
    most_rows: int
    row_context: int
    sampler: str
    steps: int
    budget: Literal["steps", "evaluations", "rows"]
    chains: int
    top: int
    step_size: float | str
    balance: float | str
    params: Mapping[str, Any]
    temperature: float
    seed: int
    vocab: Literal["words", "all", "whole-words"]
    unit: Literal["piece", "word", "phrase"]
    gradient: Literal["full", "forward"]
    case: Literal["auto", "model"]
    ban: Sequence[str]
    allow: Sequence[str]
    no_repeat: Literal["off", "blanks", "text"]
    mask_rate: float
    mask_words: int
    min_distance: int
    long: Literal["window", "error"]
    end_mark: Literal["none", "auto"]
    start: Literal["masked", "argmax", "original", "random"]
    collect: Literal["visited", "last", "chain"]
    thin: int
    rank: Sequence[str]
    select: Literal["likelihood", "diverse"]
    energy: Sequence[str]
    marginals: bool
    keep_words: Sequence[str]
    mask_class: Literal["all", "content", "everything"]
    stop_words: Sequence[str]
    mask_labels: Sequence[str]
    keep_labels: Sequence[str]
    span_offsets: Literal["auto", "characters", "utf16", "bytes", "off"]
    min_edits: int
    max_edits: int
    max_drop: float
    min_similarity: float
    max_similarity: float


class ScoreSettings(TypedDict, total=False):
    """What a text may choose for its score.

    candidates: words or phrases to rank for the blank of the text
    energy: parts to add to the score, with their weights
    scoring: pll: each piece beside all others; within-word: without the later pieces of its word; blended: in the order of the text, too. Unset: pll for texts, blended for candidates
    words: say what each word scores: its pieces, each masked together with the later ones (default: false)
    word_parts: words with marks inside, such as didn't and 10:30, as their parts (default: false)
    span_offsets: what places of words count: characters|utf16|bytes, auto: the one that fits, off: none are places (default: auto)
    """

    candidates: Sequence[str]
    energy: Sequence[str]
    scoring: Literal["blended", "pll", "within-word"]
    words: bool
    word_parts: bool
    span_offsets: Literal["auto", "characters", "utf16", "bytes", "off"]


class ModelSettings(TypedDict, total=False):
    """How a model is opened.

    model_file: of a folder with several exports the one to use, such as onnx/model_quantized.onnx
    ort: ONNX Runtime's shared library, if not found by itself
    threads: sequences evaluated at the same time; results do not depend on it
    batch_tokens: tokens per call of the runtime, 0: 1024, fewer for large models; results do not depend on it (default: 0)
    low_memory: use less memory, somewhat slower (default: false)
    precision: fp32|int8|fp16|auto: precision of the model; where a device rounds, printed scores are fp32; int8 needs no device; auto: by device and model (default: auto)
    input: a number for an input of the graph that no text has, such as timesteps=0; repeatable
    typography: auto|straight|as-is: how curly quotes, dashes and their like are shown to the model; straight: as plain marks; the text stays as it is (default: auto)
    device: what evaluates the model; auto: large models on a card or another device that is installed, others on cpu (default: auto)
    """

    model_file: str
    ort: str
    threads: int
    batch_tokens: int
    low_memory: bool
    precision: Literal["fp32", "int8", "fp16", "auto"]
    input: Mapping[str, Any]
    typography: Literal["auto", "straight", "as-is"]
    device: str


class SharedSettings(TypedDict, total=False):
    """What all fillings of a model share.

    shortlist: candidates per blank, the likeliest with all blanks masked; 0: all (default: 0)
    memo: MB to remember what the model says, 0: nothing is remembered; results do not depend on it (default: 256)
    keep_file: a file of such words, one a line
    mask_file: a file of the only words and phrases that are masked, one a line
    encoder: a sentence encoder in ONNX, which says how alike a filled text and the text as it was are
    """

    shortlist: int
    memo: int
    keep_file: str
    mask_file: str
    encoder: str

# The variables of settings that the package chooses itself.
FILE_VARIABLES = (
    "INFILL_FORMAT",
    "INFILL_OUTPUT_FORMAT",
    "INFILL_TEXT_FIELD",
    "INFILL_RECORDS",
    "INFILL_ENCODING",
    "INFILL_OUTPUT_ENCODING",
    "INFILL_ON_NULL",
    "INFILL_SENTENCE",
    "INFILL_DELIMITER",
    "INFILL_NO_HEADER",
    "INFILL_QUOTE",
    "INFILL_LIMIT",
    "INFILL_SHARD",
    "INFILL_PER",
)


class EmptyError(LineError):
    """the text is empty."""

    code = "empty"


class NoBlankError(LineError):
    """the text has no blank."""

    code = "no_blank"


class BadBlankError(LineError):
    """bad blank."""

    code = "bad_blank"


class EmptySupportError(LineError):
    """no token may fill the blank."""

    code = "empty_support"


class TooFewWordsError(LineError):
    """too few words."""

    code = "too_few_words"


class BadStartError(LineError):
    """bad start."""

    code = "bad_start"


class NoOriginalError(LineError):
    """bad option: the words that stood in the blanks are not known; have words of a complete text masked."""

    code = "no_original"


class FilteredError(LineError):
    """no filling passes the filters."""

    code = "filtered"


class BadSpanError(LineError):
    """bad span."""

    code = "bad_span"


class TooLongError(LineError):
    """the line is too long, or sentence is too long for the model, or too large."""

    code = "too_long"


class BadJsonError(LineError):
    """bad JSON line."""

    code = "bad_json"


class BadRowError(LineError):
    """bad row."""

    code = "bad_row"


class BadOptionError(LineError):
    """bad setting, or the record has a number that is not finite."""

    code = "bad_option"


class InvalidUtf8Error(LineError):
    """invalid UTF-8."""

    code = "invalid_utf8"


class FaultError(LineError):
    """a fault of this program."""

    code = "fault"


class UnsupportedError(LineError):
    """too many states for this sampler."""

    code = "unsupported"


ERRORS: dict[str, type[LineError]] = {
    "empty": EmptyError,
    "no_blank": NoBlankError,
    "bad_blank": BadBlankError,
    "empty_support": EmptySupportError,
    "too_few_words": TooFewWordsError,
    "bad_start": BadStartError,
    "no_original": NoOriginalError,
    "filtered": FilteredError,
    "bad_span": BadSpanError,
    "too_long": TooLongError,
    "bad_json": BadJsonError,
    "bad_row": BadRowError,
    "bad_option": BadOptionError,
    "invalid_utf8": InvalidUtf8Error,
    "fault": FaultError,
    "unsupported": UnsupportedError,
}
