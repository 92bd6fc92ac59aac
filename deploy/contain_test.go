package deploy

import (
	"archive/tar"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"testing"

	"infill/internal/testmode"
)

// releaseEnv is the variable that names the folder of the archives. `make test-release` sets it.
const releaseEnv = "INFILL_RELEASE"

// Archive returns the release archive of this platform. It skips the test if there is none.
func Archive(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(releaseEnv)
	if dir == "" {
		testmode.Missing(t, "the archive of a release (make test-release)")
	}
	name := "infill-*-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	found, err := filepath.Glob(filepath.Join(dir, name))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s has %d archives of this platform, %v", dir, len(found), err)
	}
	return found[0]
}

// Unpack unpacks a .tar.gz into a folder, as tar does, and returns the names in it.
func Unpack(t testing.TB, archive, dir string) (names []string) {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	f, err := os.Open(archive)
	check(err)
	defer func() { _ = f.Close() }()
	zipped, err := gzip.NewReader(f)
	check(err)
	for files := tar.NewReader(zipped); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		check(err)
		names = append(names, h.Name)
		path := filepath.Join(dir, h.Name)
		check(os.MkdirAll(filepath.Dir(path), 0o755))
		out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, h.FileInfo().Mode())
		check(err)
		_, err = io.Copy(out, files)
		check(errors.Join(err, out.Close()))
	}
}

// What a program in C++ may need: the libraries of Debian's libc6, libgcc-s1 and libstdc++6, which
// distroless/cc has too.
var baseLibrary = regexp.MustCompile(
	`/(?:ld-linux[\w-]*|lib(?:c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+))\.so\.\d+$`)

// A needed library in what ldd prints: its path, or that there is none.
var needed = regexp.MustCompile(`(?m)^\s(?:\S+ => )?(/\S+) \(|(\S+ => not found)`)

// BaseLibraries copies the libraries of this machine that programs need into a root folder, to the
// same places. It fails if they need more than those of C and C++.
func BaseLibraries(t testing.TB, root string, programs ...string) {
	t.Helper()
	out, err := exec.Command("ldd", programs...).CombinedOutput()
	if err != nil {
		t.Fatalf("ldd: %v: %s", err, out)
	}
	for _, m := range needed.FindAllStringSubmatch(string(out), -1) {
		path := m[1]
		if !baseLibrary.MatchString(path) {
			t.Fatalf("%v need %s, which is not of C or C++", programs, path+m[2])
		}
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(root, path), data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

//go:embed contain.sh
var containScript string

// A Container runs programs in a root folder of their own, as a container does: read-only but for
// /tmp, with /proc, and without environment variables but Env.
type Container struct {
	Root string   // the folder
	User string   // numbers, as USER:GROUP
	Env  []string // NAME=value
	Net  bool     // shares this machine's network; else there is none
}

// Command is a command in the container. It skips the test where the machine allows no containers.
func (c Container) Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		testmode.Missing(t, "root on Linux, to run programs in a root folder of their own")
	}
	for _, dir := range []string{"proc", "tmp"} {
		if err := os.MkdirAll(filepath.Join(c.Root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) *exec.Cmd {
		spaces := []string{"--mount", "--pid", "--fork", "--kill-child"}
		if !c.Net {
			spaces = append(spaces, "--net")
		}
		script := []string{"sh", "-c", containScript, "contain", c.Root, c.User}
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "unshare",
			slices.Concat(spaces, script, args)...)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, c.Env...)
		return cmd
	}
	if out, err := command().CombinedOutput(); err != nil {
		testmode.Missing(t, "a machine that lets programs have a root folder of their own: "+string(out))
	}
	return command(args...)
}
