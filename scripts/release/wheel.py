#!/usr/bin/env python3
"""Writes the wheel of the Python package from an archive of the release: make wheel.

It needs nothing beyond Python's standard library. The program, ONNX Runtime, the licences and the
bill of materials are those of the archive, and the same archive gives the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import pathlib
import re
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "infill_mlm"
NAME = "infill_mlm"  # the distribution is infill-mlm: in names of files a dash is a line
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
OLDEST = 28  # the glibc 2.x that Zig compiles for, in release.py
PROGRAMS = ("infill", "libonnxruntime.so.1")


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    args.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    args.add_argument("archive", type=pathlib.Path, nargs="+", help="infill-…-linux-….tar.gz")
    chosen = args.parse_args()
    for archive in chosen.archive:
        print(write(chosen.out, archive))


def version() -> str:
    found = re.search(r'^VERSION = "(.+?)"', (PACKAGE / "_program.py").read_text(), re.M)
    assert found
    return found.group(1)


def unpacked(archive: pathlib.Path) -> dict[str, bytes]:
    """The files of an archive, by their paths in its folder."""
    with tarfile.open(archive) as tar:
        return {member.name.partition("/")[2]: tar.extractfile(member).read() for member in tar}


def write(out: pathlib.Path, archive: pathlib.Path) -> pathlib.Path:
    """Writes the wheel into a folder, and returns its path."""
    platform = re.search(r"-linux-(amd64|arm64)\.tar\.gz$", archive.name)
    if platform is None:
        sys.exit(f"{archive} is not an archive for Linux")
    inside = unpacked(archive)
    needed = max(glibc(inside[name]) for name in PROGRAMS)
    tag = f"py3-none-manylinux_2_{max(OLDEST, needed)}_{MACHINES[platform.group(1)]}"
    info = f"{NAME}-{version()}.dist-info"
    files: dict[str, bytes] = {}
    for source in sorted(PACKAGE.glob("*.py")) + [PACKAGE / "py.typed"]:
        files[f"{NAME}/{source.name}"] = source.read_bytes()
    for name, data in inside.items():
        if name in PROGRAMS:
            files[f"{NAME}/bin/{name}"] = data
        elif name.endswith(".cdx.json"):
            files[f"{info}/sboms/{name}"] = data
        else:
            files[f"{info}/licenses/{name.removeprefix('licences/')}"] = data
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: infill\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag}\n").encode()
    files[f"{info}/entry_points.txt"] = (f"[console_scripts]\ninfill = {NAME}._program:main\n"
                                         ).encode()
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD")
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"{NAME}-{version()}-{tag}.whl"
    part = wheel.with_suffix(".part")
    write_zip(part, files, {name for name in files if name.startswith(f"{NAME}/bin/")})
    part.replace(wheel)
    return wheel


def write_zip(path: pathlib.Path, files: dict[str, bytes], programs: set[str]) -> None:
    """Writes files into a zip archive. The same ones give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name in programs else 0o100644) << 16
            entry.create_system = 3
            archive.writestr(entry, data)


def glibc(file: bytes) -> int:
    """The x of glibc 2.x that a program or library needs at least."""
    found = re.findall(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?(?=\0)", file)
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


if __name__ == "__main__":
    main()
