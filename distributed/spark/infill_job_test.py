"""Tests infill_job.py against what `infill batch` gives on one machine. test.sh runs them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import infill_job
from infill_job import JobError, Line, Program

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SETTINGS = ("--seed", "7")
FLAGS = ("--chains", "4", "--steps", "8", "--top", "2")
# Executors and drivers that live for seconds are done before the second compiler has paid.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def infill(*args: str | Path, cwd: Path | None = None) -> None:
    """Runs the program on one machine. Lines that fail are no reason to stop."""
    code = subprocess.run([ROOT / "bin/infill", *args, "--quiet"], check=False, cwd=cwd).returncode
    if code not in (0, 1):
        raise AssertionError(f"infill ended with code {code}")


def sentences() -> Iterator[bytes]:
    """Lines of JSON, 120 good ones among all that a file may have."""
    yield b'\xef\xbb\xbf{"text": "A byte order mark and a [MASK]."}'
    for i in range(40):
        yield b'{"text": "The [MASK] of number %d sat on the [MASK]."}' % i
        yield b'{"id": "s/%d \xc3\xa9", "text": "She [MASK] the [MASK].", "page": [1.50]}' % i
        yield b'{"id": %d, "text": "He [MASK] the [MASK].", "temperature": 0.5, "line": 3}\r' % i
    yield b""
    yield b" \t\xc2\xa0\xe2\x80\x83\xe2\x80\xa8\xe3\x80\x80"  # blank, in Unicode
    yield b"\x1c"  # not blank
    yield b"{not JSON}"
    yield b'{"text": "no blank"}'
    yield b'{"text": "not \xff UTF-8 [MASK]"}'
    yield b'{"id": null, "text": "The last [MASK] has no line end."}'


class Files(unittest.TestCase):
    """Has the folder of the test and the archive in it, with a model of the name `small`."""

    folder: Path
    archive: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        model = cls.folder / "small"
        subprocess.run([ROOT / "bin/infill", "model", "save", "small", model], check=True)
        cls.archive = cls.folder / "infill.tar.gz"
        subprocess.run([HERE / "bundle.sh", cls.archive, model], check=True)


class Cluster(Files):
    def test_executor_killed(self) -> None:
        """Two executors, of which one is killed in the middle, give the bytes of one machine."""
        source, out, alone = (self.folder / n for n in ("in.jsonl", "out", "alone.jsonl"))
        source.write_bytes(b"\n".join(sentences()))
        infill("batch", source, "-o", alone, *SETTINGS, *FLAGS)
        log = self.folder / "log"
        with (
            log.open("wb") as output,
            subprocess.Popen(
                [
                    Path(sys.executable).parent / "spark-submit",
                    *("--master", "local-cluster[2,1,512]", "--conf", "spark.executor.memory=512m"),
                    *("--conf", "spark.ui.enabled=false", "--driver-java-options", QUICK),
                    *("--conf", f"spark.executor.extraJavaOptions={QUICK}"),
                    *("--archives", f"{self.archive}#infill"),
                    *(HERE / "infill_job.py", source, out, *SETTINGS, "--partitions", "12"),
                    *("--", *FLAGS),
                ],
                stdout=output,
                stderr=output,
            ) as job,
        ):
            try:
                done = kill_executor(job, out)
                code = job.wait(timeout=900)
            finally:
                job.kill()
        said = log.read_text(errors="replace")
        self.assertEqual(code, 0, said[-8000:])
        self.assertIn("Lost executor", said)
        self.assertLess(done, 12, "the executor was killed after its work")
        parts = sorted(out.glob("part-*"))
        self.assertGreaterEqual(len(parts), 12)
        self.assertEqual(b"".join(p.read_bytes() for p in parts), alone.read_bytes())
        records = [json.loads(line) for line in alone.read_text().splitlines()]
        failed = sum("error" in r for r in records)
        self.assertEqual((len(records), failed), (126, 4))
        self.assertIn(f"filled {len(records) - failed}, failed {failed}\n", said)


def kill_executor(job: subprocess.Popen[bytes], out: Path) -> int:
    """Kills an executor while it fills, when some partition is written. Returns how many were."""
    while job.poll() is None:
        done = len(list(out.glob("_temporary/0/task_*")))
        lines = subprocess.check_output(["ps", "-eo", "pid=,ppid=,args="], text=True).splitlines()
        processes = {
            int(pid): (int(parent), args)
            for pid, parent, args in (line.split(None, 2) for line in lines)
        }
        for pid, (_, args) in processes.items():
            if done == 0 or "/infill batch - " not in args:
                continue
            while pid in processes and "CoarseGrainedExecutorBackend" not in processes[pid][1]:
                pid = processes[pid][0]
            executor = pid
            while pid in processes and pid != job.pid:
                pid = processes[pid][0]
            if pid == job.pid and executor in processes:
                os.kill(executor, signal.SIGKILL)
                return done
        time.sleep(0.05)
    raise AssertionError(f"the job ended with code {job.returncode} before an executor was killed")


class Local(Files):
    """What needs a session but no second machine."""

    spark: SparkSession

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.extraJavaOptions", QUICK)
            .config("spark.archives", f"{cls.archive}#infill")
            .getOrCreate()
        )
        cls.spark.sparkContext.setLogLevel("OFF")
        cls.addClassCleanup(cls.spark.stop)

    def table(self, name: str, rows: Sequence[tuple[object, ...]], schema: str) -> Path:
        """Writes a table, as one file, so that the program reads it too."""
        path = self.folder / f"{name}.parquet"
        self.spark.createDataFrame(rows, schema).coalesce(1).write.parquet(str(path))
        return path

    def run_job(self, *args: str | Path) -> tuple[int, int]:
        return infill_job.run(self.spark, infill_job.options([str(a) for a in args]))

    def test_table(self) -> None:
        """A table gives what one machine gives, and its other columns are not settings."""
        texts = ["The [MASK] sat on the [MASK].", "A [MASK] went home.", "no blank", None]
        rows = [(f'r"{i} <é>', texts[i % 4], 3) for i in range(20)]
        source = self.table("rows", rows, "name string, sentence string, steps int")
        out, alone = self.folder / "filled.parquet", self.folder / "alone.parquet"
        fields = ("--text-field", "sentence")
        counts = self.run_job(
            *(source, out, *SETTINGS, *fields, "--id-field", "name", "--model", "small"),
            *("--partitions", "3", "--", *FLAGS),
        )
        self.assertEqual(counts, (15, 5))
        # The program takes the column of the name id for ids.
        renamed = self.table("renamed", rows, "id string, sentence string, steps int")
        file = next(renamed.glob("part-*"))
        model = ("--model", self.folder / "small")
        infill("batch", file, "-o", alone, *SETTINGS, *FLAGS, *fields, *model)

        def sorted_rows(path: Path) -> list[tuple[object, ...]]:
            table: DataFrame = self.spark.read.parquet(str(path))
            table = table.withColumnRenamed("sentence", "text").fillna({"text": ""})
            names = self.spark.read.parquet(str(out)).columns
            return sorted(map(tuple, table.select(names).collect()), key=str)

        self.assertEqual(sorted_rows(out), sorted_rows(alone))
        # The other columns come back as README.md says.
        filled = self.spark.read.parquet(str(out)).withColumnRenamed("id", "name").drop("text")
        joined = self.spark.read.parquet(str(source)).join(filled, "name")
        self.assertEqual(joined.where("steps = 3").count(), 20)

    def test_columns(self) -> None:
        """The columns of a table are those of one machine, whatever the flags ask for."""
        texts = ("The cat sat on the mat.", "One day she went home.", "A [MASK] is no word.")
        rows = [(i, texts[i % 3]) for i in range(6)]
        source = self.table("whole", rows, "id long, text string")
        blanks = self.table("blank", [(1, "The [MASK] sat."), (2, "no")], "id long, text string")
        words = self.folder / "tone.txt"
        words.write_text("dog 2\n")
        self.spark.sparkContext.addFile(str(words))
        energy = ("--energy", "words:tone.txt=1")
        for i, (path, flags) in enumerate(
            [
                (source, ("--mask-words=2", "--marginals=false", *FLAGS)),
                (source, ("--mask-rate", "0.3", *energy, *FLAGS, "--marginals")),
                (blanks, (*energy, *FLAGS, "--marginals")),
            ]
        ):
            with self.subTest(flags=flags):
                out, alone = (self.folder / f"{name}{i}.parquet" for name in ("columns", "alone"))
                self.run_job(
                    *(path, out, *SETTINGS, "--model", "small", "--partitions", "2", "--", *flags)
                )
                model = ("--model", self.folder / "small")
                file = next(path.glob("part-*"))
                infill("batch", file, "-o", alone, *SETTINGS, *flags, *model, cwd=self.folder)
                got, want = (self.spark.read.parquet(str(p)).drop("line") for p in (out, alone))
                self.assertEqual(got.dtypes, want.dtypes)
                rows = [
                    # Spark writes 1E-8 in JSON where the program writes 1e-8.
                    sorted(str(tuple(r)).replace("E-", "e-") for r in table.collect())
                    for table in (got, want)
                ]
                self.assertEqual(*rows)

    def test_refused(self) -> None:
        """Bad input is refused before any work, with the remedy."""
        good = self.table("good", [(1, "[MASK]")], "id long, text string")
        bare = self.table("bare", [("[MASK]", 0.5)], "words string, id double")
        names = [(1, "[MASK]"), (1, "[MASK]"), (None, "[MASK]")]
        twice = self.table("twice", names, "id long, text string")
        named = self.folder / "named.jsonl"
        named.write_text('{"words": "[MASK]"}\n')
        thin = ("--thin", "3")
        new = self.folder / "new"
        for args, says in {
            (bare, new): "no column 'text' of the texts (it has: words, id); --text-field names",
            (bare, new, "--text-field", "id"): "'id' has the type double, not one of string",
            (bare, new, "--text-field", "words"): "--id-field names another column of ids",
            (twice, new): "column 'id' names 1 of 3 rows",
            (good, new, "--model", "big"): "no model 'big' (it has: small): make it with bundle.sh",
            (good, new, "--", "--step-size", "x"): "step-size",
            (good, new, "--", "--allow", "elsewhere.txt"): "spark-submit --files FILE brings it",
            (named, new, "--text-field", "words", "--", *thin): "thinning by 3 steps",
            (good, new, "--", "--mask-words", "1", *thin): "thinning by 3 steps",
            (good, new, "--", "--per", "filling", "--top", "1"): "no column 'rank': leave out",
            (good, new, "--", "-o", new): "must leave input, output and format to the job",
            (good, good): "PATH_ALREADY_EXISTS",
            (self.folder / "none.jsonl", new): "PATH_NOT_FOUND",
        }.items():
            errors = (JobError, AnalysisException)
            with self.subTest(args=args), self.assertRaises(errors) as caught:
                own = args.index("--") if "--" in args else len(args)
                self.run_job(*args[:own], *SETTINGS, *args[own:])
            self.assertIn(says, str(caught.exception))

    def test_files(self) -> None:
        """A file that a flag names travels with --files, and is named without its folder."""
        source, out, alone = (self.folder / n for n in ("in.jsonl", "out", "alone.jsonl"))
        source.write_text('{"text": "The [MASK] sat on the [MASK]."}\n' * 3)
        words, liked = self.folder / "words.txt", self.folder / "liked.txt"
        words.write_text("dog\nred\nhouse\n")
        liked.write_text("dog 2\n")
        for path in (words, liked):
            self.spark.sparkContext.addFile(str(path))  # what --files does
        flags = (*FLAGS, "--allow", "words.txt", "--energy", "words:liked.txt=1")
        infill("batch", source, "-o", alone, *SETTINGS, *flags, cwd=self.folder)
        self.run_job(source, out, *SETTINGS, "--partitions", "2", "--", *flags)
        parts = sorted(out.glob("part-*"))
        self.assertEqual(b"".join(p.read_bytes() for p in parts), alone.read_bytes())

    def test_no_archive(self) -> None:
        """A job without its archive says how to make and give it."""
        with mock.patch("infill_job.ARCHIVE", "elsewhere"), self.assertRaises(JobError) as caught:
            Program("", SETTINGS).command()
        self.assertIn("spark-submit --archives infill.tar.gz#elsewhere", str(caught.exception))

    def test_program_fails(self) -> None:
        """A program that dies, skips a line or says too much never passes for one that is done."""
        good = Shell("cat >/dev/null; echo '{\"line\":1}'").fill([(0, b"a"), (1, b" ")])
        self.assertEqual(list(good), [('{"line":1}', False)])
        for script, says in {
            "cat >/dev/null": "ended with code 0 and printed no record of 2 lines",
            "read a; kill -9 $$": "ended with code -9",
            "echo no model >&2; exit 3": "no model",
            'echo "{\\"line\\":2}"; cat >/dev/null': "out of its place",
            'echo "{\\"line\\":1}{}"; cat >/dev/null': "Extra data",
        }.items():
            with self.subTest(script=script), self.assertRaises((JobError, ValueError)) as caught:
                list(Shell(script).fill([(0, b"a"), (1, b"b")]))
            self.assertIn(says, str(caught.exception))

    def test_input_fails(self) -> None:
        """An error of the input is not the end of the input."""

        def lines() -> Iterator[Line]:
            yield 0, b'{"text": "[MASK]"}'
            raise OSError("a lost block")

        with self.assertRaisesRegex(OSError, "a lost block"):
            list(Program("", SETTINGS).fill(lines()))


class Shell(Program):
    """A program that is a shell script."""

    def __init__(self, script: str) -> None:
        super().__init__("", (script,))

    def command(self) -> list[str]:
        return ["sh", "-c", *self.flags]


if __name__ == "__main__":
    unittest.main(verbosity=2)
