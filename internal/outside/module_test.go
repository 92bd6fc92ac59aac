package outside

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// makeModule runs make module, and returns the folder of the copy.
func makeModule(t *testing.T, path string) string {
	t.Helper()
	for _, needed := range []string{"make", "git", "perl"} {
		if _, err := exec.LookPath(needed); err != nil {
			testmode.Missing(t, "the program "+needed)
		}
	}
	root, dir := testmode.Root(t), filepath.Join(t.TempDir(), "copy")
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		testmode.Missing(t, "a clone: make module asks git for the files")
	}
	run(t, root, nil, "make", "module", "PATH="+path, "COPY="+dir)
	return dir
}

// run runs a program in a folder, with more variables, and returns what it printed.
func run(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	out, err := c.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			out = append(out, exit.Stderr...)
		}
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestRenameModule has make write a copy of the repository with another path. Every import of every
// module in it, those of tests too, must then lead to a package of the copy, no other line of Go may differ, and
// the guide must tell programs to require the new path. So the copy compiles if this repository
// does. The long run compiles a module of it that requires another, and runs the other tests of this
// package in it.
func TestRenameModule(t *testing.T) {
	t.Parallel()
	const path = "example.org/someone/renamed"
	old, dir := modulePath(t, testmode.Root(t)), makeModule(t, path)
	guide, err := os.ReadFile(filepath.Join(dir, "docs", "guide", "library.md"))
	if err != nil {
		t.Fatal(err)
	}
	// A module within requires the module by its new path.
	for within, least := range map[string]int{".": 60, "lab": 60, "beam": 30, "server/browser": 1} {
		t.Run(within, func(t *testing.T) {
			in := filepath.Join(dir, filepath.FromSlash(within))
			if got, want := modulePath(t, in), strings.TrimSuffix(path+"/"+within, "/."); got != want {
				t.Errorf("the module is %s, want %s", got, want)
			}
			list := strings.Fields(goRun(t, in, "list", "-deps", "-test", "./..."))
			own := 0
			for _, p := range list {
				if strings.HasPrefix(p, path) {
					own++
				}
				if p == old || strings.HasPrefix(p, old+"/") {
					t.Errorf("it needs %s", p)
				}
			}
			if own < least {
				t.Errorf("%d packages under the new path", own)
			}
			if testmode.All() && within == "server/browser" { // others take minutes
				goRun(t, in, "vet", "./...")
			}
		})
	}
	edit := "\ngo mod edit -require=" + path + "@v0.0.0 -replace=" + path + "=../infill "
	if !strings.Contains(string(guide), edit) {
		t.Errorf("library.md of the copy lacks the line%s", edit)
	}
	imports := regexp.MustCompile(
		`^\s*(import\s+)?([\w.]+\s+)?"` + regexp.QuoteMeta(old) + `/[^"]*"(\s*//.*)?$`)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" {
			return err
		}
		rel, err1 := filepath.Rel(dir, name)
		was, err2 := os.ReadFile(filepath.Join(testmode.Root(t), rel))
		is, err3 := os.ReadFile(name)
		lines, now := strings.Split(string(was), "\n"), strings.Split(string(is), "\n")
		if len(lines) != len(now) {
			t.Errorf("%s has %d lines, and had %d", rel, len(now), len(lines))
			return errors.Join(err1, err2, err3)
		}
		for i, line := range lines {
			if imports.MatchString(line) {
				line = strings.Replace(line, `"`+old+"/", `"`+path+"/", 1)
			}
			if now[i] != line {
				t.Errorf("%s:%d: %q, want %q", rel, i+1, now[i], line)
			}
		}
		return errors.Join(err1, err2, err3)
	})
	if err != nil {
		t.Fatal(err)
	}
	if testmode.All() {
		goRun(t, dir, "test", "-skip", "^Test(RenameModule|GoGet)$", "./internal/outside")
	}
}

// TestGoGet publishes such a copy, and gets it as any programmer does: the go command makes the
// archive out of the tag, a folder serves it as a proxy does, and the program of README runs in an
// empty module. The other modules come from the module cache, and what that lacks from where the go
// command gets modules.
func TestGoGet(t *testing.T) {
	t.Parallel()
	testmode.Long(t)
	const path, version = "github.com/someone/infill", "v0.1.0"
	dir, work, cache := makeModule(t, path), t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c",
		"user.email=t@example.org", "commit", "-q", "-m", "release"}, {"tag", version}} {
		run(t, dir, nil, append([]string{"git", "-c", "core.compression=0"}, args...)...)
	}
	files := func(cache string) string {
		return "file://" + filepath.ToSlash(filepath.Join(cache, "cache", "download"))
	}
	// A module cache holds what one build needed, which can be less than go get asks for.
	others := files(strings.TrimSpace(goRun(t, dir, "env", "GOMODCACHE"))) + "," +
		strings.TrimSpace(goRun(t, dir, "env", "GOPROXY"))
	env := []string{"GOMODCACHE=" + cache, "GOFLAGS=-modcacherw " + os.Getenv("GOFLAGS"),
		"GOSUMDB=off", "GOWORK=off",
		"GOVCS=*:git", "GOPROXY=" + others, "GONOPROXY=" + path, "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url." + dir + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + path}
	var made struct{ Zip string }
	out := run(t, work, env, "go", "mod", "download", "-json", path+"@"+version)
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatal(err)
	}
	archive(t, made.Zip, path+"@"+version+"/")
	env = append(env, "GOPROXY="+files(cache)+","+others, "GONOPROXY=none", "GOVCS=*:off",
		"GOMODCACHE="+filepath.Join(t.TempDir(), "mod"))
	program := strings.ReplaceAll(guideProgram(t), `"infill/`, `"`+path+"/")
	write(t, filepath.Join(work, "main.go"), program)
	run(t, work, env, "go", "mod", "init", "example.org/hello")
	run(t, work, env, "go", "get", path+"/infill/open@"+version)
	fiveFillings(t, run(t, work, env, "go", "run", "."))
	if out := run(t, work, env, "go", "list", "-m", "all"); !strings.Contains(out, path+" "+version) {
		t.Errorf("modules\n%s", out)
	}
}

// archive checks what a module's archive holds.
func archive(t *testing.T, name, prefix string) {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }() // it was read only
	var size uint64
	var names []string
	for _, f := range z.File {
		name, ok := strings.CutPrefix(f.Name, prefix)
		if !ok || regexp.MustCompile(`(^|/)testdata/|^(lab|beam|server/browser|internal/tools)/`).
			MatchString(name) {
			t.Errorf("the archive holds %s", f.Name)
		}
		size += f.UncompressedSize64
		names = append(names, name)
	}
	t.Logf("%d files, %d MB", len(names), size/1e6)
	if size > 100e6 { // go get takes 500 MB
		t.Errorf("%d bytes", size)
	}
	for _, want := range []string{"go.mod", "LICENSE", "README.md", "cmd/infill/main.go",
		"models/default/model.stored.safetensors", "models/small/model.stored.safetensors"} {
		if !slices.Contains(names, want) {
			t.Errorf("the archive lacks %s", want)
		}
	}
}
