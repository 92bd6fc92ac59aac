package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/energies"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/server"
)

// Parts of the energy hold for files: lines weigh those that are open for themselves, cannot open
// others, and a file that has changed is another run.
func TestEnergyOfLines(t *testing.T) {
	t.Parallel()
	list := write(t, "list.txt", "dog 2\ncat -1\n")
	part := "words:" + list
	lines := []string{
		`{"text":"the [MASK|dog|cat|fox] sleeps ."}`,
		`{"text":"the [MASK|dog|cat|fox] sleeps .","energy":["` + part + `=-3"]}`,
		`{"text":"the [MASK|dog|cat|fox] sleeps .","energy":[]}`,
		`{"text":"the [MASK|dog|cat|fox] sleeps .","energy":["words:` + list + `.bak=1"]}`,
		`{"text":"the [MASK|dog|cat|fox] sleeps .","energy":["edit=1"]}`,
		`{"text":"the dog sleeps .","mask_words":1,"energy":["edit=2"]}`,
	}
	in := write(t, "in.jsonl", strings.Join(lines, "\n")+"\n")
	out := filepath.Join(t.TempDir(), "out.jsonl")
	args := withTiny("batch", in, "-o", out, "--seed", "1", "--quiet", "--energy", part+"=1.5")
	if r := infillRun("", args...); r.code != exitSomeFailed {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	var recs []jsonl.Filled
	for _, line := range strings.Split(strings.TrimSpace(get(t, out)), "\n") {
		var rec jsonl.Filled
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
	}
	for i, weight := range []float64{1.5, -3} {
		for _, f := range recs[i].Fillings {
			want := map[string]float64{"dog": 2 * weight, "cat": -weight, "fox": 0}[f.Tokens[0]]
			if f.Energies[part] != want || math.Abs(f.Energies["model"]+want-*f.Score) > 1e-9 {
				t.Errorf("line %d: %q has %v of %v", i+1, f.Text, f.Energies, *f.Score)
			}
		}
	}
	if f := recs[2].Fillings; len(f) != 3 || f[0].Energies != nil {
		t.Errorf("without parts: %+v", f)
	}
	for i, want := range map[int]jsonl.Failure{
		3: {Code: "bad_option", Message: "not open here"},
		4: {Code: "no_original", Message: "words that stood in the blanks"},
	} {
		if e := recs[i].Error; e == nil || e.Code != want.Code ||
			!strings.Contains(e.Message, want.Message) {
			t.Errorf("line %d: %+v", i+1, recs[i].Error)
		}
	}
	if f := recs[5].Fillings; len(f) == 0 || f[0].Energies["edit"] > 0 {
		t.Errorf("edit: %+v", f)
	}
	if r := infillRun("", append(args, "--resume")...); r.code != exitSomeFailed {
		t.Errorf("resumed: exit %d: %s", r.code, r.err)
	}
	if err := os.WriteFile(list, []byte("dog 3\ncat -1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := infillRun("", append(args, "--resume")...); r.code != exitUsage ||
		!strings.Contains(r.err, "energy") {
		t.Errorf("with another list: exit %d: %s", r.code, r.err)
	}
}

func TestBadEnergy(t *testing.T) {
	t.Parallel()
	list := write(t, "list.txt", "dog 2\nred dog 1\n")
	for _, c := range []struct {
		part string
		code int
		says string
	}{
		{"dog=1", exitUsage, "words:FILE=WEIGHT"},
		{"edit", exitUsage, "edit=WEIGHT"},
		{"words:" + list + "=1", exitUsage, "line 2"},
		{"words:no/such=1", exitTrouble, "--energy"},
	} {
		r := infillRun("", withTiny("fill", "--energy", c.part, "the [MASK] sleeps .")...)
		if r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit %d: %s", c.part, r.code, r.err)
		}
	}
}

// Tables have the parts of scores and marginals where they are asked for.
func TestEnergyInTables(t *testing.T) {
	t.Parallel()
	list := write(t, "list.txt", "dog 2\n")
	part := "words:" + list
	in := write(t, "in.csv", "text\nthe [MASK|dog|cat] sleeps .\n")
	dir := t.TempDir()
	for name, want := range map[string][]string{
		"a.csv":     {"energies", "marginals", `{""model"":`, `""words:`},
		"b.parquet": {"energies", "marginals", `"words:`},
	} {
		out := filepath.Join(dir, name)
		r := infillRun("", withTiny("batch", in, "-o", out, "--seed", "1", "--quiet", "--energy", part+"=2",
			"--marginals")...)
		if got := get(t, out); r.code != 0 {
			t.Errorf("%s: exit %d: %s", name, r.code, r.err)
		} else {
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("%s has no %s:\n%q", name, w, got)
				}
			}
		}
	}
	plain, scored := filepath.Join(dir, "c.csv"), filepath.Join(dir, "d.csv")
	if r := infillRun("", withTiny("batch", in, "-o", plain, "--seed", "1", "--quiet")...); r.code != 0 ||
		strings.Contains(get(t, plain), "energies") || strings.Contains(get(t, plain), "marginals") {
		t.Errorf("exit %d: %s%s", r.code, r.err, get(t, plain))
	}
	r := infillRun("", withTiny("score", "--file", in, "-o", scored, "--quiet", "--energy", part+"=2")...)
	if got := get(t, scored); r.code != 0 || !strings.Contains(got, ",energies,") ||
		!strings.Contains(got, part+`"":4`) {
		t.Errorf("exit %d: %s%s", r.code, r.err, got)
	}
}

// The score of a filling is found again by infill score with the same parts, which also hold for
// the lines of files. Parts that compare with words before have none to compare with.
func TestEnergyOfScores(t *testing.T) {
	t.Parallel()
	list := write(t, "list.txt", "dog 2\ncat -1\n")
	const text = "the [MASK|dog|cat|fox] sleeps ."
	part := "words:" + list
	var filled jsonl.Filled
	var scored jsonl.Ranked
	for args, rec := range map[string]any{"fill": &filled, "score": &scored} {
		r := infillRun("", withTiny(args, "--json", "--energy", part+"=1.5", text)...)
		if err := json.Unmarshal([]byte(r.out), rec); err != nil || r.code != 0 {
			t.Fatal(r, err)
		}
	}
	if len(scored.Candidates) != 3 {
		t.Fatalf("%+v", scored)
	}
	for i, c := range scored.Candidates {
		f := filled.Fillings[i]
		if c.Text != f.Text || math.Abs(c.Score-*f.Score) > 1e-9 || c.Energies[part] != f.Energies[part] {
			t.Errorf("candidate %+v, filling %+v", c, f)
		}
	}
	r := infillRun("", withTiny("score", "--energy", part+"=1", "the dog sleeps .")...)
	if r.code != 0 || !strings.Contains(r.out, part+" 2.00)  the dog sleeps .") {
		t.Error(r)
	}
	r = infillRun("", withTiny("score", "--energy", "edit=1", "the dog sleeps .")...)
	if r.code != exitUsage || !strings.Contains(r.err, "--energy") {
		t.Error(r)
	}

	in := write(t, "in.jsonl", `{"text":"the dog .","energy":["`+part+`=-3"]}`+"\n"+
		`{"text":"the dog .","energy":["edit=1"]}`+"\n")
	out := filepath.Join(t.TempDir(), "out.jsonl")
	args := withTiny("score", "--file", in, "-o", out, "--quiet", "--energy", part+"=0")
	if r := infillRun("", args...); r.code != exitSomeFailed {
		t.Fatal(r)
	}
	lines := strings.Split(strings.TrimSpace(get(t, out)), "\n")
	var first, second jsonl.Scored
	for i, rec := range []*jsonl.Scored{&first, &second} {
		if err := json.Unmarshal([]byte(lines[i]), rec); err != nil {
			t.Fatal(err)
		}
	}
	if first.Energies[part] != -6 || second.Error == nil || second.Error.Code != "bad_option" {
		t.Errorf("%+v, %+v", first, second)
	}
	if err := os.WriteFile(list, []byte("dog 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := infillRun("", append(args, "--resume")...); r.code != exitUsage ||
		!strings.Contains(r.err, "energy") {
		t.Error(r)
	}
}

// A model that is a part of the energy, too, is opened once, whatever its folder is called, by
// serve and by the commands that fill. Another one is opened beside it.
func TestEnergyOpensOnce(t *testing.T) {
	t.Parallel()
	link, far := filepath.Join(t.TempDir(), "link"), filepath.Join(t.TempDir(), "copy")
	folder, err := filepath.Abs(tinyModel)
	if err := errors.Join(err, os.Symlink(folder, link), os.CopyFS(far, os.DirFS(tinyModel))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		want int
	}{{tinyModel, 1}, {folder, 1}, {link, 1}, {filepath.Join(tinyModel, "model.onnx"), 1}, {far, 2}} {
		f := &serveFlags{filling: *settings.Defaults(), models: []string{"a=" + tinyModel, "b=" + folder},
			parts: []string{"model:" + c.name}, addr: "127.0.0.1:0"}
		f.Model = *settings.ModelDefaults()
		var errs bytes.Buffer
		std := console.IO{In: strings.NewReader(""), Out: &errs, Err: &errs}
		opt, err := f.options(nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := server.New(opt)
		if err != nil {
			t.Fatal(err)
		}
		named, err := f.named()
		if err != nil {
			t.Fatal(err)
		}
		opened, err := f.load(t.Context(), std, s, named)
		if err != nil || len(f.opened) != c.want || len(opened.Names()) != 1 {
			t.Errorf("serve, %s: %d models open, %v", c.name, len(f.opened), err)
		}
		if err := errors.Join(opened.Close(), f.close()); err != nil {
			t.Error(err)
		}

		own := &modelFlags{Model: *settings.ModelDefaults()}
		own.Name = tinyModel
		m, err := own.open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		parts, err := energies.Open(t.Context(), []string{"model:" + c.name + "=1"}, own.secondModels())
		if err != nil || len(own.opened) != c.want {
			t.Fatalf("%s: %d models open, %v", c.name, len(own.opened), err)
		}
		// The parts leave the models open.
		if err := parts.Close(); err != nil {
			t.Error(err)
		}
		if _, err := infill.New(m).Score(t.Context(), "the dog sleeps .", infill.ScoreOptions{By: infill.ScorePLL}); err != nil {
			t.Error(err)
		}
		if err := own.close(); err != nil || len(own.opened) > 0 {
			t.Error(err)
		}
	}
}
