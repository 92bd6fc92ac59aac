#!/usr/bin/env bash
# Writes a copy of the repository that can be published: the module has another path, in every
# go.mod, in the imports of all Go files, and in the programs and commands that documents show.
# Nothing else changes. The packages keep their names.
# Usage: scripts/module.sh PATH FOLDER       for example example.org/you/infill dist/module
set -euo pipefail
cd "$(dirname "$0")/.."
[[ ${1-} =~ ^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._~-]+)+$ ]] || {
	echo "the path of a module begins with a domain: make module PATH=example.org/you/infill" >&2
	exit 2
}
export NEW=$1 OLD=$(sed -n 's/^module //p' go.mod)
mkdir -p "$(dirname "$2")" && mkdir "$2" # a copy may have a history by now
git ls-files -z | tar -c --null -T - -f - | tar -x -C "$2" -f -
cd "$2"
# The modules within, which have paths below the module's, and those of them that require it.
find . -name go.mod -print0 | xargs -0 perl -pi -e '
	s{^((?:module |require |replace )?\s*)\Q$ENV{OLD}\E(?=[/\s])}{$1$ENV{NEW}}'
# An import stands on a line of its own, with a name before it at most. Other
# strings that begin like the module's path stay as they are.
find . \( -name '*.go' -o -name '*.md' \) -print0 | xargs -0 perl -pi -e '
	s{^(\s*(?:import\s+)?(?:[\w.]+\s+)?")\Q$ENV{OLD}\E(/[^"]*)?("\s*(?://.*)?)$}{$1.$ENV{NEW}.($2//"").$3}e;
	s{(-require=|-replace=)\Q$ENV{OLD}\E(?=[@=])}{$1$ENV{NEW}}g if /^go mod edit /'
# Who requires the module downloads no other module within it: neither lab nor beam, nor test data.
find . -name testdata -exec touch '{}/go.mod' \;
echo "$2 is the module $NEW: commit and tag it there"
