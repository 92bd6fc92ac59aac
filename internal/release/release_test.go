package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
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
	archive := testmode.Archive(t)
	root, dir, out := testmode.Root(t), t.TempDir(), t.TempDir()
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
	cmd := exec.Command(goCommand(), "run", "./internal/release", "-out", out, "-version", version,
		"this")
	cmd.Dir = dir
	if log, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, log)
	}
	for _, name := range []string{filepath.Base(archive), "SHA256SUMS"} {
		first, err := os.ReadFile(filepath.Join(filepath.Dir(archive), name))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(out, name))
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
	archive, root := testmode.Archive(t), t.TempDir()
	names := testmode.Unpack(t, archive, root)
	for _, name := range []string{"LICENSE", "licences/go/LICENSE", "licences/models/default/LICENSE",
		"licences/models/small/README.md", "licences/onnxruntime/ThirdPartyNotices.txt",
		"licences/onnxruntime/LICENSE", "licences/github.com/yalue/onnxruntime_go/LICENSE"} {
		if !slices.Contains(names, top+name) {
			t.Errorf("the archive lacks %s", name)
		}
	}
	program := filepath.Join(root, "infill", "infill")
	library := filepath.Join(root, "infill", "libonnxruntime.so.1")
	testmode.BaseLibraries(t, root, program, library)
	c := testmode.Container{Root: root, User: "65532:65532"}
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

// An archive is the same whatever the order of its entries is, and what unpacks it finds them.
func TestPack(t *testing.T) {
	t.Parallel()
	files := func() []entry {
		return []entry{{name: "infill", data: []byte("program"), run: true},
			{name: "LICENSE", data: []byte("text")}}
	}
	for _, kind := range []string{".tar.gz", ".zip"} {
		dir := t.TempDir()
		one, two := filepath.Join(dir, "one"+kind), filepath.Join(dir, "two"+kind)
		reversed := files()
		slices.Reverse(reversed)
		if err := cmp.Or(pack(one, files()), pack(two, reversed)); err != nil {
			t.Fatal(err)
		}
		a, err := os.ReadFile(one)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(two)
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: the bytes differ, %v", kind, err)
		}
		got := map[string]string{}
		if kind == ".tar.gz" {
			for _, name := range testmode.Unpack(t, one, dir) {
				info, err := os.Stat(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				got[name] = fmt.Sprintf("%s %v", data, info.Mode())
			}
		} else {
			z, err := zip.NewReader(bytes.NewReader(a), int64(len(a)))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range z.File {
				in, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(in)
				if err != nil {
					t.Fatal(err)
				}
				got[f.Name] = fmt.Sprintf("%s %v", data, f.Mode())
			}
		}
		if len(got) != 2 || got["infill/infill"] != "program -rwxr-xr-x" ||
			got["infill/LICENSE"] != "text -rw-r--r--" {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

// The checksums are those of one version. Archives of others leave the folder, other files stay.
func TestSums(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"infill-0.2.0-linux-amd64.tar.gz", "infill-0.2.0-windows-arm64.zip",
		"infill-0.1.0-linux-amd64.tar.gz", "infill-1b2c3d-dirty-linux-arm64.tar.gz.part",
		"infill_mlm-0.1.0.whl", "infill-notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := sums(dir, "v0.2.0"); err != nil {
		t.Fatal(err)
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
func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ version, name, want string }{
		{"", "this", "want one such as v0.1.0"},
		{"../v1", "this", "want one such as v0.1.0"},
		{"v1", "darwin-amd64", "no ONNX Runtime for darwin-amd64"},
		{"v1", "darwin-arm64", "build it on a Mac"},
	} {
		if c.name == "darwin-arm64" && runtime.GOOS == "darwin" {
			continue
		}
		err := run(t.Context(), t.TempDir(), c.version, []string{c.name})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
