"""Fills the sentences of a file by two models and prints the best fillings side by side, unedited, as a table.

Each sentence is filled by `infill fill --quiet --top 1`.
"""

import argparse
import subprocess
import sys


def fill(command: str, model: str, sentences: str, extra: list[str]) -> list[str]:
    """The best filling of each line of the file; an empty model is the program's own."""
    call = [command, "fill", "--quiet", "--top", "1", *extra, *(["--model", model] if model else []), "-"]
    with open(sentences, encoding="utf-8") as f:
        done = subprocess.run(call, stdin=f, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"fillings.py: {' '.join(call)}: {done.stderr.strip()}")
    return [line.split(maxsplit=1)[1] for line in done.stdout.splitlines() if line.strip()]


def table(sentences: list[str], names: list[str], columns: list[list[str]]) -> str:
    """A Markdown table with a row a sentence."""
    for name, column in zip(names, columns):
        if len(column) != len(sentences):
            raise ValueError(f"{name} filled {len(column)} of {len(sentences)} sentences")

    def row(cells: list[str]) -> str:
        return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |\n"

    rows = [row([s, *(c[i] for c in columns)]) for i, s in enumerate(sentences)]
    return row(["sentence", *names]) + row(["---"] * (len(names) + 1)) + "".join(rows)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--infill", default="infill", help="the command")
    p.add_argument("--models", nargs="+", required=True, help="NAME=MODEL; NAME= is the program's own model")
    p.add_argument("--sentences", required=True, help="a sentence with [MASK] a line: thirty.txt")
    p.add_argument("--flag", action="append", default=[], help="a further flag of infill fill, as --flag=--effort=thorough")
    a = p.parse_args()
    with open(a.sentences, encoding="utf-8") as f:
        sentences = [line.strip() for line in f if line.strip()]
    pairs = [m.partition("=")[::2] for m in a.models]
    print(table(sentences, [n for n, _ in pairs], [fill(a.infill, m, a.sentences, a.flag) for _, m in pairs]), end="")


if __name__ == "__main__":
    main()
