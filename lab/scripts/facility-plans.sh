#!/bin/sh
# Makes the plans of HiGHS in lab/experiments/facility/highs.json again: `make facility-plans`. With a
# number of sites it makes those of this size and keeps the others, as in
#
#   lab/scripts/facility-plans.sh 3
#
# All of them take about ten minutes. HiGHS is installed into the cache, with pip.
set -eu
cd "$(dirname "$0")/../.."
only=${1:-}
plans=lab/experiments/facility/highs.json
cache=${INFILL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/infill}
python=$cache/highs/bin/python
if ! "$python" -c 'import highspy, numpy' 2>/dev/null; then
	echo "== installing HiGHS 1.15 into $cache/highs" >&2
	python3 -m venv "$cache/highs"
	"$python" -m pip install --quiet 'highspy==1.15.*' numpy
fi
new=$(mktemp "$plans.XXXXXX")
trap 'rm -f "$new"' EXIT
while IFS= read -r line; do
	set -- $(printf %s "$line" | "$python" -c 'import json, sys
p = json.load(sys.stdin)
print(p["sites"], p["customers"], p["instance"], p["lots"], p["what"])')
	if [ -n "$only" ] && [ "$only" != "$1" ]; then
		printf '%s\n' "$line" >>"$new"
		continue
	fi
	echo "== $1 sites, $2 customers, instance $3, lots of $4: $5" >&2
	seconds=60
	if [ "$1" -ge 40 ]; then seconds=90; fi
	bin/lab instance "$1" "$2" "$3" "$4" |
		"$python" lab/experiments/facility/highs.py "$5" "$seconds" >>"$new"
done <"$plans"
chmod 644 "$new"
mv "$new" "$plans"
trap - EXIT
