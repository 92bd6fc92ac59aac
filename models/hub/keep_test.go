package hub

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lay writes a file of the folder of a model, as a user would.
func lay(t *testing.T, c Cache, m *Model, path string, data []byte) {
	t.Helper()
	path = filepath.Join(c.Folder(m), filepath.FromSlash(path))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// An answer that cannot be the file, as that of a proxy that wants a password, costs nothing of what
// has arrived.
func TestPageOfAProxy(t *testing.T) {
	for name, m := range map[string]func(*testServer) *Model{
		"size": (*testServer).model, "about": (*testServer).vague} {
		s := newServer(t, 300_000)
		s.next(dropAfter(100_000), func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			_, _ = w.Write([]byte("<html>log in</html>"))
		})
		folder, err := Cache{t.TempDir()}.pull(t.Context(), m(s), quick(s, nil))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		mustHold(t, s, folder)
		if log := s.log(); log[1] != "onnx/model.onnx bytes=100000-" || log[2] != log[1] {
			t.Errorf("%s: requests %q", name, log)
		}
	}
}

// What an earlier download finished stays when a user puts the rest into the folder.
func TestFolderBesideADownload(t *testing.T) {
	s := newServer(t, 3000)
	c, m := Cache{t.TempDir()}, s.model()
	vocab := s.files["vocab.txt"]
	delete(s.files, "vocab.txt")
	if _, err := c.pull(t.Context(), m, quick(s, nil)); err == nil {
		t.Fatal("a file that is not there was fetched")
	}
	s.files["vocab.txt"] = vocab
	before := len(s.log())
	lay(t, c, m, "vocab.txt", vocab)
	lay(t, c, m, "onnx/model.onnx", []byte("damaged"))
	folder, err := c.pull(t.Context(), m, quick(s, nil))
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, s, folder)
	if again := s.log()[before:]; len(again) > 0 {
		t.Errorf("fetched again: %q", again)
	}
}

// Without a network a model with files that do not belong is refused, hidden folders are none of them,
// and a model whose hashes are all known needs no record.
func TestOfflineWholeModel(t *testing.T) {
	s := newServer(t, 3000)
	c, m := Cache{t.TempDir()}, s.model()
	for path, data := range s.files {
		lay(t, c, m, path, data)
	}
	lay(t, c, m, ".cache/huggingface/model.onnx.metadata", []byte("x"))
	lay(t, c, m, "onnx/.hidden", []byte("x"))
	if err := os.MkdirAll(filepath.Join(c.recordPath(m), "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pull(t.Context(), m, Options{Offline: true}); err != nil {
		t.Errorf("a whole model: %v", err)
	}
	lay(t, c, m, "tokenizer.json", []byte("{}"))
	_, err := c.Pull(t.Context(), m, Options{Offline: true})
	if !errors.Is(err, errOffline) {
		t.Error(err)
	}
}

// A file that cannot be read is an error of the store that names its folder.
func TestVerifyUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads every file")
	}
	s := newServer(t, 3000)
	c, m := Cache{t.TempDir()}, s.model()
	for path, data := range s.files {
		lay(t, c, m, path, data)
	}
	if err := os.Chmod(filepath.Join(c.Folder(m), "vocab.txt"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Verify(t.Context(), m); !errors.Is(err, errStore) ||
		!strings.Contains(err.Error(), c.Folder(m)) {
		t.Error(err)
	}
}
