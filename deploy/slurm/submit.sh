#!/usr/bin/env bash
# Fills a file with an array of Slurm jobs, and joins their outputs when all are done.
#
#   deploy/slurm/submit.sh SHARDS INPUT OUTPUT [flags of infill batch]
#   SBATCH="--partition=cpu --mem=8G" deploy/slurm/submit.sh 64 in.txt out.jsonl --seed 1 --top 1
#
# The same command again goes on with what is unfinished. SBATCH has options for the array, INFILL
# the program if it is not in the PATH. Shards go to the folder OUTPUT.shards.
set -euo pipefail
if [ $# -lt 3 ]; then
	sed -n 's/^# \{0,1\}//; 2,/^set/ { /^set/!p; }' "$0" >&2
	exit 2
fi
shards=$1 input=$2 output=$3
shift 3
case $shards in
'' | *[!0-9]* | 0*) echo "submit.sh: SHARDS is $shards; want a whole number from 1" >&2 && exit 2 ;;
esac
if [ ! -f "$input" ]; then
	echo "submit.sh: INPUT $input is not a file" >&2
	exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$output.shards"
# shellcheck disable=SC2086 # SBATCH is a list of options
array=$(sbatch --parsable --array="0-$((shards - 1))" \
	--output="$output.shards/%A_%a.log" ${SBATCH-} \
	"$here/shard.sh" "$shards" "$input" "$output.shards" "$@")
join=$(sbatch --parsable --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes \
	--output="$output.shards/join.log" "$here/join.sh" "$output.shards" "$output")
echo "array ${array%%;*} of $shards shards, then job ${join%%;*} joins them to $output"
