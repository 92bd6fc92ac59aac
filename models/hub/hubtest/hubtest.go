// Package hubtest is a hub for tests: its API, its files, and the store at another address that it
// redirects to for large ones. It answers as huggingface.co does, unless a test has it lie.
package hubtest

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Commit is the version of a [Repo] that has no other.
const Commit = "0123456789abcdef0123456789abcdef01234567"

// large is from how many bytes on files are in the store, apart from the repository.
const large = 2000

// A Repo is a repository of a [Server].
type Repo struct {
	Commit   string            // "" for [Commit]
	Branches []string          // revisions that stand for the commit, beside main
	Files    map[string][]byte // by path
	Pipeline string            // pipeline_tag
	Kind     string            // model_type of config.json
	Classes  []string          // architectures of config.json
	Private  bool              // the token is needed for all
	Gated    bool              // the token is needed for the files
}

// Masked is a repository of a masked language model.
func Masked(files map[string][]byte) *Repo {
	return &Repo{Files: files, Pipeline: "fill-mask", Kind: "bert",
		Classes: []string{"BertForMaskedLM"}}
}

func (r *Repo) commit() string {
	if r.Commit == "" {
		return Commit
	}
	return r.Commit
}

// A Request is one that came in.
type Request struct {
	Path  string // of the hub, or /store/… of the store
	Range string
	Token string // the header Authorization
}

// A Server is a hub.
type Server struct {
	*httptest.Server
	Store *httptest.Server // at localhost, while the hub is at 127.0.0.1
	Token string           // that opens what is private
	// List, if set, changes a listing before it is sent.
	List func(listing map[string]any)
	// Serve, if set, answers in place of the server if it returns true. data is the file, nil for a
	// request of the API.
	Serve func(w http.ResponseWriter, r *http.Request, data []byte) bool

	mu       sync.Mutex
	repos    map[string]*Repo
	requests []Request
}

// New starts a hub, which ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{repos: map[string]*Repo{}, Token: "hf_secret"}
	s.Server = httptest.NewServer(http.HandlerFunc(s.hub))
	s.Store = httptest.NewServer(http.HandlerFunc(s.store))
	s.Store.URL = strings.Replace(s.Store.URL, "127.0.0.1", "localhost", 1)
	t.Cleanup(s.Close)
	t.Cleanup(s.Store.Close)
	return s
}

// Put adds a repository, or replaces it.
func (s *Server) Put(id string, r *Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repos[id] = r
}

// Requests are those since the last call.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

func (s *Server) seen(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{r.URL.Path, r.Header.Get("Range"),
		r.Header.Get("Authorization")})
}

func (s *Server) find(id string) *Repo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.repos[id]
}

// hub answers what is asked of the hub itself.
func (s *Server) hub(w http.ResponseWriter, r *http.Request) {
	s.seen(r)
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	api := len(parts) == 6 && parts[0] == "api"
	if api {
		parts = parts[2:] // OWNER NAME revision REVISION
	}
	if len(parts) < 4 {
		http.NotFound(w, r)
		return
	}
	id, revision := parts[0]+"/"+parts[1], strings.ReplaceAll(parts[3], "%2F", "/")
	repo := s.find(id)
	mine := r.Header.Get("Authorization") == "Bearer "+s.Token
	switch {
	case repo == nil || repo.Private && !mine:
		fail(w, http.StatusUnauthorized, "RepoNotFound")
	case revision != "main" && revision != repo.commit() && !slices.Contains(repo.Branches, revision):
		fail(w, http.StatusNotFound, "RevisionNotFound")
	case api:
		s.list(w, r, id, repo)
	case repo.Gated && !mine:
		fail(w, http.StatusUnauthorized, "GatedRepo")
	default:
		s.resolve(w, r, repo, strings.Join(parts[4:], "/"))
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Error-Code", code)
	http.Error(w, code, status)
}

// list answers the API.
func (s *Server) list(w http.ResponseWriter, r *http.Request, id string, repo *Repo) {
	if s.Serve != nil && s.Serve(w, r, nil) {
		return
	}
	var files []any
	for _, path := range slices.Sorted(maps.Keys(repo.Files)) {
		data := repo.Files[path]
		f := map[string]any{"rfilename": path, "size": len(data), "blobId": Git(data)}
		if len(data) >= large {
			f["lfs"] = map[string]any{"sha256": SHA256(data), "size": len(data), "pointerSize": 134}
		}
		files = append(files, f)
	}
	answer := map[string]any{"_id": "x", "id": id, "modelId": id, "sha": repo.commit(),
		"private": repo.Private, "gated": repo.Gated, "pipeline_tag": repo.Pipeline,
		"tags":     []string{"onnx", "license:apache-2.0"},
		"config":   map[string]any{"model_type": repo.Kind, "architectures": repo.Classes},
		"siblings": files}
	if s.List != nil {
		s.List(answer)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// resolve answers for a file.
func (s *Server) resolve(w http.ResponseWriter, r *http.Request, repo *Repo, path string) {
	data, ok := repo.Files[path]
	w.Header().Set("X-Repo-Commit", repo.commit())
	switch {
	case !ok:
		fail(w, http.StatusNotFound, "EntryNotFound")
	case len(data) >= large:
		w.Header().Set("X-Linked-Etag", `"`+SHA256(data)+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(data)))
		http.Redirect(w, r, s.Store.URL+"/store/"+SHA256(data)+"?signature=hidden", http.StatusFound)
	case s.Serve != nil && s.Serve(w, r, data):
	default:
		w.Header().Set("ETag", `"`+Git(data)+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
}

// store answers for large files.
func (s *Server) store(w http.ResponseWriter, r *http.Request) {
	s.seen(r)
	s.mu.Lock()
	var data []byte
	for _, repo := range s.repos {
		for _, d := range repo.Files {
			if r.URL.Path == "/store/"+SHA256(d) {
				data = d
			}
		}
	}
	s.mu.Unlock()
	switch {
	case data == nil:
		http.NotFound(w, r)
	case s.Serve != nil && s.Serve(w, r, data):
	default:
		w.Header().Set("ETag", `"`+SHA256(data)[:20]+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
}

// SHA256 is the hash of some bytes in hexadecimal.
func SHA256(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// Git is the hash that git has of a file.
func Git(data []byte) string {
	h := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(data), data))
	return hex.EncodeToString(h[:])
}
