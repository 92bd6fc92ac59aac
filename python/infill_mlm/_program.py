"""Where the program is, and the command that starts it."""

from __future__ import annotations

import os
import shutil
import sys

from ._errors import ProgramError
from ._settings import FILE_VARIABLES

VERSION = "0.1.0"  # make wheel reads it

# Further variables of flags that the package chooses itself.
_VARIABLES = frozenset(FILE_VARIABLES) | {
    "INFILL_" + name for name in ("FORCE", "JSON", "MAX_ERRORS", "OK_IF_LINES_FAIL", "OUTPUT",
                                  "PROGRAM", "PROGRESS", "QUIET", "RESUME", "STRICT")
}


def path() -> str:
    """The program: that of INFILL_PROGRAM, of the wheel, or of PATH."""
    named = os.environ.get("INFILL_PROGRAM")
    if named:
        return named
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "infill")
    if os.path.exists(inside):
        return inside
    found = shutil.which("infill")
    if found is None:
        raise ProgramError("the program infill is missing: install the wheel that make wheel writes, "
                           "or set INFILL_PROGRAM to its path")
    return found


def environment() -> dict[str, str]:
    """The environment of the program, without what would change the form of its records."""
    return {name: value for name, value in os.environ.items() if name not in _VARIABLES}


def main() -> None:
    """The command infill: the program takes the place of this process."""
    try:
        program = path()
        os.execv(program, ["infill", *sys.argv[1:]])
    except (ProgramError, OSError) as err:
        sys.exit(f"infill: {err}")
