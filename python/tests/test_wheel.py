"""The wheel in dist: what it holds, and that pip installs it into an empty environment."""

import base64
import csv
import hashlib
import importlib.util
import io
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import infill_mlm

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHEELS = sorted((ROOT / "dist").glob(f"infill_mlm-{infill_mlm.__version__}-*_{platform.machine()}.whl"))

_spec = importlib.util.spec_from_file_location("build_wheel", ROOT / "scripts/release/wheel.py")
build = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build)


@unittest.skipUnless(WHEELS, "dist has no wheel for this machine (make wheel)")
class WheelTest(unittest.TestCase):
    wheel = max(WHEELS, key=lambda f: f.stat().st_mtime, default=None)

    def test_record(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            info = f"infill_mlm-{infill_mlm.__version__}.dist-info"
            rows = list(csv.reader(io.StringIO(archive.read(f"{info}/RECORD").decode())))
            self.assertEqual([row[0] for row in rows], names)
            for name, digest, size in rows[:-1]:
                data = archive.read(name)
                want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
                self.assertEqual((digest, size), ("sha256=" + want, str(len(data))), name)
            for name in ("LICENSE", "models/default/LICENSE", "onnxruntime/LICENSE", "go/LICENSE"):
                self.assertIn(f"{info}/licenses/{name}", names)
            self.assertIn(f"{info}/sboms/sbom.cdx.json", names)
            for source in (ROOT / "python" / "infill_mlm").glob("*.py"):
                self.assertEqual(archive.read(f"infill_mlm/{source.name}"), source.read_bytes(),
                                 "make wheel writes it again")
            self.assertNotIn(b"\0.debug_info\0", archive.read("infill_mlm/bin/infill"))

    def test_tag(self):
        # The name promises no older glibc than its files need.
        promised = int(self.wheel.name.split("manylinux_2_")[1].split("_")[0])
        with zipfile.ZipFile(self.wheel) as archive:
            for name in ("infill", "libonnxruntime.so.1"):
                needed = build.glibc(archive.read(f"infill_mlm/bin/{name}"))
                self.assertTrue(0 < needed <= promised, (name, needed))

    def test_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            archive = pathlib.Path(folder) / "infill-1-linux-arm64.tar.gz"

            def make(time):
                with tarfile.open(archive, "w:gz") as tar:
                    for name, data in {"infill": b"\0GLIBC_2.34\0GLIBC_2.4.1\0", "LICENSE": b"text",
                                       "libonnxruntime.so.1": b"\0GLIBC_2.3\0"}.items():
                        entry = tarfile.TarInfo("infill/" + name)
                        entry.size, entry.mtime = len(data), time
                        tar.addfile(entry, io.BytesIO(data))

            make(1)
            first = build.write(pathlib.Path(folder) / "a", archive)
            make(2)
            second = build.write(pathlib.Path(folder) / "b", archive)
            self.assertEqual(first.read_bytes(), second.read_bytes())
            self.assertIn("manylinux_2_34_aarch64", first.name)
            self.assertEqual(len(list(first.parent.iterdir())), 1)

    def test_install(self):
        try:
            import ensurepip  # noqa: F401
            import venv
        except ImportError:
            self.skipTest("this Python has no venv with pip (apt-get install python3-venv)")
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "venv"
            venv.create(place, with_pip=True)
            # Nothing but the wheel: no program of PATH, no library of the user's cache.
            clean = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}

            def run(*command):
                done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout

            python = str(place / "bin" / "python")
            before = set(place.rglob("*"))
            run(python, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", str(self.wheel))
            # The program says what it was built from: a tag, or else a commit.
            self.assertRegex(run(str(place / "bin" / "infill"), "version"), r"^infill version (v\d|[0-9a-f]{12})")
            self.assertIn(str(place), run(str(place / "bin" / "infill"), "doctor", "--json"))
            code = ("import infill_mlm as infill\n"
                    "model = infill.Model('small')\n"
                    "print(infill.__version__, model.fill('The [MASK] went home.', top=1)[0].text)")
            version, text = run(python, "-c", code).strip().split(" ", 1)
            self.assertEqual(version, infill_mlm.__version__)
            self.assertRegex(text, r"^The \w+ went home\.$")
            run(python, "-m", "pip", "check")
            run(python, "-m", "pip", "uninstall", "--yes", "--quiet", "infill-mlm")
            left = {f for f in set(place.rglob("*")) - before
                    if "__pycache__" not in f.parts and f.suffix != ".pyc"}
            self.assertEqual(left, set())


if __name__ == "__main__":
    unittest.main()
