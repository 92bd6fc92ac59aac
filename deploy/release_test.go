package deploy

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"infill/internal/ort"
	"infill/internal/testmode"
)

// The same sources in another folder give the same bytes. What git does not know is left out.
func TestReleaseTwice(t *testing.T) {
	t.Parallel()
	archive := Archive(t)
	root, dir := testmode.Root(t), t.TempDir()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, version, _ := strings.Cut(filepath.Base(archive), "infill-")
	version, _, _ = strings.Cut(version, "-"+runtime.GOOS+"-")
	if regexp.MustCompile(`^\d+\.\d`).MatchString(version) {
		version = "v" + version
	}
	if log, err := release(t, dir, "release.py", version, "this"); err != nil {
		t.Fatalf("%v: %s", err, log)
	}
	for _, name := range []string{filepath.Base(archive), "SHA256SUMS"} {
		first, err := os.ReadFile(filepath.Join(filepath.Dir(archive), name))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(dir, "dist", name))
		if err != nil {
			t.Fatal(err)
		}
		same := bytes.Equal(first, second)
		if name == "SHA256SUMS" { // the folder may have archives of other platforms, too
			same = bytes.Contains(first, second)
		}
		if !same {
			t.Errorf("%s differs: %x and %x", name, sha256.Sum256(first), sha256.Sum256(second))
		}
	}
}

// Unpacked, the program fills where there is nothing but the libraries of C and C++: no Go, no
// compiler, no npm, no network, and no place to write.
func TestReleaseRuns(t *testing.T) {
	t.Parallel()
	archive, root := Archive(t), t.TempDir()
	names := Unpack(t, archive, root)
	for _, name := range []string{"LICENSE", "licences/go/LICENSE", "licences/models/default/LICENSE",
		"licences/models/small/README.md", "licences/onnxruntime/ThirdPartyNotices.txt",
		"licences/onnxruntime/LICENSE", "licences/github.com/yalue/onnxruntime_go/LICENSE"} {
		if !slices.Contains(names, "infill/"+name) {
			t.Errorf("the archive lacks %s", name)
		}
	}
	program := filepath.Join(root, "infill", "infill")
	library := filepath.Join(root, "infill", "libonnxruntime.so.1")
	BaseLibraries(t, root, program, library)
	c := Container{Root: root, User: "65532:65532"}
	for _, x := range []struct{ want, args string }{
		{`^infill version \S+\n$`, "version"},
		{`path +/infill/libonnxruntime\.so\.1 \(beside the command\)\n +version +` +
			regexp.QuoteMeta(ort.Version) + `\n +sha256 +\w+ \(pinned\)`, "doctor"},
		{`(?m) The \w+ sat\.$`, "fill|The [MASK] sat."},
		{`(?m) The \w+ sat\.$`, "fill|--model=small|The [MASK] sat."},
	} {
		args := append([]string{"/infill/infill"}, strings.Split(x.args, "|")...)
		out, err := c.Command(t, args...).CombinedOutput()
		if err != nil || !regexp.MustCompile(x.want).Match(out) {
			t.Errorf("%s: %v: %s", x.args, err, out)
		}
	}
	checkBill(t, filepath.Join(root, "infill", "sbom.cdx.json"), program)
}

// checkBill compares a bill of materials with what Go says of the program.
func checkBill(t *testing.T, path, program string) {
	t.Helper()
	var doc struct {
		Format     string `json:"bomFormat"`
		Components []struct {
			Name, Version string
			Licenses      []any
		}
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if err != nil || doc.Format != "CycloneDX" {
		t.Fatalf("%q, %v", doc.Format, err)
	}
	var got, want []string
	for _, c := range doc.Components {
		got = append(got, c.Name)
		if len(c.Licenses) == 0 && c.Name != "std" {
			t.Errorf("%s has no licence", c.Name)
		}
	}
	said, err := exec.Command("go", "version", "-m", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := regexp.MustCompile(`(?m)^\tdep\t(\S+)`)
	for _, m := range modules.FindAllStringSubmatch(string(said), -1) {
		want = append(want, m[1])
	}
	if len(want) < 10 {
		t.Fatalf("Go names %d modules: %s", len(want), said)
	}
	for _, name := range append(want, "std", "onnxruntime", "infill/models/default",
		"infill/models/small") {
		if !slices.Contains(got, name) {
			t.Errorf("the bill of materials lacks %s", name)
		}
	}
}

// release runs Python in the folder of the script that makes archives.
func release(t *testing.T, dir string, args ...string) ([]byte, error) {
	t.Helper()
	Archive(t) // only with the others: the usual tests run no Python
	cmd := exec.Command("python3", append([]string{"-B"}, args...)...)
	cmd.Dir = filepath.Join(dir, "scripts", "release")
	return cmd.CombinedOutput()
}

// An archive is the same whatever the order of its entries is, and what unpacks it finds them.
func TestReleasePack(t *testing.T) {
	t.Parallel()
	const program = `import pathlib, release, sys
files = {"infill/infill": b"program", "infill/LICENSE": b"text"}
for name, files in ("one", files), ("two", dict(reversed(files.items()))):
    release.pack(pathlib.Path(sys.argv[1], name + sys.argv[2]), files, {"infill/infill"})`
	for _, kind := range []string{".tar.gz", ".zip"} {
		dir := t.TempDir()
		if out, err := release(t, testmode.Root(t), "-c", program, dir, kind); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		one := filepath.Join(dir, "one"+kind)
		a, err := os.ReadFile(one)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "two"+kind))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: the bytes differ, %v", kind, err)
		}
		unpacked := os.DirFS(dir)
		if kind == ".tar.gz" {
			Unpack(t, one, dir)
		} else if unpacked, err = zip.NewReader(bytes.NewReader(a), int64(len(a))); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"infill/infill": "program -rwxr-xr-x",
			"infill/LICENSE": "text -rw-r--r--"} {
			data, err := fs.ReadFile(unpacked, name)
			if err != nil {
				t.Fatal(err)
			}
			info, err := fs.Stat(unpacked, name)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s %v", data, info.Mode()); got != want {
				t.Errorf("%s: %s is %q, want %q", kind, name, got, want)
			}
		}
	}
}

// The checksums cover one version only. Archives of others leave the folder, other files stay.
func TestReleaseSums(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const program = `import pathlib, release, sys
release.ROOT = pathlib.Path(sys.argv[1])
release.write = lambda *_: None
release.main("v0.2.0", "linux-amd64")`
	dir := filepath.Join(root, "dist")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"infill-0.2.0-linux-amd64.tar.gz", "infill-0.2.0-windows-arm64.zip",
		"infill-0.1.0-linux-amd64.tar.gz", "infill-1b2c3d-dirty-linux-arm64.tar.gz.part",
		"infill_mlm-0.1.0.whl", "infill-notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := release(t, testmode.Root(t), "-c", program, root); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 5 { // the archives, two files of others, and the sums
		t.Errorf("%v, %v", left, err)
	}
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = dir
	if out, err := check.CombinedOutput(); err != nil || bytes.Count(out, []byte(": OK\n")) != 2 {
		t.Errorf("%v: %s", err, out)
	}
}

// Platforms that cannot be built here, and versions that no name of a file can have, are refused.
func TestReleaseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ version, name, want string }{
		{"", "this", "want one such as v0.1.0"},
		{"../v1", "this", "want one such as v0.1.0"},
		{"v1", "darwin-amd64", "darwin-amd64 cannot be built here"},
		{"v1", "darwin-arm64", "darwin-arm64 cannot be built here"},
	} {
		if c.name == "darwin-arm64" && runtime.GOOS == "darwin" {
			continue
		}
		out, err := release(t, testmode.Root(t), "release.py", c.version, c.name)
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%+v: %v: %s", c, err, out)
		}
	}
}
