#!/usr/bin/env bash
# Makes lab/notebook/compare/report.{html,md}, an example of what infill compare writes: six samplers
# on the twenty sentences of the DISCS infilling task, by the program's model small, with equal numbers
# of evaluations.
# Usage: lab/scripts/compare-report.sh EVAL_FOLDER   (discs-infilling-task.json, tbc.5k.txt, wiki103.5k.txt)
# Environment: BIN, the command (bin/infill)
set -euo pipefail
cd "$(dirname "$0")/../.."
data=${1:?the folder with discs-infilling-task.json, tbc.5k.txt and wiki103.5k.txt}
mkdir -p lab/notebook/compare
"${BIN:-bin/infill}" compare "$data/discs-infilling-task.json" --model small \
	--samplers gibbs,gwg,dula,dmala,dlmc,rows --seed 1 \
	--reference "$data/wiki103.5k.txt" --reference "$data/tbc.5k.txt" --confidence \
	--markdown lab/notebook/compare/report.md --html lab/notebook/compare/report.html --force
