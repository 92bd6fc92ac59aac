package output

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
)

// Outputs that are not the shards of one run, all and whole, are refused, and both values are
// named. Nothing is written.
func TestJoinRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(40))
	outputs := shardsOf(t, in, dir, ".jsonl", 3)
	joined := filepath.Join(dir, "joined.jsonl")
	// With a change of the manifest of a shard.
	for _, c := range []struct {
		name   string
		change func(*Manifest)
		want   []string
	}{
		{"version", func(m *Manifest) { m.Version = "v2" }, []string{"version is v2", "v1 in"}},
		{"model", func(m *Manifest) { m.Model = "sha256:1" }, []string{"sha256:1 in", "sha256:0 in"}},
		{"seed", func(m *Manifest) { m.Seed = 2 }, []string{"seed is 2", "1 in"}},
		{"size", func(m *Manifest) { m.Bytes = 7 }, []string{"the input is", "(7 bytes)"}},
		{"hash", func(m *Manifest) { m.SHA256 = "00ff" }, []string{"the input is", "sha256 00ff in",
			"sha256 "}},
		{"setting", func(m *Manifest) { m.Settings["steps"] = "51" }, []string{"!steps is 51", "50 in"}},
		{"another setting", func(m *Manifest) { m.Settings["select"] = "diverse" }, []string{
			"!select is diverse", "and none in"}},
		{"number", func(m *Manifest) { m.Shard.Of = 4 }, []string{"the number of shards is 4", "3 in"}},
		{"twice", func(m *Manifest) { m.Shard.Index = 2 }, []string{outputs[2], "both shard 2/3"}},
		{"whole", func(m *Manifest) { m.Shard = settings.Shard{} }, []string{"whole input"}},
		{"unfinished", func(m *Manifest) { m.Finished = nil }, []string{"shard 1/3, is not finished"}},
		{"bytes", func(m *Manifest) { m.Finished.Bytes++ }, []string{"bytes and now has"}},
		{"bytes' hash", func(m *Manifest) { m.Finished.SHA256 = "00ff" }, []string{"sha256 00ff and now"}},
		{"records", func(m *Manifest) { m.Finished.Records++ }, []string{"records and now has"}},
	} {
		kept := inputtest.Read(t, manifestPath(outputs[1]))
		m, err := ReadManifest(outputs[1])
		if err != nil {
			t.Fatal(err)
		}
		c.change(m)
		if err := m.write(outputs[1]); err != nil {
			t.Fatal(err)
		}
		_, _, err = Join(context.Background(), joined, outputs, Create)
		if !errors.Is(err, ErrJoin) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		text := err.Error()
		var differ *MismatchError
		if errors.As(err, &differ) {
			text = differ.Spell(func(name string) string { return "!" + name })
		}
		for _, want := range append(c.want, outputs[1]) {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s lacks %q", c.name, text, want)
			}
		}
		inputtest.Write(t, manifestPath(outputs[1]), string(kept))
	}
	refused := func(what string, is error, want string, output string, outputs []string) {
		t.Helper()
		if _, _, err := Join(context.Background(), output, outputs, Create); !errors.Is(err, is) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("none", ErrJoin, "name all", joined, nil)
	refused("the first is missing", ErrJoin, "missing: 0;", joined, outputs[1:])
	refused("two are missing", ErrJoin, "missing: 0 to 1;", joined, outputs[2:])
	refused("the last is missing", ErrJoin, "there are 2, and these are missing: 2;", joined, outputs[:2])
	refused("one twice", ErrJoin, "both shard 0/3", joined, append(outputs, outputs[0]))
	refused("no manifest", ErrJoin, "no manifest", joined, []string{outputs[0], in})
	text := inputtest.Read(t, outputs[1])
	if err := os.Remove(outputs[1]); err != nil {
		t.Fatal(err)
	}
	for what, names := range map[string][]string{"outputs": outputs, "their folder": {dir}} {
		refused("one is missing, of "+what, ErrJoin, outputs[1]+", shard 1/3, is not there", joined, names)
	}
	inputtest.Write(t, outputs[1], string(text))
	refused("a shard as output", ErrIsInput, outputs[1], outputs[1], outputs)
	empty := t.TempDir()
	refused("a folder without shards", ErrJoin, empty+" has no manifest of a shard", joined,
		[]string{empty})
	refused("a folder as output", ErrJoin, "not a regular file", dir, outputs)
	refused("a table as output", ErrLayout, "such as joined.jsonl; rows are made by a run of the whole file",
		filepath.Join(dir, "joined.csv"), outputs)

	// Bytes that changed since, of the same number.
	kept := inputtest.Read(t, outputs[1])
	inputtest.Write(t, outputs[1], strings.ToLower(string(kept)))
	refused("other bytes", ErrJoin, "was finished with sha256", joined, outputs)
	inputtest.Write(t, outputs[1], string(kept[:len(kept)-3]))
	refused("bytes cut off", ErrJoin, "bytes and now has", joined, outputs)
	inputtest.Write(t, outputs[1], string(kept))

	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Join(cancelled, joined, outputs, Create); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	for _, path := range []string{joined, manifestPath(joined)} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("a refusal left %s", path)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".infill-*")); err != nil || len(left) > 0 {
		t.Errorf("a refusal left %v, %v", left, err)
	}
}

// What is there stays as it is, unless the mode is Force. A failure keeps it even then.
func TestJoinOverwrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(40))
	outputs := shardsOf(t, in, dir, ".jsonl", 2)
	joined := filepath.Join(dir, "joined.jsonl")
	if _, _, err := process(t, in, joined, config{limit: 3}); err != nil {
		t.Fatal(err)
	}
	old, oldManifest := inputtest.Read(t, joined), inputtest.Read(t, manifestPath(joined))
	_, _, err := Join(context.Background(), joined, outputs, Create)
	if !errors.Is(err, ErrExists) || strings.Contains(err.Error(), "resume") {
		t.Errorf("an output that exists, which a join does not resume: %v", err)
	}
	kept := inputtest.Read(t, outputs[1])
	inputtest.Write(t, outputs[1], "")
	if _, _, err := Join(context.Background(), joined, outputs, Force); !errors.Is(err, ErrJoin) {
		t.Errorf("a shard without bytes: %v", err)
	}
	if !bytes.Equal(inputtest.Read(t, joined), old) || !bytes.Equal(inputtest.Read(t, manifestPath(joined)), oldManifest) {
		t.Error("a refused join changed the output")
	}
	inputtest.Write(t, outputs[1], string(kept))
	if _, _, err := Join(context.Background(), joined, outputs, Force); err != nil {
		t.Fatal(err)
	}
	// A folder stands for the shards in it, and the joined file is not one of them.
	if _, _, err := Join(context.Background(), joined, []string{dir}, Force); err != nil {
		t.Error(err)
	}
	// The manifest is the same as from a run of the whole, which has nothing left to do.
	p, _, err := process(t, in, joined, config{mode: Resume})
	if err != nil || p.Resumed != p.Total || p.Records != p.Total {
		t.Errorf("%+v, %v", p, err)
	}
}

// However odd a manifest is, its shard is one that can be worked on.
func FuzzManifestShard(f *testing.F) {
	for _, s := range []string{`{"index":1,"of":3}`, `{"index":3,"of":3}`, `{"index":-1,"of":3}`, `{}`,
		`{"index":1e9,"of":1e99}`, `{"of":0,"index":0}`, `null`, `7`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var m Manifest
		if json.Unmarshal([]byte(`{"format":1,"shard":`+s+`}`), &m) != nil {
			return
		}
		if err := m.Shard.Check(); err != nil {
			t.Fatalf("%s is shard %+v, %v", s, m.Shard, err)
		}
	})
}
