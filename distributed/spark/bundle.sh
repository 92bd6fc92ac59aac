#!/bin/sh
# Packs what an executor needs to fill sentences: the program, ONNX Runtime and maybe a model.
#
#   distributed/spark/bundle.sh infill.tar.gz [MODEL_FOLDER]
#
# INFILL is the program, bin/infill of this checkout by default (make setup builds it).
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: $0 OUT.tar.gz [MODEL_FOLDER]" >&2
	exit 2
fi
program=${INFILL:-$(dirname "$0")/../../bin/infill}
if [ ! -x "$program" ]; then
	echo "$0: $program is not there: run make setup, or set INFILL to the program" >&2
	exit 2
fi
if [ $# = 2 ] && [ ! -e "$2/config.json" ]; then
	echo "$0: $2 is not the folder of a model: it has no config.json" >&2
	exit 2
fi
# Each command stands alone: of a pipe the shell sees the last one's failure only.
report=$("$program" doctor) || report=
library=$(printf '%s\n' "$report" | sed -n 's/^  path *\(.*\) ([a-z ]*)$/\1/p')
if [ ! -f "$library" ]; then
	echo "$0: ONNX Runtime is not installed: run $program doctor --install" >&2
	exit 2
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder" "$folder.tar" "$1.part"' EXIT
cp "$program" "$folder/infill"
cp "$library" "$folder/libonnxruntime.so.1"
if [ $# = 2 ]; then
	ln -s "$(cd "$2" && pwd)" "$folder/$(basename "$2")"
fi
# Libraries and models hardly shrink, so the fastest level is taken.
tar -C "$folder" -chf "$folder.tar" .
gzip -1 <"$folder.tar" >"$1.part"
mv "$1.part" "$1"
