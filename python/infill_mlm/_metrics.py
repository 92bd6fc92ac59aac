"""Diversity and quality of sentences, as infill eval measures them."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from typing import Iterable

from ._errors import ProgramError
from ._program import environment, path


def metrics(sentences: Iterable[str], references: Iterable[str] | None = None,
            ) -> dict[str, float | None]:
    """Measures sentences: self_bleu, unique.self.1 to .4, distinct.1 to .4 and others, and with
    references bleu.references and unique.references.1 to .4.

    A value is None where the sentences are too few or too short for it. White space within a
    sentence is one space. docs/reference/metrics.md says what each means. Sentences that are too
    few to be measured at all are a ProgramError.
    """
    with tempfile.TemporaryDirectory(prefix="infill-") as folder:
        command = [path(), "eval", _write(folder, "sentences.txt", sentences), "--json",
                   "--format", "lines"]
        if references is not None:
            command += ["--reference", _write(folder, "references.txt", references)]
        try:
            done = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL,
                                  capture_output=True, check=False)
        except OSError as err:
            raise ProgramError(f"{command[0]} cannot be started: {err}") from err
    if done.returncode != 0:
        raise ProgramError(done.stderr.decode("utf-8", "replace").strip(), done.returncode)
    [row] = json.loads(done.stdout)["rows"]
    return {m["key"]: m["value"] for m in row["metrics"]}


def _write(folder: str, name: str, sentences: Iterable[str]) -> str:
    if isinstance(sentences, str):
        raise TypeError("want several sentences, such as a list, and not one text")
    file = os.path.join(folder, name)
    with open(file, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(" ".join(s.split()) + "\n" for s in sentences)
    return file
