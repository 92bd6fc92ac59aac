#!/usr/bin/env python3
"""Writes the wheel of the Python package, with the program and ONNX Runtime in it: make wheel.

It needs Go, and nothing of Python beyond its standard library. The same sources, Go, compiler and
library give the same bytes. Zig compiles the few parts in C for an old glibc, so that the wheel runs
on older systems. It comes from PyPI into the user's cache. Without it the machine's compiler is
used, and the name of the wheel says which glibc is then needed.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import venv
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "infill_mlm"
NAME = "infill_mlm"  # the distribution is infill-mlm: in names of files a dash is a line
ZIG = "0.15.1"
OLDEST = 28  # the glibc 2.x that the wheel is for, if nothing in it needs a later one
LICENCES = re.compile(r"(?i)^(licen[cs]e|copying|notice|patents)([._-].*)?$")


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    args.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    args.add_argument("--program", type=pathlib.Path, help="a program that is built already")
    chosen = args.parse_args()
    if sys.platform != "linux":
        sys.exit("wheels are built on Linux only")
    with tempfile.TemporaryDirectory() as folder:
        program = chosen.program or compiled(pathlib.Path(folder) / "infill")
        print(write(chosen.out, program, library(program)))


def version() -> str:
    found = re.search(r'^VERSION = "(.+?)"', (PACKAGE / "_program.py").read_text(), re.M)
    assert found
    return found.group(1)


def compiled(out: pathlib.Path) -> pathlib.Path:
    """The program, stripped."""
    environment = {**os.environ, "CGO_ENABLED": "1"}
    zig = None if "CC" in os.environ else zig_python()
    if zig is not None:
        cc = out.parent / "zig-cc"
        target = f"{platform.machine()}-linux-gnu.2.{OLDEST}"
        cc.write_text(f'#!/bin/sh\nexec "{zig}" -m ziglang cc -target {target} "$@"\n')
        cc.chmod(0o755)
        environment["CC"] = str(cc)
    flags = f"-s -w -buildid= -X main.buildVersion=v{version()}"
    subprocess.run([os.environ.get("GO", "go"), "build", "-trimpath", "-buildvcs=false", "-ldflags",
                    flags, "-o", out, "./cmd/infill"], cwd=ROOT, env=environment, check=True)
    return out


def zig_python() -> pathlib.Path | None:
    """A Python that has Zig, None if pip cannot install it."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    place = cache / "infill-build" / f"zig-{ZIG}"
    python, complete = place / "bin" / "python", place / "complete"
    if complete.exists():
        return python
    print(f"== installing Zig {ZIG} into {place}, 90 MB", file=sys.stderr)
    try:
        venv.create(place, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"ziglang=={ZIG}"], check=True)
    except (OSError, subprocess.CalledProcessError) as err:
        print(f"== without Zig, by the compiler of this machine: {err}", file=sys.stderr)
        return None
    complete.touch()
    return python


def library(program: pathlib.Path) -> pathlib.Path:
    """ONNX Runtime's library, as the program finds it."""
    done = subprocess.run([program, "doctor", "--json"], stdout=subprocess.PIPE, check=False)
    try:
        return pathlib.Path(json.loads(done.stdout)["runtime"]["path"])
    except (ValueError, KeyError):
        sys.exit("ONNX Runtime is missing: run infill doctor --install")


def write(out: pathlib.Path, program: pathlib.Path, ort: pathlib.Path) -> pathlib.Path:
    """Writes the wheel into a folder, and returns its path."""
    tag = f"py3-none-manylinux_2_{max(OLDEST, glibc(program), glibc(ort))}_{platform.machine()}"
    info = f"{NAME}-{version()}.dist-info"
    files: dict[str, bytes] = {}
    for source in sorted(PACKAGE.glob("*.py")) + [PACKAGE / "py.typed"]:
        files[f"{NAME}/{source.name}"] = source.read_bytes()
    files[f"{NAME}/bin/infill"] = program.read_bytes()
    files[f"{NAME}/bin/libonnxruntime.so.1"] = ort.read_bytes()
    for name, text in licences().items():
        files[f"{info}/licenses/{name}"] = text
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: infill\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag}\n").encode()
    files[f"{info}/entry_points.txt"] = (f"[console_scripts]\ninfill = {NAME}._program:main\n"
                                         ).encode()
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD")
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"{NAME}-{version()}-{tag}.whl"
    part = wheel.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if name.startswith(f"{NAME}/bin/") else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            archive.writestr(entry, data)
    part.replace(wheel)
    return wheel


def glibc(file: pathlib.Path) -> int:
    """The x of glibc 2.x that a program or library needs at least."""
    found = re.findall(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?(?=\0)", file.read_bytes())
    return max(map(int, found), default=0)


def record(files: dict[str, bytes], own: str) -> bytes:
    """The list of files with their hashes."""
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(lines + [f"{own},,\n"]).encode()


def metadata() -> str:
    guide = (ROOT / "docs" / "guide" / "python.md").read_text()
    return (f"Metadata-Version: 2.1\nName: infill-mlm\nVersion: {version()}\n"
            "Summary: Fills the blanks of sentences jointly, with a masked language model\n"
            "License: MIT\nRequires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n"
            + guide)


def licences() -> dict[str, bytes]:
    """The licences of all that is in the wheel, by their paths."""
    found = {"LICENSE": (ROOT / "LICENSE").read_bytes(),
             "models/default/LICENSE": (ROOT / "models/default/LICENSE").read_bytes(),
             "onnxruntime/LICENSE": (ROOT / "python/licences/onnxruntime.txt").read_bytes()}
    go = os.environ.get("GO", "go")
    listed = subprocess.run(
        [go, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}",
         "./cmd/infill"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    root = subprocess.run([go, "env", "GOROOT"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()
    folders = dict(line.split("\t") for line in listed.splitlines() if line)
    for module, folder in sorted({**folders, "go": root}.items()):
        texts = [f for f in sorted(pathlib.Path(folder).iterdir()) if LICENCES.match(f.name)]
        if not texts:
            sys.exit(f"{module} has no licence in {folder}")
        for text in texts:
            if text.is_file():
                found[f"{module}/{text.name}"] = text.read_bytes()
    return found


if __name__ == "__main__":
    main()
