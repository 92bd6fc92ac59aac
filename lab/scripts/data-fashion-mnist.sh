#!/usr/bin/env bash
# Fetches Fashion-MNIST (Xiao, Rasul and Vollgraf 2017, MIT licence) from Debian's package
# dataset-fashion-mnist and puts it where the experiments look for it. Needs a Debian or Ubuntu
# with apt-get, and neither root nor an installation. Does nothing if the files are there.
# Usage: lab/scripts/data-fashion-mnist.sh [FOLDER]
set -euo pipefail
package=dataset-fashion-mnist
cache=${INFILL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/infill}
to=${1:-$cache/experiments}/fashion-mnist
files="train-images-idx3-ubyte.gz t10k-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz t10k-labels-idx1-ubyte.gz"
missing=
for f in $files; do [ -f "$to/$f" ] || missing=$f; done
[ -n "$missing" ] || exit 0
command -v apt-get >/dev/null || { echo "$package needs apt-get; put $files into $to by other means" >&2; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
echo "== fetching $package"
(cd "$tmp" && apt-get download "$package") ||
	{ echo "apt-get cannot fetch $package: run apt-get update first" >&2; exit 1; }
dpkg-deb -x "$tmp/$package"_*.deb "$tmp/root"
mkdir -p "$to"
for f in $files; do
	found=$(find "$tmp/root" -name "$f" -o -name "${f%.gz}" | head -n 1)
	[ -n "$found" ] || { echo "$package has no $f" >&2; exit 1; }
	case $found in *.gz) cp "$found" "$to/$f.part" ;; *) gzip -c "$found" >"$to/$f.part" ;; esac
	mv "$to/$f.part" "$to/$f"
done
