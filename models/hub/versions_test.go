package hub

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// The characters of patterns are usual ones in the path of a cache.
func TestCacheOfAnyName(t *testing.T) {
	_, c, o := repository(t, exported())
	names := []string{"[x", "a[b]"}
	if runtime.GOOS != "windows" { // which has no such names
		names = append(names, "what?", `a\*b`)
	}
	for _, name := range names {
		c.Dir = filepath.Join(t.TempDir(), name)
		m, folder, err := pulled(t, c, "o/n", "", o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if all := c.versions(); len(all) != 1 || c.Folder(all[0]) != folder ||
			c.Find("o/n", "") == nil {
			t.Errorf("%s: %v, want %s", name, all, m)
		}
	}
}

// A listing in another order, with less about the files or with other helper files, is of the same
// model. One that says something else of a file is not.
func TestSameCommit(t *testing.T) {
	siblings := func(change func([]any) []any) func(map[string]any) {
		return func(l map[string]any) { l["siblings"] = change(l["siblings"].([]any)) }
	}
	forget := func(names ...string) func(map[string]any) {
		return siblings(func(all []any) []any {
			for _, f := range all {
				for _, name := range names {
					delete(f.(map[string]any), name)
				}
			}
			return all
		})
	}
	for name, list := range map[string]func(map[string]any){
		"order":         siblings(func(all []any) []any { slices.Reverse(all); return all }),
		"no git hashes": forget("blobId"), "no hashes": forget("blobId", "lfs"),
		"fewer": siblings(func(all []any) []any {
			return slices.DeleteFunc(all, func(f any) bool {
				return f.(map[string]any)["rfilename"] == "tokenizer_config.json"
			})
		}),
	} {
		for _, first := range []bool{false, true} {
			s, c, o := repository(t, exported())
			if s.List = nil; first {
				s.List = list
			}
			_, folder, err := pulled(t, c, "o/n", "", o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if s.List = list; first {
				s.List = nil
			}
			m, again, err := pulled(t, c, "o/n", "", o)
			if err != nil || again != folder || !c.Has(m) {
				t.Errorf("%s, first %v: %s, %v", name, first, again, err)
			}
		}
	}
	// What arrived is what a hash that is stated later has to be.
	s, c, o := repository(t, exported())
	s.List = forget("blobId", "lfs")
	m, _, err := pulled(t, c, "o/n", "", o)
	if err != nil {
		t.Fatal(err)
	}
	changed := *m
	changed.Files = slices.Clone(m.Files)
	file := *m.Files[0]
	file.SHA256 = sumOf([]byte("other"))
	changed.Files[0] = &file
	if err := c.contradicted(&changed); err == nil {
		t.Error("another hash than that of what arrived")
	}
}

// Small files that were changed while there is no record of them are fetched again, as git's hash
// of them is known.
func TestRecordGone(t *testing.T) {
	s, c, o := repository(t, exported())
	m, folder, err := pulled(t, c, "o/n", "", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(c.recordPath(m)); err != nil {
		t.Fatal(err)
	}
	lay(t, c, m, "config.json", []byte(`{"model_type":"BERT"}`)) // of the same size
	off := o
	off.Offline = true
	if _, err := c.pull(t.Context(), m, off); err == nil {
		t.Error("it is taken without a network")
	}
	if _, _, err := pulled(t, c, "o/n", "", o); err != nil {
		t.Fatal(err)
	}
	if got := held(t, folder)["config.json"]; !bytes.Equal(got, exported()["config.json"]) {
		t.Errorf("%s", got)
	}
	// Whole files get a record and are not fetched, also where there is one of another form.
	for _, old := range []string{"", `{"version": 1, "model": "o/n", "files": []}`, "[]", "x"} {
		if err := os.WriteFile(c.recordPath(m), []byte(old), 0o644); err != nil {
			t.Fatal(err)
		}
		if c.Find("o/n", "") != nil {
			t.Errorf("%q is a record", old)
		}
		s.Requests()
		if _, err := c.pull(t.Context(), m, o); err != nil || c.record(m) == nil || len(s.Requests()) > 0 {
			t.Errorf("%q: %v", old, err)
		}
		if found := c.Find("o/n", ""); found == nil || c.Folder(found) != folder {
			t.Errorf("%q: %+v", old, found)
		}
	}
}
