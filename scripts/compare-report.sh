#!/usr/bin/env bash
# Makes docs/notebook/compare/report.{html,md} and the table of docs/notebook/compare.md: five samplers
# on the twenty sentences of the DISCS infilling task (ten of the Toronto Book Corpus,
# ten of WikiText-103, four blanks each, about a quarter of the words), with the
# model models/teacher and equal numbers of model evaluations.
# Usage: scripts/compare-report.sh EVAL_FOLDER   (discs-infilling-task.json, tbc.5k.txt, wiki103.5k.txt)
# Environment: BIN, the command (bin/infill)
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:?the folder with discs-infilling-task.json, tbc.5k.txt and wiki103.5k.txt}
mkdir -p docs/notebook/compare
"${BIN:-bin/infill}" compare "$data/discs-infilling-task.json" --model models/teacher \
	--samplers gibbs,gwg,dula,dmala,dlmc --seed 1 --chains 25 --steps 50 --top 5 --vocab all \
	--reference "$data/wiki103.5k.txt" --reference "$data/tbc.5k.txt" --confidence \
	--markdown docs/notebook/compare/report.md --html docs/notebook/compare/report.html --force
scripts/compare-table.sh docs/notebook/compare/report.md docs/notebook/compare.md
