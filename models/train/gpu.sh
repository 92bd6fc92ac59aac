#!/bin/sh
# Trains on a machine with a GPU to which little can be carried at a time and where a command may run ten minutes.
#
#   models/train/gpu.sh keep DIR          keeps the pieces (of pack.py pack) in DIR until the run
#   models/train/gpu.sh run MINUTES ARGS  unpacks them once, trains, with the teacher in the loop if one was packed, goes on in each call;
#                                         the weights come back in $OUT/weights, in pieces of 16 MB, with log.jsonl
#
# ARGS go to train.py: --until HH:MM --decay-minutes N ends the whole run, and the rate falls to zero before. W is the
# folder of the machine (default /tmp/infill-train), PYTHON the interpreter with torch, numpy and safetensors.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
W=${W:-/tmp/infill-train} PYTHON=${PYTHON:-python3}
OUT=${OUT:-$W/out}
case ${1:-} in
keep)
	mkdir -p "$W/parts"
	cp "$2"/part* "$W/parts/"
	ls -l "$W/parts"
	;;
run)
	minutes=$2
	shift 2
	if [ ! -e "$W/unpacked" ]; then
		"$PYTHON" "$here/pack.py" unpack --parts "$W/parts" --out "$W"
		touch "$W/unpacked"
	fi
	mkdir -p "$W/run" "$OUT"
	if [ ! -e "$W/run/checkpoint.pt" ] && [ -e "$W/start/checkpoint.pt" ]; then
		cp "$W/start/checkpoint.pt" "$W/run/"
	fi
	[ ! -e "$W/teacher" ] || set -- --teacher "$W/teacher" --soft 0.8 "$@"
	"$PYTHON" "$here/train.py" --data "$W/data" --vocab "$W/vocab.txt" --out "$W/run" --batches 4 --batch-tokens 16384 --log 20 --save-minutes 3 --stop-minutes "$minutes" "$@"
	"$PYTHON" "$here/pack.py" pack --checkpoint "$W/run/checkpoint.pt" --size 16000000 --out "$OUT/weights"
	cp "$W/run/log.jsonl" "$OUT/"
	tail -3 "$OUT/log.jsonl"
	;;
*)
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
