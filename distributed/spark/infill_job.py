"""Fills the blanks of a large file on Spark.

    spark-submit --archives infill.tar.gz#infill infill_job.py IN OUT --seed 1 [-- FLAGS]

FLAGS are those of `infill batch`. Every partition goes as JSON lines through one process of it.
README.md has more. The job needs Python 3.10 and PySpark on driver and executors, nothing else.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from pyspark import RDD, SparkContext, SparkFiles
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

ARCHIVE = "infill"  # the folder that `--archives infill.tar.gz#infill` makes on every executor

# What the program takes for white space: a line of nothing else has a number but no record.
SPACES = "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)

Line = tuple[int, bytes]  # the number of a line, from 0, and the line without its end


class JobError(Exception):
    """What the caller has to change, in a sentence that names the remedy."""


@dataclass(frozen=True)
class Program:
    """`infill batch` as an executor starts it."""

    model: str  # a folder of the archive, "" for the model that is part of the program
    flags: tuple[str, ...]

    def command(self) -> list[str]:
        """The command line. Raises JobError if the archive lacks a part of it."""
        folder = os.path.abspath(SparkFiles.get(ARCHIVE))
        binary = os.path.join(folder, "infill")
        if not os.path.isfile(binary):
            raise JobError(
                f"executors have no {ARCHIVE}/infill: make infill.tar.gz with bundle.sh and give "
                f"spark-submit --archives infill.tar.gz#{ARCHIVE}"
            )
        # Lines that fail have records. A task that ends badly for them would only be repeated.
        command = [binary, "batch", "-", "--format", "jsonl", "--ok-if-lines-fail", "--quiet"]
        command += self.flags
        if not self.model:
            return command
        path = os.path.join(folder, self.model)
        if not os.path.isdir(path):
            has = [e.name for e in os.scandir(folder) if e.is_dir()]
            raise JobError(
                f"the archive has no model {self.model!r} (it has: "
                f"{', '.join(sorted(has)) or 'none'}): make it with "
                f"bundle.sh infill.tar.gz /path/to/{self.model}"
            )
        return [*command, "--model", path]

    def header(self) -> list[str]:
        """The columns of a table of ids and texts that is filled with these flags.

        The number of the line is left out, as rows have none on Spark. Raises JobError if the
        program refuses the flags for tables.
        """
        done = subprocess.run(
            [*self.command(), "--format", "csv", "--output-format", "csv"],  # the last ones count
            input=b"id,text\n",
            capture_output=True,
            check=False,
            env=self.environment(),
            cwd=SparkFiles.getRootDirectory(),
        )
        if done.returncode != 0:
            raise JobError(done.stderr.decode(errors="replace").strip())
        return [name for name in done.stdout.decode().strip().split(",") if name != "line"]

    def environment(self) -> dict[str, str]:
        """The variables of the process. The cache takes what is computed of the model once."""
        library = os.path.join(os.path.abspath(SparkFiles.get(ARCHIVE)), "libonnxruntime.so.1")
        cache = os.path.join(os.path.abspath(SparkFiles.getRootDirectory()), "infill-cache")
        return {"INFILL_CACHE": cache, **os.environ, "INFILL_ORT": library}

    def fill(self, lines: Iterable[Line]) -> Iterator[tuple[str, bool]]:
        """Yields the records of the lines that are not blank, in their order.

        A pair is a record as it was printed, and whether it is an error record. The numbers of the
        lines follow each other. Raises JobError if the program ends before its input does.
        """
        lines = iter(lines)
        start = next((line for line in lines if not is_blank(line)), None)
        if start is None:
            return  # no process for nothing
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(
                self.command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self.environment(),
                cwd=SparkFiles.getRootDirectory(),  # where spark-submit --files puts files
            )
            assert process.stdin and process.stdout
            feed = Feed(process.stdin, itertools.chain([start], lines), process.kill)
            try:
                for record in process.stdout:
                    yield record.decode().rstrip("\n"), feed.match(record)
                code = process.wait()
                feed.finish()
            finally:
                process.kill()  # of use when the task is cancelled or a record does not match
                process.stdout.close()
                process.wait()
            if code != 0 or feed.sent:
                log.seek(0)
                said = log.read().decode(errors="replace").strip()
                raise JobError(
                    said
                    or f"infill ended with code {code} and printed no record of {len(feed.sent)} "
                    "lines; its flags must leave input, output and format to the job"
                )


class Feed:
    """Writes lines to the program in a thread of its own, and remembers which are on their way."""

    def __init__(self, pipe: IO[bytes], lines: Iterator[Line], kill: Callable[[], None]) -> None:
        self.sent: deque[int] = deque()  # numbers of the lines that have no record yet
        self.error: Exception | None = None
        self.thread = threading.Thread(target=self.write, args=(pipe, lines, kill), daemon=True)
        self.thread.start()

    def write(self, pipe: IO[bytes], lines: Iterator[Line], kill: Callable[[], None]) -> None:
        try:
            with pipe:
                for i, (number, line) in enumerate(lines):
                    if i == 0:
                        skip(pipe, number)
                    if not is_blank((number, line)):
                        self.sent.append(number)
                    pipe.write(line + b"\n")
        except BrokenPipeError:
            pass  # the exit code says why
        except Exception as e:  # of the input, which would otherwise look as if it ended here
            self.error = e
            kill()

    def match(self, record: bytes) -> bool:
        """Whether this is an error record. Raises JobError if its line is not the next one."""
        fields = json.loads(record)
        if not self.sent or self.sent.popleft() != fields["line"] - 1:
            raise JobError(f"a record came out of its place: {record[:200]!r}")
        return "error" in fields

    def finish(self) -> None:
        self.thread.join()
        if self.error is not None:
            raise self.error


def skip(pipe: IO[bytes], lines: int) -> None:
    """Writes empty lines, which the program counts and passes over.

    The lines after them have the numbers that they have in the whole file. Records name these, and
    the random stream of a line without an id comes from its number.
    """
    block = b"\n" * (1 << 16)
    for _ in range(lines // len(block)):
        pipe.write(block)
    pipe.write(block[: lines % len(block)])


def is_blank(line: Line) -> bool:
    text = line[1].decode("utf-8", errors="replace")
    return not (text.removeprefix("\ufeff") if line[0] == 0 else text).strip(SPACES)


def json_lines(spark: SparkSession, path: str, partitions: int) -> RDD[Line]:
    """The lines of a file as they are, with their numbers, in the order of the file."""
    session = spark.newSession()  # whose settings are its own
    session.conf.set("spark.sql.files.minPartitionNum", partitions)
    session.conf.set("spark.sql.files.openCostInBytes", 1)  # a split may be that small
    text = session.read.option("lineSep", "\n").text(path)
    raw = text.select(F.col("value").cast("binary")).rdd
    return raw.zipWithIndex().map(lambda pair: (pair[1], bytes(pair[0][0])))


def table_lines(table: DataFrame, text: str, name: str, partitions: int) -> RDD[Line]:
    """The rows of a table as JSON lines of a text and an id. Other columns stay where they are."""
    check_column(table, text, {"string"}, "the texts", "--text-field")
    check_column(table, name, {"string", "int", "bigint"}, "ids", "--id-field")
    texts, ids = F.col(f"`{text}`"), F.col(f"`{name}`")
    counts = table.agg(F.count(F.lit(1)), F.count(ids), F.countDistinct(ids)).first()
    rows, named, distinct = counts or (0, 0, 0)
    if not rows == named == distinct:
        raise JobError(
            f"column {name!r} names {distinct} of {rows} rows: an id must be there and must be the "
            "only one of its value; make a column of such ids and name it with --id-field"
        )
    return table.select(ids, texts).repartition(partitions, ids).rdd.mapPartitions(encode)


def encode(rows: Iterable[tuple[str | int, str | None]]) -> Iterator[Line]:
    for number, (name, text) in enumerate(rows):
        line = json.dumps({"id": name, "text": text}, ensure_ascii=False)
        yield number, line.encode()


def check_column(table: DataFrame, name: str, types: set[str], what: str, option: str) -> None:
    have = dict(table.dtypes)
    if name not in have:
        raise JobError(
            f"the table has no column {name!r} of {what} (it has: {', '.join(have)}); "
            f"{option} names another"
        )
    if have[name] not in types:
        raise JobError(
            f"column {name!r} has the type {have[name]}, not one of {', '.join(sorted(types))}; "
            f"{option} names another column of {what}"
        )


# Members of records. What tables have as JSON is a string here, which Spark 4 reads as it stands.
FILLING = (
    "struct<text: string, score: double, score_per_token: double, probability: double, "
    "tokens: array<string>, spans: array<array<bigint>>, count: bigint, energies: string>"
)
RECORD = (
    "struct<id: string, text: string, gold: string, masked: array<string>, "
    f"fillings: array<{FILLING}>, scoring: string, distinct: bigint, acceptance: double, "
    "groups: string, marginals: string, error: struct<code: string, message: string>>"
)


def of_filling(filling: Column) -> dict[str, Column]:
    """All columns that a filling can have in a table."""
    same = ("score", "score_per_token", "probability", "tokens", "spans")
    return {
        "filled": filling["text"],
        **{name: filling[name] for name in same},
        "count": F.when(filling["count"] != 0, filling["count"]),  # 0: computed, without chains
        "energies": filling["energies"],
    }


def columns(records: DataFrame, id_type: str, names: Sequence[str]) -> DataFrame:
    """Records as a table of the columns that Program.header names. Raises JobError for others."""

    def members(filling: Column) -> Column:
        return F.struct(*(c.alias(n) for n, c in of_filling(filling).items() if n in names))

    r = records.select(F.from_json("value", RECORD).alias("r")).select("r.*")
    known = {
        "id": r["id"].cast(id_type),
        "text": F.coalesce(r["gold"], r["text"]),  # as it was before words were masked
        "blanked": F.when(F.size(r["masked"]) > 0, r["text"]),
        "masked": r["masked"],
        **of_filling(r["fillings"][0]),
        "fillings": F.transform(r["fillings"], members),
        **{n: r[n] for n in ("scoring", "distinct", "acceptance", "groups", "marginals")},
        "error": r["error"]["code"],
        "error_message": r["error"]["message"],
    }
    if strange := [name for name in names if name not in known]:
        raise JobError(
            f"tables of this job have no column {strange[0]!r}: leave out the flag that asks for "
            "it, such as --per filling, or fill JSON lines"
        )
    return r.select(*(known[name].alias(name) for name in names))


def run(spark: SparkSession, o: argparse.Namespace) -> tuple[int, int]:
    """Fills o.input into o.output. Returns the numbers of filled and of failed lines."""
    sc = spark.sparkContext
    program = Program(o.model, ("--seed", o.seed, "--threads", task_cpus(sc), *o.flags))
    is_table = o.format == "parquet"
    problem, names = trial(sc, program, "text" if is_table else o.text_field, is_table)
    if problem:
        if "no such file" in problem:
            problem += " (spark-submit --files FILE brings it to the executors; its flag takes the "
            problem += "name without the folder)"
        raise JobError(problem)
    filled, failed = sc.accumulator(0), sc.accumulator(0)

    def fill(part: Iterable[Line]) -> Iterator[tuple[str]]:
        for record, is_error in program.fill(part):
            (failed if is_error else filled).add(1)
            yield (record,)

    # No shuffle comes after the filling. The task that fills also writes, so a partition that is
    # written is never filled again, and Spark counts each partition once.
    if is_table:
        table = spark.read.parquet(o.input)
        lines = table_lines(table, o.text_field, o.id_field, o.partitions)
        records = spark.createDataFrame(lines.mapPartitions(fill), "value string")
        columns(records, dict(table.dtypes)[o.id_field], names).write.parquet(o.output)
    else:
        lines = json_lines(spark, o.input, o.partitions)
        spark.createDataFrame(lines.mapPartitions(fill), "value string").write.text(o.output)
    return filled.value, failed.value


def trial(sc: SparkContext, program: Program, field: str, table: bool) -> tuple[str, list[str]]:
    """What is wrong with program, model or flags, and the columns of a table if nothing is.

    Two lines on one executor find it. A task that fails is repeated, and says it in a page of Java.
    """

    def attempt(_: int) -> tuple[str, list[str]]:
        texts = ("[MASK]", "This is a sentence.")  # the second for flags that mask words
        try:
            list(program.fill(enumerate(json.dumps({field: t}).encode() for t in texts)))
            return "", program.header() if table else []
        except JobError as e:
            return str(e), []

    problem, names = sc.parallelize([0], 1).map(attempt).collect()[0]
    return problem, names


def task_cpus(sc: SparkContext) -> str:
    return str(sc.getConf().get("spark.task.cpus", "1"))


def options(args: list[str]) -> argparse.Namespace:
    own, flags = args, []
    if "--" in args:
        own, flags = args[: args.index("--")], args[args.index("--") + 1 :]
    p = argparse.ArgumentParser(
        prog="infill_job.py", epilog="What follows -- are flags of `infill batch`."
    )
    p.add_argument("input", help="JSON lines or Parquet: a file, a folder or a pattern")
    p.add_argument("output", help="a folder that does not exist")
    p.add_argument("--seed", required=True, help="seed of all randomness: repeated tasks need it")
    p.add_argument("--model", default="", help="a model's folder in the archive, if it has one")
    formats = ("jsonl", "parquet")
    p.add_argument("--format", choices=formats, help="of input and output (default: by name)")
    p.add_argument("--text-field", default="text", help="column or field of the texts")
    p.add_argument("--id-field", default="id", help="column that names the rows of a table")
    p.add_argument("--partitions", type=int, default=200, help="tasks to make (default: 200)")
    o = p.parse_args(own)
    name = o.input.rstrip("/")
    if o.format is None and name.endswith((".parquet", ".pq")):
        o.format = "parquet"
    if o.format is None and name.removesuffix(".gz").endswith((".jsonl", ".ndjson", ".json")):
        o.format = "jsonl"
    if o.format is None:
        p.error(f"the name {o.input!r} does not say what it holds: add --format jsonl or parquet")
    if o.partitions < 1:
        p.error(f"--partitions must be 1 or more, not {o.partitions}")
    o.flags = flags if o.format == "parquet" else ["--text-field", o.text_field, *flags]
    return o


def main(args: list[str]) -> int:
    o = options(args)
    spark = SparkSession.builder.appName("infill").getOrCreate()
    try:
        filled, failed = run(spark, o)
    except (JobError, AnalysisException) as e:
        print(f"infill_job.py: {e}", file=sys.stderr)
        return 2
    finally:
        spark.stop()
    print(f"filled {filled}, failed {failed}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
