#!/usr/bin/env bash
# Gives the module another path, so that it can be published: in every go.mod, in the
# imports of all Go files, and in the programs and the go mod edit commands that
# documents show. Nothing else changes. The packages keep their names.
# Usage: scripts/rename-module.sh PATH       for example example.org/you/infill
set -euo pipefail
cd "$(dirname "$0")/.."
new=${1:?the new path of the module, for example example.org/you/infill}
old=$(sed -n 's/^module //p' go.mod)
# The modules within, which have paths below the module's, and those of them that require it.
find . -name .git -prune -o -name go.mod -type f -print0 |
	OLD=$old NEW=$new xargs -0 perl -pi -e '
		s{^((?:module |require |replace )?\s*)\Q$ENV{OLD}\E(?=[/\s])}{$1$ENV{NEW}}'
# An import stands on a line of its own, with a name before it at most. Other
# strings that begin like the module's path stay as they are.
find . -name .git -prune -o \( -name '*.go' -o -name '*.md' \) -type f -print0 |
	OLD=$old NEW=$new xargs -0 perl -pi -e '
		s{^(\s*(?:import\s+)?(?:[\w.]+\s+)?")\Q$ENV{OLD}\E(/[^"]*)?("\s*(?://.*)?)$}{$1.$ENV{NEW}.($2//"").$3}e;
		s{(-require=|-replace=)\Q$ENV{OLD}\E(?=[@=])}{$1$ENV{NEW}}g if /^go mod edit /'
echo "the module is now $new: check it with \`make test\`, then commit and tag"
