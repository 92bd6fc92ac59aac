#!/bin/sh
# Checks infill on a graphics card of NVIDIA, which may be in a machine without a network, Go or npm.
#
#   scripts/check-cuda.sh pack DIR [DATA]   here: builds the programs, fetches the runtime's build for
#                                           CUDA, and writes DIR/runtime.00, …, and DIR/programs.00, …, of
#                                           58 MB at most. DATA is a folder with evaluation sentences.
#                                           What there is of the runtime stays.
#   sh check-cuda.sh run DIR OUT            there, with a copy of DIR: joins the pieces, runs all checks,
#                                           and writes their results to OUT.
#   sh check-cuda.sh rehearse DIR OUT       the same on the processor
#
# CUDA's libraries are looked for in the packages of Python there. The checks take some five minutes.
set -eu

pack() {
	root=$(cd "$(dirname "$0")/.." && pwd)
	mkdir -p "$1"
	to=$(cd "$1" && pwd)
	data=${2:-$root/../shared/data/eval}
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work/bin" "$work/mlm/onnxgrad" "$work/data" "$work/cache"
	cd "$root"
	go build -trimpath -ldflags '-s -w' -o "$work/bin/infill" ./cmd/infill
	go build -C lab -trimpath -ldflags '-s -w' -o "$work/bin/lab" ./cmd/lab
	go test -c -ldflags '-s -w' -o "$work/mlm/onnxgrad/onnxgrad.test" ./mlm/onnxgrad
	cp -r mlm/onnxgrad/testdata "$work/mlm/onnxgrad/"
	cp -r mlm/testdata "$work/mlm/"
	cp go.mod lab/cuda/torch_rows.py lab/cuda/operations.py "$work/"
	mkdir -p "$work/models"
	cp -r models/default "$work/models/"
	for f in tbc.5k.txt wiki103.5k.txt; do head -n 5000 "$data/$f" >"$work/data/$f"; done
	cat "$work/data/"*.5k.txt | awk 'NF == 12' | head -n 1000 >"$work/data/twelve.txt"
	cat "$work/data/"*.5k.txt | awk 'NF > 4 && NF < 40' >"$work/data/many.txt"
	sed 's/"sentence"/\n&/g' "$data/discs-infilling-task.json" |
		sed -n 's/^"sentence": "\([^"]*\)".*/\1/p' >"$work/data/discs.txt"
	# Of the cache only the runtime's build: CUDA's libraries are there already.
	"$work/bin/infill" doctor --install cuda >/dev/null || true
	cache=$("$work/bin/infill" doctor --json | sed -n 's/.*"cache":"\([^"]*\)","cache_bytes.*/\1/p')
	cp -r "$cache/cuda" "$work/cache/"
	if [ ! -f "$to/runtime.00" ]; then
		tar -C "$work" -c cache | xz -6 -T0 | split -d -b 58m - "$to/runtime."
	fi
	rm -rf "$work/cache" "$to"/programs.*
	# Both programs have the models in them, once in the archive.
	tar -C "$work" -c . | xz -1 -T1 --lzma2=preset=1,dict=192MiB | split -d -b 58m - "$to/programs."
	cp "$0" "$to/check-cuda.sh" 2>/dev/null || cp "$root/scripts/check-cuda.sh" "$to/"
	ls -l "$to"
}

# step NAME SECONDS COMMAND… runs a check with a limit, keeps what it prints, the seconds and the
# largest memory that it took, and goes on whatever it says.
step() {
	name=$1 limit=$2
	shift 2
	echo "== $name"
	if python3 "$at/timed.py" "$limit" "$out/$name.txt" "$@" >"$out/$name.took"; then said=ok; else said=failed; fi
	echo "$name: $said, $(cat "$out/$name.took")" | tee -a "$out/summary.txt"
	rm "$out/$name.took"
	[ "$said" = ok ] || tail -n 15 "$out/$name.txt"
}

timer() {
	cat >"$at/timed.py" <<'PYTHON'
import resource, subprocess, sys, time
start = time.time()
with open(sys.argv[2], "w") as out:
    try:
        code = subprocess.run(sys.argv[3:], stdout=out, stderr=out, timeout=float(sys.argv[1])).returncode
    except subprocess.TimeoutExpired:
        code = "timeout"
print("%.2f s, %d MB, exit %s" % (time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, code))
sys.exit(code != 0)
PYTHON
}

run() {
	pieces=$(cd "$2" && pwd)
	mkdir -p "$3"
	out=$(cd "$3" && pwd)
	at=${INFILL_CHECK_DIR:-/tmp/infill-check}
	mkdir -p "$at"
	cd "$at"
	if [ ! -f joined ]; then
		for a in runtime programs; do
			cat "$pieces/$a".* | xz -dc -T0 | tar -x
		done
		touch joined
	fi
	case $1 in
	run) dev=cuda rows="32 128 256 512 1024" seconds=2 lines=200 many=10000
		export INFILL_CACHE="$at/cache"
		INFILL_ORT=$(ls "$at"/cache/cuda/*/*/libonnxruntime.so.*) # for the processor's part, too
		export INFILL_ORT ;;
	*) dev=cpu rows=8 seconds=1 lines=5 many=10 ;;
	esac
	timer
	head -n "$many" data/many.txt >data/batch.txt
	: >"$out/summary.txt"
	infill=$at/bin/infill
	if [ "$dev" = cuda ]; then
		step card 20 nvidia-smi
		step doctor 30 sh -c "'$infill' doctor | grep '^device: cuda, ' | tee /dev/stderr | grep MiB"
	fi
	step first 60 "$infill" fill --device "$dev" "The [MASK] sat on the [MASK]."
	step fill 60 "$infill" fill --device "$dev" --top 5 "The [MASK] sat on the [MASK]."
	grep -q "sat on" "$out/fill.txt" || { echo "nothing is filled: the rest is left out"; exit 1; }
	if [ "$dev" = cuda ]; then
		step fixtures 150 sh -c "cd mlm/onnxgrad && ./onnxgrad.test -test.run 'TestCUDA' -test.v"
	fi
	step lab 200 "$at/bin/lab" cuda -device "$dev" -threads "$(nproc)" -rows "$rows" -seconds "$seconds" \
		-lines "$lines" -data data/tbc.5k.txt,data/wiki103.5k.txt
	rm -f profile_*
	step profile 60 sh -c "'$at/bin/lab' cuda -device '$dev' -rows '$(echo "$rows" | cut -d' ' -f3)' -profile ./profile_ && python3 operations.py profile_*"
	step torch 120 python3 torch_rows.py models/default/config.json --rows "$rows" --seconds "$seconds" \
		--device "$dev"
	head -n "$((many / 10))" data/twelve.txt >data/goal.txt
	for n in 1 2; do
		rm -f goal.jsonl*
		step "goal$n" 60 "$infill" batch --device "$dev" --mask-words 2 --seed 1 --top 1 -o goal.jsonl data/goal.txt
	done
	for d in "$dev" cpu; do
		rm -f "discs-$d.jsonl"*
		step "discs-$d" 100 "$infill" batch --device "$d" --top 5 -o "discs-$d.jsonl" data/discs.txt
		cp "discs-$d.jsonl" "$out/" || true
	done
	step gradients 60 "$infill" fill --device "$dev" --sampler dmala --steps 20 --seed 1 "The [MASK] sat on the [MASK]."
	rm -f many.jsonl*
	nvidia-smi --query-gpu=memory.used,utilization.gpu --format=csv,noheader -l 1 >"$out/memory.csv" 2>/dev/null &
	watcher=$!
	step batch 150 "$infill" batch --device "$dev" --mask-words 2 --seed 1 --top 1 -o many.jsonl data/batch.txt
	kill "$watcher" 2>/dev/null || true
	cat "$out/summary.txt"
}

case ${1:-} in
pack) pack "${2:?a folder for the pieces}" "${3:-}" ;;
run | rehearse) run "$1" "${2:?the folder of the pieces}" "${3:?a folder for the results}" ;;
*) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
