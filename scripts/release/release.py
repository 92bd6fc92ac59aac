#!/usr/bin/env python3
"""Writes into dist what users download: release.py VERSION [OS-ARCH…], as make release does.

For each platform an archive of the program with ONNX Runtime beside it, all licences and a bill of
materials, and the checksums of the archives. The same sources, Go and zlib give the same bytes.
"""

import gzip, hashlib, io, json, os, re, string, subprocess, sys, tarfile, tempfile
from pathlib import Path

from wheel import ROOT, write_zip

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "infill-build"
GO = os.environ.get("GO", "go")
RUNTIME = re.search(r'^const Version = "(.+)"', (ROOT / "internal/ort/ort.go").read_text(), re.M)[1]
LICENCE = re.compile(r"(?i)(licen[cs]e|copying|notice|patents)([._-].*)?")  # names of files
ZIG = "0.15.1"  # its C compiler builds for all platforms, and for an old glibc
# A platform in Go's spelling and in Zig's, with the oldest glibc that will do, "" where Zig lacks
# what the program is linked with, and the library in onnxruntime-node.
TARGETS = {
    "linux-amd64": ("x86_64-linux-gnu.2.28", "linux/x64/libonnxruntime.so.1"),
    "linux-arm64": ("aarch64-linux-gnu.2.28", "linux/arm64/libonnxruntime.so.1"),
    "darwin-arm64": ("", f"darwin/arm64/libonnxruntime.{RUNTIME}.dylib"),
    "windows-amd64": ("x86_64-windows-gnu", "win32/x64/onnxruntime.dll"),
    "windows-arm64": ("aarch64-windows-gnu", "win32/arm64/onnxruntime.dll"),
}


def run(*command, env=None) -> str:
    return subprocess.check_output(command, cwd=ROOT, env=env, text=True)


def fetched(name: str, *command) -> Path:
    """A folder of the cache, written whole by a command that takes it as its last argument."""
    if not (CACHE / name).exists():
        print(f"== fetching {name} into {CACHE}, some 100 MB", file=sys.stderr)
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as work:
            run(*command, work)
            os.rename(work, CACHE / name)
    return CACHE / name


def compiled(target: str, cc: str, program: Path, version: str) -> dict[str, Path]:
    """Compiles the program, and returns the licences of Go and the modules that are linked in."""
    goos, goarch = target.split("-")
    env = {**os.environ, "CGO_ENABLED": "1", "GOOS": goos, "GOARCH": goarch, "GOAMD64": "v1",
           "GOARM64": "v8.0", "GOFLAGS": "", "GOEXPERIMENT": "", "GOWORK": "off", "CC": cc,
           "CGO_CFLAGS": "-O2 -g", "CGO_LDFLAGS": "-O2"}  # nothing of the user's changes the bytes
    run(GO, "build", "-trimpath", "-buildvcs=false", "-o", program, "-ldflags",
        f"-s -w -buildid= -X main.buildVersion={version}", "./cmd/infill", env=env)
    row = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}"
    rows = run(GO, "list", "-deps", "-f", row, "./cmd/infill", env=env).split("\n")
    go, texts = run(GO, "env", "GOROOT").strip(), {}
    for module, top, folder in [r.split("\t") for r in rows if r] + [("go", go, go)]:
        for path in Path(folder, "x").parents:  # a package may have a licence of its own
            for text in path.iterdir() if path.is_relative_to(top) else ():
                if LICENCE.fullmatch(text.name) and text.is_file():
                    texts[f"licences/{module}/{text.relative_to(top).as_posix()}"] = text
        if not any(name.startswith(f"licences/{module}/") for name in texts):
            sys.exit(f"{module} has no licence in {top}")
    return texts


def bill(program: Path, **values: str) -> bytes:
    """The bill of materials: cyclonedx-gomod's, without its own hash, and with what is not Go."""
    doc = json.loads(run(GO, "tool", "-modfile=internal/tools/go.mod", "cyclonedx-gomod", "bin",
                         "-json", "-std", "-licenses", "-assert-licenses", "-noserial",
                         "-notimestamp", "-version", values["version"], program))
    del doc["metadata"]["tools"][0]["hashes"]  # it differs between machines
    parts = string.Template((ROOT / "scripts/release/parts.json").read_text())
    doc["components"] += json.loads(parts.substitute(values))
    return (json.dumps(doc, indent=2) + "\n").encode()


def pack(path: Path, files: dict[str, bytes], programs: set[str]) -> None:
    """Writes an archive, of the kind that its name says, whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    part = path.with_name(path.name + ".part")
    if path.suffix == ".zip":
        write_zip(part, dict(sorted(files.items())), programs)
    else:
        with part.open("wb") as out, gzip.GzipFile("", "wb", 6, out, mtime=0) as zipped, \
                tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, data in sorted(files.items()):
                entry = tarfile.TarInfo(name)
                entry.mode = 0o755 if name in programs else 0o644
                entry.size, entry.mtime = len(data), 315532800  # 1980, as in a zip archive
                archive.addfile(entry, io.BytesIO(data))
    part.replace(path)


def write(path: Path, target: str, version: str, local: bool) -> None:
    """Writes the archive of a target. A local one is for machines like this, by its own compiler."""
    zig_target, inside = TARGETS[target]
    package = fetched(f"onnxruntime-node-{RUNTIME}", "npm", "pack", f"onnxruntime-node@{RUNTIME}",
                      "--silent", "--pack-destination")
    with tarfile.open(next(package.iterdir())) as tar:
        library = next(tar.extractfile(m).read() for m in tar if m.name.endswith("/" + inside))
    digest, name = hashlib.sha256(library).hexdigest(), Path(inside).name
    if digest not in (ROOT / "internal/ort/platform.go").read_text():
        sys.exit(f"{name} in {package} is not the pinned build; delete the package")
    texts = {f"licences/onnxruntime/{t.name}": t for t in ROOT.glob("scripts/*/onnxruntime/*")}
    texts |= {f"licences/models/{text}": ROOT / "models" / text
              for text in ("default/LICENSE", "small/README.md")}
    texts |= {f"licences/rapidoc/{text.name}": text for text in ROOT.glob("server/page/docs/*.txt")}
    with tempfile.TemporaryDirectory() as work:
        cc = os.environ.get("CC", "cc")
        if zig_target and not local:
            zig = fetched(f"ziglang-{ZIG}", sys.executable, "-m", "pip", "install", "--quiet",
                          f"ziglang=={ZIG}", "--target") / "ziglang"
            # Its path differs between runs, so that Go takes nothing that C compiled out of its
            # cache. A difference between two builds is then one of the build.
            Path(work, "zig").symlink_to(zig / "zig")
            cc = f"{work}/zig cc -target {zig_target}"
            texts["licences/zig/LICENSE"] = zig / "LICENSE"
            if "windows" in target:
                texts["licences/mingw-w64/COPYING"] = zig / "lib/libc/mingw/COPYING"
        program = Path(work, "infill.exe" if "windows" in target else "infill")
        texts |= compiled(target, cc, program, version) | {"LICENSE": ROOT / "LICENSE"}
        files = {text: path.read_bytes() for text, path in texts.items()}
        files |= {program.name: program.read_bytes(), name: library, "sbom.cdx.json": bill(
            program, version=version, runtime=RUNTIME, library=name, sha256=digest)}
        pack(path, {f"infill/{file}": data for file, data in files.items()},
             {f"infill/{program.name}", f"infill/{name}"})


def main(version: str, *names: str) -> None:
    if re.search(r"[ /\\]|^$", version):
        sys.exit(f"version {version!r}: want one such as v0.1.0")
    here = "-".join(run(GO, "env", "GOHOSTOS", "GOHOSTARCH").split())
    archives = {target: ROOT / "dist" / f"infill-{version.removeprefix('v')}-{target}"
                f"{'.zip' if 'windows' in target else '.tar.gz'}" for target in TARGETS}
    targets = [here if name == "this" else name for name in names]
    for target in targets or [t for t in TARGETS if TARGETS[t][0] or t == here]:
        if target not in TARGETS or not TARGETS[target][0] and target != here:
            sys.exit(f"{target} cannot be built here: want this, or some of {', '.join(TARGETS)}")
        print(f"== {archives[target].name}", file=sys.stderr)
        write(archives[target], target, version, names == ("this",))
    sums = ""
    for path in sorted((ROOT / "dist").glob("infill-*")):
        if path in archives.values():
            sums += f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        elif re.search(r"-(amd64|arm64)\.(tar\.gz|zip)(\.part)?$", path.name):
            path.unlink()  # of another version
    (ROOT / "dist/SHA256SUMS").write_text(sums)


if __name__ == "__main__":
    main(*sys.argv[1:])
