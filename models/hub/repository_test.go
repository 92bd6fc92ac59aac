package hub

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"infill/models/hub/hubtest"
)

// exported are the files of a repository as transformers.js has them.
func exported() map[string][]byte {
	return map[string][]byte{
		"config.json": []byte(`{"model_type":"bert"}`), "tokenizer.json": noise(3000, 3),
		"tokenizer_config.json": []byte("{}"), "vocab.txt": noise(50, 4), "README.md": []byte("# Hi\n"),
		"model.safetensors": noise(5000, 5), "onnx/model.onnx": noise(20_000, 6),
		"onnx/model.onnx_data": noise(90_000, 7), "onnx/model_fp16.onnx": noise(9000, 8),
		"onnx/model_quantized.onnx": noise(4000, 9), "onnx/model_q4.onnx": noise(3500, 10),
	}
}

// repository starts a hub with o/n.
func repository(t *testing.T, files map[string][]byte) (*hubtest.Server, Cache, options) {
	t.Helper()
	s := hubtest.New(t)
	s.Put("o/n", hubtest.Masked(files))
	return s, Cache{t.TempDir()}, quickly(s.URL, nil)
}

// pulled looks a repository up and pulls it.
func pulled(t *testing.T, c Cache, name, file string, o options) (*Model, string, error) {
	t.Helper()
	m, err := c.look(t.Context(), name, file, o)
	if err != nil {
		return nil, "", err
	}
	folder, err := c.pull(t.Context(), m, o)
	return m, folder, err
}

// held are the files below a folder.
func held(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(folder, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(folder, p)
		all[filepath.ToSlash(rel)], err = os.ReadFile(p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPullRepository(t *testing.T) {
	s, c, o := repository(t, exported())
	m, folder, err := pulled(t, c, "o/n", "", o)
	if err != nil {
		t.Fatal(err)
	}
	got, want := held(t, folder), exported()
	for _, path := range []string{"vocab.txt", "README.md", "model.safetensors", "onnx/model_fp16.onnx",
		"onnx/model_quantized.onnx", "onnx/model_q4.onnx"} {
		delete(want, path)
	}
	if !maps.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%q", slices.Sorted(maps.Keys(got)))
	}
	if m.Size() != 20_000+90_000+3000+21+2 || m.Licence != "apache-2.0" || m.Architecture != "bert" ||
		m.Home != defaultHub+"/o/n" || m.Note != "onnx/model.onnx" || m.Commit != hubtest.Commit {
		t.Errorf("%+v", m)
	}
	// It is found by its branch, by its commit and by its file.
	for _, name := range []string{"o/n", "o/n@main", "o/n@" + hubtest.Commit} {
		r, _ := parseRepo(name)
		if f := c.Find(name, ""); f == nil || c.Folder(f) != folder ||
			c.Find(name, "onnx/model.onnx") == nil || c.Find(name, "onnx/model_q4.onnx") != nil || f.Revision != r.Revision {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, name := range []string{"o/n@dev", "o/m", "O/n"} {
		if c.Find(name, "") != nil {
			t.Errorf("%s is found", name)
		}
	}
	checks, err := c.Verify(t.Context(), m)
	if err != nil || faults(checks) != 0 || checks[0].By != "the record of the first download" {
		t.Errorf("%+v, %v", checks, err)
	}
	// A second pull asks the API alone, one of the commit nothing, nor does one offline.
	s.Requests()
	if _, again, err := pulled(t, c, "o/n", "", o); err != nil || again != folder {
		t.Errorf("%s, %v", again, err)
	}
	if log := s.Requests(); len(log) != 1 || log[0].Path != "/api/models/o/n/revision/main" {
		t.Errorf("%q", log)
	}
	off := o
	off.Offline = true
	for name, o := range map[string]options{"o/n@" + hubtest.Commit: o, "o/n": off} {
		if _, again, err := pulled(t, c, name, "", o); err != nil || again != folder {
			t.Errorf("%s: %s, %v", name, again, err)
		}
	}
	if _, _, err := pulled(t, c, "o/n@dev", "", off); !errors.Is(err, errOffline) {
		t.Error(err)
	}
	if log := s.Requests(); len(log) != 0 {
		t.Errorf("%q", log)
	}
}

// A branch that went on gets a folder of its own, as do other ONNX files of one commit.
func TestRepositoryVersions(t *testing.T) {
	s, c, o := repository(t, exported())
	_, first, err := pulled(t, c, "o/n", "", o)
	if err != nil {
		t.Fatal(err)
	}
	_, half, err := pulled(t, c, "o/n", "onnx/model_fp16.onnx", o)
	if err != nil || half == first || len(held(t, half)) != 4 {
		t.Fatalf("%s, %v", half, err)
	}
	main := "o/n"
	if m := c.Find(main, ""); c.Folder(m) != half {
		t.Errorf("the last pull is not what the name means: %+v", m)
	}
	if m := c.Find(main, "onnx/model.onnx"); m == nil || c.Folder(m) != first {
		t.Errorf("%+v", m)
	}
	next := hubtest.Masked(exported())
	next.Commit, next.Branches = strings.Repeat("ab", 20), []string{"feature/x"}
	next.Files["onnx/model.onnx"] = noise(20_000, 60)
	s.Put("o/n", next)
	_, second, err := pulled(t, c, "o/n@feature/x", "", o)
	if err != nil || second == first {
		t.Fatalf("%s, %v", second, err)
	}
	if m := c.Find(main, "onnx/model.onnx"); c.Folder(m) != first {
		t.Errorf("main is %+v", m)
	}
	if _, moved, err := pulled(t, c, "o/n", "", o); err != nil || moved != second {
		t.Errorf("main moved: %s, %v", moved, err)
	}
	var names []string
	for _, m := range c.versions() {
		names = append(names, repo{m.Name, m.Revision}.String()+" "+m.Export())
	}
	slices.Sort(names)
	if want := []string{"o/n onnx/model.onnx", "o/n@" + hubtest.Commit + " onnx/model.onnx",
		"o/n@" + hubtest.Commit + " onnx/model_fp16.onnx"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}

// What is interrupted goes on where it stopped, in the store.
func TestRepositoryResumes(t *testing.T) {
	s, c, o := repository(t, exported())
	big := exported()["onnx/model.onnx_data"]
	cut := true
	s.Serve = func(w http.ResponseWriter, r *http.Request, data []byte) bool {
		if !cut || len(data) != len(big) {
			return false
		}
		cut = false
		dropAfter(40_000)(w, r, data)
		return true
	}
	_, folder, err := pulled(t, c, "o/n", "", o)
	if err != nil || !bytes.Equal(held(t, folder)["onnx/model.onnx_data"], big) {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(s.Requests(), func(r hubtest.Request) bool {
		return r.Range == "bytes=40000-" && strings.HasPrefix(r.Path, "/store/")
	}) {
		t.Error("it began again")
	}
}

// A hub that lies is found out, and nothing of it can be used.
func TestLyingHub(t *testing.T) {
	serve := func(path string, what func([]byte) []byte) func(*hubtest.Server) {
		return func(s *hubtest.Server) {
			size := len(exported()[path])
			s.Serve = func(w http.ResponseWriter, _ *http.Request, data []byte) bool {
				if len(data) != size {
					return false
				}
				_, _ = w.Write(what(bytes.Clone(data)))
				return true
			}
		}
	}
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	file := func(path string, change func(f map[string]any)) func(*hubtest.Server) {
		return func(s *hubtest.Server) {
			s.List = func(l map[string]any) {
				for _, f := range l["siblings"].([]any) {
					if f := f.(map[string]any); f["rfilename"] == path {
						change(f)
					}
				}
			}
		}
	}
	lfs := func(f map[string]any) map[string]any { return f["lfs"].(map[string]any) }
	const onnx, config = "onnx/model.onnx", "config.json"
	for name, c := range map[string]struct {
		lie  func(*hubtest.Server)
		want error
		text string
	}{
		"other bytes":            {serve(onnx, flip), errMismatch, "SHA-256"},
		"other bytes, small":     {serve(config, flip), errMismatch, "git's hash"},
		"truncated":              {serve(onnx, func(b []byte) []byte { return b[:19_999] }), errFetch, "19999 of 20000"},
		"truncated, small":       {serve(config, func(b []byte) []byte { return b[:20] }), errMismatch, "20 bytes"},
		"longer":                 {serve(onnx, func(b []byte) []byte { return append(b, 1) }), errTooLarge, "more than 20000"},
		"another hash is listed": {file(onnx, func(f map[string]any) { lfs(f)["sha256"] = strings.Repeat("0", 64) }), errMismatch, "SHA-256"},
		"another size is listed": {file(onnx, func(f map[string]any) { lfs(f)["size"] = 5 }), errMismatch, "20000 bytes"},
		"a huge size":            {file(onnx, func(f map[string]any) { lfs(f)["size"] = 1 << 60 }), errAnswer, "size"},
		"a negative size":        {file(onnx, func(f map[string]any) { lfs(f)["size"] = -1 }), errAnswer, "size"},
		"no size":                {file(config, func(f map[string]any) { delete(f, "size") }), errAnswer, "size"},
		"a hash of another kind": {file(onnx, func(f map[string]any) { lfs(f)["sha256"] = "abc" }), errAnswer, "sha256"},
		"a path out of it":       {file("vocab.txt", func(f map[string]any) { f["rfilename"] = "../../x" }), errAnswer, "leads out"},
		"an absolute path":       {file("vocab.txt", func(f map[string]any) { f["rfilename"] = "/etc/passwd" }), errAnswer, "leads out"},
		"a path of Windows":      {file("vocab.txt", func(f map[string]any) { f["rfilename"] = `a\..\..\x` }), errAnswer, "leads out"},
		"twice":                  {file("vocab.txt", func(f map[string]any) { f["rfilename"] = config }), errAnswer, "twice"},
		"a branch for a commit":  {func(s *hubtest.Server) { s.List = func(l map[string]any) { l["sha"] = "main" } }, errAnswer, "commit"},
		"an endless answer": {func(s *hubtest.Server) {
			s.Serve = func(w http.ResponseWriter, _ *http.Request, data []byte) bool {
				for i := 0; data == nil && i <= maxAnswer>>20; i++ {
					_, _ = w.Write(bytes.Repeat([]byte("["), 1<<20))
				}
				return data == nil
			}
		}, errAnswer, "more than"},
		"no JSON": {func(s *hubtest.Server) {
			s.Serve = func(w http.ResponseWriter, _ *http.Request, data []byte) bool {
				_, _ = w.Write([]byte("<html>log in</html>"))
				return data == nil
			}
		}, errAnswer, "JSON"},
	} {
		s, cache, o := repository(t, exported())
		c.lie(s)
		_, _, err := pulled(t, cache, "o/n", "", o)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
		if cache.Find("o/n", "") != nil {
			t.Errorf("%s: there is a model", name)
		}
	}
}

// Other content under the same commit is not what was pulled first.
func TestChangedCommit(t *testing.T) {
	for name, change := range map[string]func(map[string][]byte){
		"large":   func(f map[string][]byte) { f["onnx/model.onnx"] = noise(20_000, 66) },
		"small":   func(f map[string][]byte) { f["config.json"] = []byte(`{"model_type":"BERT"}`) },
		"another": func(f map[string][]byte) { f["onnx/model.onnx_data"] = noise(10_000, 67) },
	} {
		s, c, o := repository(t, exported())
		_, folder, err := pulled(t, c, "o/n", "", o)
		if err != nil {
			t.Fatal(err)
		}
		files := exported()
		change(files)
		s.Put("o/n", hubtest.Masked(files))
		for _, gone := range []bool{false, true} { // the folder may be lost, the record stays
			if gone {
				if err := os.RemoveAll(folder); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := pulled(t, c, "o/n", "", o); !errors.Is(err, errMismatch) ||
				!strings.Contains(err.Error(), folder+".json") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// What a hub refuses says what to do.
func TestRepositoryRefusals(t *testing.T) {
	status := func(code int, header ...string) func(*hubtest.Server) {
		return func(s *hubtest.Server) {
			s.Serve = func(w http.ResponseWriter, _ *http.Request, data []byte) bool {
				if data != nil {
					return false
				}
				for i := 0; i < len(header); i += 2 {
					w.Header().Set(header[i], header[i+1])
				}
				w.WriteHeader(code)
				return true
			}
		}
	}
	put := func(change func(*hubtest.Repo)) func(*hubtest.Server) {
		return func(s *hubtest.Server) {
			r := hubtest.Masked(exported())
			change(r)
			s.Put("o/n", r)
		}
	}
	without := func(what ...string) func(*hubtest.Server) {
		return put(func(r *hubtest.Repo) {
			maps.DeleteFunc(r.Files, func(p string, _ []byte) bool {
				return slices.ContainsFunc(what, func(w string) bool { return strings.Contains(p, w) })
			})
		})
	}
	for name, c := range map[string]struct {
		ask, file, token string
		make             func(*hubtest.Server)
		want             error
		text             string
	}{
		"missing":           {ask: "o/x", want: errNotPublic, text: "HF_TOKEN"},
		"missing, token":    {ask: "o/x", token: "hf_secret", want: errNotPublic, text: "your token may not read it"},
		"404":               {make: status(404), want: errNoRepository, text: "spelling on its page, http://127.0.0.1:"},
		"no such revision":  {ask: "o/n@v9", want: errNoRepository, text: "no revision v9"},
		"private":           {make: put(func(r *hubtest.Repo) { r.Private = true }), want: errNotPublic, text: "private and wants your token"},
		"another's token":   {make: put(func(r *hubtest.Repo) { r.Private = true }), token: "hf_other", want: errNotPublic, text: "not valid"},
		"gated":             {make: put(func(r *hubtest.Repo) { r.Gated = true }), want: errNotPublic, text: "accept its terms"},
		"403":               {make: status(403), token: "hf_secret", want: errNotPublic, text: "accept its terms"},
		"too many requests": {make: status(429, "Retry-After", "77"), want: errFetch, text: "after 77"},
		"500":               {make: status(500), want: errFetch, text: "6 attempts"},
		"no export":         {make: without(".onnx"), want: errNoExport, text: "optimum"},
		"no usual name": {make: put(func(r *hubtest.Repo) {
			r.Files = map[string][]byte{"encoder_model.onnx": noise(10, 1), "decoder_model.onnx": noise(10, 1)}
		}), want: ErrFile, text: "decoder_model.onnx, encoder_model.onnx"},
		"no such file":             {file: "onnx/x.onnx", want: errNoExport, text: "there are onnx/model.onnx"},
		"a file that is no export": {file: "config.json", want: errNoExport, text: "there are"},
		"no tokenizer": {make: without("tokenizer.json", "vocab.txt"), want: errNoExport,
			text: "AutoTokenizer"},
		"not masked": {make: put(func(r *hubtest.Repo) {
			r.Pipeline, r.Classes = "text-classification", []string{"BertForSequenceClassification"}
		}), want: errNotMasked, text: "for text-classification BertForSequenceClassification"},
		"not masked, no tag": {make: put(func(r *hubtest.Repo) {
			r.Pipeline, r.Classes = "", []string{"GPT2LMHeadModel"}
		}), want: errNotMasked, text: "GPT2LMHeadModel"},
	} {
		s, cache, o := repository(t, exported())
		o.Token = c.token
		if c.make != nil {
			c.make(s)
		}
		if c.ask == "" {
			c.ask = "o/n"
		}
		_, _, err := pulled(t, cache, c.ask, c.file, o)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) ||
			strings.Contains(err.Error(), "hf_") || strings.Contains(err.Error(), "signature") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// After too many requests the hub's own wish is how long is waited.
func TestWaitsAsAsked(t *testing.T) {
	s, c, o := repository(t, exported())
	var waits []time.Duration
	o.after = func(d time.Duration) <-chan time.Time { waits = append(waits, d); return time.After(0) }
	n := 0
	s.Serve = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		if n++; n > 1 {
			return false
		}
		w.Header().Set("Retry-After", "33")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	if _, _, err := pulled(t, c, "o/n", "", o); err != nil || fmt.Sprint(waits) != "[33s]" {
		t.Errorf("%v, %v", waits, err)
	}
}

// A listing that drips, fast enough not to stall, is given up as a whole.
func TestListingDrips(t *testing.T) {
	s, c, o := repository(t, exported())
	o.stall = 300 * time.Millisecond // a loaded machine writes late
	asked := 0
	s.Serve = func(w http.ResponseWriter, r *http.Request, data []byte) bool {
		if data != nil {
			return false
		}
		asked++
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, stallBytes))
			w.(http.Flusher).Flush()
			time.Sleep(o.stall / 10)
		}
		return true
	}
	begin := time.Now()
	_, err := c.look(t.Context(), "o/n", "", o)
	if !errors.Is(err, errDrips) || !errors.Is(err, errFetch) || asked != 1 || time.Since(begin) > 30*time.Second {
		t.Errorf("after %v, asked %d times: %v", time.Since(begin), asked, err)
	}
}

func TestParseRepo(t *testing.T) {
	for text, want := range map[string]repo{
		"google-bert/bert-base-uncased": {"google-bert/bert-base-uncased", "main"},
		"o/n@v1.0":                      {"o/n", "v1.0"},
		"o/n@refs/pr/3":                 {"o/n", "refs/pr/3"},
		"A.b_c-d/E.f_g-h@x":             {"A.b_c-d/E.f_g-h", "x"},
	} {
		got, ok := parseRepo(text)
		if !ok || got != want || got.String() != text {
			t.Errorf("%s: %+v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "bert", "./n", "../n", "o/..", "o/n/m", "/n", "o/", "o/n@", "o/n@../x",
		"o/n@/x", "o/n@x y", "o--p/n", "o/n..m", `o\n`, "o/n@a@b", "o/n@-x", "o/n@nul", strings.Repeat("o", 97) + "/n"} {
		if r, ok := parseRepo(text); ok {
			t.Errorf("%q is %+v", text, r)
		}
	}
}
