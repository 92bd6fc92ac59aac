package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// asPuller makes the test binary pull the test's model and end.
const asPuller = "INFILL_TEST_PULL"

func TestMain(m *testing.M) {
	if v := os.Getenv(asPuller); v != "" {
		hub, rest, _ := strings.Cut(v, " ")
		file, cache, _ := strings.Cut(rest, " ")
		os.Exit(pullerMain(hub, file, cache))
	}
	os.Exit(m.Run())
}

func pullerMain(hub, file, cache string) int {
	data, err := os.ReadFile(file)
	if err != nil {
		return 9
	}
	var m Model
	if json.Unmarshal(data, &m) != nil {
		return 8
	}
	folder, err := Cache{cache}.Pull(context.Background(), &m, Options{Hub: hub})
	fmt.Println(folder, err)
	if err != nil {
		return 1
	}
	return 0
}

// puller starts a process that pulls the server's model.
func puller(t *testing.T, s *testServer, cache Cache) *exec.Cmd {
	t.Helper()
	file := t.TempDir() + "/model.json"
	data, err := json.Marshal(s.model())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asPuller+"="+s.URL+" "+file+" "+cache.Dir)
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// Three processes pull at once: one downloads, all succeed.
func TestProcesses(t *testing.T) {
	s := newServer(t, 2_000_000)
	c, m := Cache{t.TempDir()}, s.model()
	begun, release := make(chan struct{}), make(chan struct{})
	s.next(func(w http.ResponseWriter, r *http.Request, data []byte) {
		close(begun)
		<-release
		whole(w, r, data)
	})
	first := puller(t, s, c)
	<-begun
	others := []*exec.Cmd{puller(t, s, c), puller(t, s, c)}
	// they come to the lock; if they are late, the test only shows less
	time.Sleep(300 * time.Millisecond)
	close(release)
	for _, cmd := range append(others, first) {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	mustHold(t, s, c.Folder(m))
	if log := s.log(); len(log) != 2 {
		t.Errorf("requests %q, want one for each file", log)
	}
}

// A process killed in the middle of a download gives the lock back and leaves a part that the next
// goes on with.
func TestKilled(t *testing.T) {
	s := newServer(t, 2_000_000)
	c, m := Cache{t.TempDir()}, s.model()
	sent, release := make(chan struct{}), make(chan struct{})
	s.next(func(w http.ResponseWriter, r *http.Request, data []byte) {
		w.Header().Set("ETag", `"`+sumOf(data)[:16]+`"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:1_500_000])
		w.(http.Flusher).Flush()
		close(sent)
		<-release
	})
	cmd := puller(t, s, c)
	<-sent
	part := c.partial(m) + "/00-model.onnx.part"
	for {
		if info, err := os.Stat(part); err == nil && info.Size() == 1_500_000 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	mustLackFolder(t, c, m)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	close(release)
	folder, err := c.pull(t.Context(), m, quick(s, nil))
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, s, folder)
	if log := s.log(); log[1] != "onnx/model.onnx bytes=1500000-" {
		t.Errorf("requests %q", log)
	}
}
