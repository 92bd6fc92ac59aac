package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"infill/internal/testmode"
)

// An image is what a Dockerfile makes: a root folder, and how a program is started in it.
type image struct {
	root                          string
	env                           []string
	user                          string
	health, entrypoint, arguments []string
}

// build follows the instructions of a Dockerfile. Of the base image it takes the libraries of C and
// C++, from this machine. An instruction that is not known here is an error.
func build(t *testing.T, file, context string) *image {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	im := &image{root: t.TempDir()}
	args := map[string]string{}
	list := func(text string) (words []string) {
		if err := json.Unmarshal([]byte(text), &words); err != nil {
			t.Fatalf("%s: without a shell a command is a list: %v", text, err)
		}
		return words
	}
	for line := range strings.Lines(strings.ReplaceAll(string(b), "\\\n", " ")) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(os.Expand(rest, func(name string) string { return args[name] }))
		switch word {
		case "", "#":
		case "FROM":
			if rest != "gcr.io/distroless/cc-debian12:nonroot" {
				t.Fatalf("FROM %s: the test knows what another image holds", rest)
			}
		case "ARG":
			args[rest] = map[string]string{"TARGETARCH": runtime.GOARCH}[rest]
		case "ADD":
			pattern, to, _ := strings.Cut(rest, " ")
			found, err := filepath.Glob(filepath.Join(context, pattern))
			if err != nil || len(found) != 1 {
				t.Fatalf("ADD %s: %d files, %v", rest, len(found), err)
			}
			Unpack(t, found[0], filepath.Join(im.root, to))
		case "ENV":
			im.env = append(im.env, strings.Fields(rest)...)
		case "USER":
			im.user = rest
		case "WORKDIR":
			if err := os.MkdirAll(filepath.Join(im.root, rest), 0o755); err != nil {
				t.Fatal(err)
			}
		case "EXPOSE":
		case "HEALTHCHECK":
			_, command, _ := strings.Cut(rest, "CMD ")
			im.health = list(command)
		case "ENTRYPOINT":
			im.entrypoint = list(rest)
		case "CMD":
			im.arguments = list(rest)
		default:
			t.Fatalf("the test does not know the instruction %s", word)
		}
	}
	program := path.Join(im.root, im.entrypoint[0])
	library := filepath.Join(filepath.Dir(program), "libonnxruntime.so.1")
	BaseLibraries(t, im.root, program, library)
	return im
}

// run is a command in a container of the image, with further environment variables. Its root file
// system is read-only but for /tmp.
func (im *image) run(t *testing.T, env []string, network bool, args ...string) *exec.Cmd {
	t.Helper()
	return Container{Root: im.root, User: im.user, Env: slices.Concat(im.env, env),
		Net: network}.Command(t, args...)
}

// buildContext is a folder with what docker build would get: the archive of this platform.
func buildContext(t *testing.T) string {
	t.Helper()
	archive := Archive(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(archive, filepath.Join(dir, "dist", filepath.Base(archive))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// filled is a score and a filling, whatever the words of the default model are.
var filled = regexp.MustCompile(`^ +-\d+\.\d+  The [a-z]+ sat on the [a-z]+\.\n$`)

// The image fills without a network, a shell or a place to write. Its service is healthy when it
// answers, wants a key, and ends on SIGTERM.
func TestImage(t *testing.T) {
	im := build(t, "Dockerfile", buildContext(t))
	out, err := im.run(t, nil, false, append(im.entrypoint, "fill", "--top=1", "--quiet",
		"The [MASK] sat on the [MASK].")...).CombinedOutput()
	if err != nil || !filled.Match(out) {
		t.Errorf("fill: %v: %s", err, out)
	}
	if out, err := im.run(t, nil, false, append(im.entrypoint, "model", "save", "small",
		"/data/small")...).CombinedOutput(); err == nil || !strings.Contains(string(out), "read-only") {
		t.Errorf("it writes elsewhere than to /tmp: %v: %s", err, out)
	}

	const secret = "the-key-of-a-test"
	keys := filepath.Join(im.root, "run", "secrets", "keys")
	if err := os.MkdirAll(filepath.Dir(keys), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keys, []byte(secret+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// The port of the image may be taken on this machine.
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	env := []string{"INFILL_ADDR=0.0.0.0:" + port}
	if out, err := im.run(t, env, true, im.health...).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "no server answers") {
		t.Fatalf("the health check, without a service: %v: %s", err, out)
	}
	service := im.run(t, env, true, append(im.entrypoint, im.arguments...)...)
	var log testmode.Buffer
	service.Stdout, service.Stderr = &log, &log
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = service.Process.Kill() }() // does nothing if it has ended
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		out, err := im.run(t, env, true, im.health...).CombinedOutput()
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("not healthy: %v: %s, %s", err, out, log.String())
		}
	}
	answers := map[string]int{secret: http.StatusOK, "none": http.StatusUnauthorized}
	for token, want := range answers {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			"http://127.0.0.1:"+port+"/v1/fill", strings.NewReader(`{"text": "The [MASK] sat."}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != want ||
			want == http.StatusOK && !bytes.Contains(body, []byte(" sat.")) {
			t.Errorf("%s: %d, want %d: %s, %v", token, res.StatusCode, want, body, err)
		}
	}
	if err := syscall.Kill(inside(t, service), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := service.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v: %s", err, log.String())
	}
}

// inside is the first process of a container.
func inside(t *testing.T, c *exec.Cmd) (pid int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", c.Process.Pid))
	if err == nil {
		_, err = fmt.Sscan(string(b), &pid)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
