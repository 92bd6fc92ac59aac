#!/usr/bin/env bash
# Runs every fuzz target of the repository for the given time (default 10s), on one core each and
# as many at a time as there are cores. A package is built once for all its targets.
# Usage: scripts/fuzz.sh [TIME]
set -euo pipefail
cd "$(dirname "$0")/.."
export TIME=${1:-10s} GO=${GO:-go} LOGS CORPUS
LOGS=$(mktemp -d)
CORPUS=$("$GO" env GOCACHE)/fuzz-of-infill # inputs that reached new code in earlier runs
trap 'rm -rf "$LOGS"' EXIT

# build makes the program of a package, in its folder, which may be of a module of its own. It goes
# without what only a debugger reads, and without go vet, which make lint runs.
build() { (cd "$1" && "$GO" test -c -vet=off -ldflags=-w -fuzz . -o "$LOGS/${1//\//_}" .); }

# fuzz runs one target in the folder of its package.
fuzz() {
	local log=$LOGS/${1//\//_}.$2
	once() {
		(cd "$1" && "$LOGS/${1//\//_}" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$TIME" \
			-test.parallel 1 -test.fuzzcachedir "$CORPUS/$1") >"$log" 2>&1
	}
	# The fuzzing engine sometimes reports its own deadline as a failure when
	# the time is up. A real finding always comes with a failing input.
	once "$@" || { grep -q 'context deadline exceeded' "$log" &&
		! grep -q 'Failing input written' "$log" && once "$@"; } || {
		echo "== fuzzing $1 $2 failed" && cat "$log"
		return 1
	}
	echo "== fuzzed $1 $2: $(grep -o 'execs: [0-9]*' "$log" | tail -1 | grep . || echo its seeds only)"
}
export -f build fuzz

targets=$(git ls-files -co --exclude-standard '*_test.go' | xargs grep -H '^func Fuzz' |
	sed -E 's/^([^:]*)\/[^\/:]*:func (Fuzz[A-Za-z0-9_]*).*/\1 \2/')
[ -n "$targets" ] || { echo "no fuzz target found" >&2; exit 1; }
echo "== building $(cut -d ' ' -f 1 <<<"$targets" | sort -u | wc -l) packages for fuzzing"
cores=$(nproc 2>/dev/null || echo 2)
# What most packages need is compiled with the first, on all cores. Two builds that begin at the same
# time compile it twice.
build server || { echo "a package could not be built for fuzzing" >&2; exit 1; }
cut -d ' ' -f 1 <<<"$targets" | sort -u | grep -vx server | xargs -P "$cores" -n 1 bash -c 'build "$0"' ||
	{ echo "a package could not be built for fuzzing" >&2; exit 1; }
echo "== fuzzing $(wc -l <<<"$targets") targets for $TIME each"
xargs -P "$cores" -L 1 bash -c 'fuzz "$0" "$1"' <<<"$targets" ||
	{ echo "a fuzz target failed" >&2; exit 1; }
echo "== $(wc -l <<<"$targets") fuzz targets ran without a finding"
