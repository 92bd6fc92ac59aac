#!/usr/bin/env bash
# Makes docs/notebook/compare/{starts,gibbs,proposals}.md: the runs by which docs/notebook/compare.md tests
# what it names as causes. Same sentences, model, seed and measures as
# scripts/compare-report.sh.
#   starts     no step at all: what the chains begin with
#   gibbs      Gibbs with as many model rows as the others have, four times the steps
#   proposals  DULA beside DMALA at step sizes where few words change at once, and
#              g = t/(t+1) in place of the square root
# Usage: scripts/compare-causes.sh EVAL_FOLDER [starts|gibbs|proposals]…
# Environment: BIN, the command (bin/infill)
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:?the folder with discs-infilling-task.json, tbc.5k.txt and wiki103.5k.txt}
shift
run() { # NAME ARGUMENTS…
	local name=$1
	shift
	"${BIN:-bin/infill}" compare "$data/discs-infilling-task.json" --model models/teacher --seed 1 --chains 25 --top 5 "$@" \
		--reference "$data/wiki103.5k.txt" --reference "$data/tbc.5k.txt" --confidence --examples 0 \
		--markdown "docs/notebook/compare/$name.md" --force
}
for what in "${@:-starts gibbs proposals}"; do
	for one in $what; do
		case $one in
		starts) run starts --samplers gibbs --steps 0 ;;
		gibbs) run gibbs --samplers gibbs --steps 50 --budget rows ;;
		proposals) run proposals --samplers dula:step-size=0.1,dmala:step-size=0.1,dmala:balance=ratio,dlmc:balance=ratio --steps 50 ;;
		*) echo "what is $one?" >&2 && exit 2 ;;
		esac
	done
done
