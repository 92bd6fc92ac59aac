#!/bin/sh
# Tests the Spark job on a cluster of two executors on this machine. Spark comes from PyPI into the
# user's cache, 500 MB of it, once.
set -eu
cd "$(dirname "$0")"
spark=4.3.0

skip() {
	echo "== the Spark job is not tested: $1"
	exit 0
}
command -v python3 >/dev/null || skip "python3 is missing"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "python3 is older than 3.11"
python3 -c 'import ensurepip, venv' 2>/dev/null || skip "python3 has no venv with pip"
command -v java >/dev/null || skip "Java is missing (apt-get install openjdk-17-jre-headless)"
java=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
[ "${java:-0}" -ge 17 ] || skip "Java $java is older than 17"

venv=${XDG_CACHE_HOME:-$HOME/.cache}/infill-tests/pyspark-$spark
if [ ! -e "$venv/complete" ]; then
	echo "== installing PySpark $spark into $venv"
	rm -rf "$venv"
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet "pyspark==$spark" || skip "pip could not install PySpark $spark"
	touch "$venv/complete"
fi
# The executors of local-cluster mode are started by scripts that look for a build of Spark, unless
# they are told of its Scala. The tests import the job, and so do their executors.
export SPARK_SCALA_VERSION=2.13 SPARK_LOCAL_IP=127.0.0.1
export PYSPARK_PYTHON="$venv/bin/python" PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1
# Each run leaves a gigabyte: what executors were sent beside Spark, what processes that were killed
# had in /tmp.
export TMPDIR=$(mktemp -d)
trap 'rm -rf "$TMPDIR" "$venv"/lib/python3*/site-packages/pyspark/work' EXIT
export SPARK_LOCAL_DIRS="$TMPDIR" JAVA_TOOL_OPTIONS="-Djava.io.tmpdir=$TMPDIR"
"$venv/bin/python" infill_job_test.py "$@"
