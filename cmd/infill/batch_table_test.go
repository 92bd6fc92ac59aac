package main

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cellsOf are the rows of a CSV file by the names of their columns.
func cellsOf(t *testing.T, text string) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%v in %q", err, text)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, cell := range row {
			cells[rows[0][i]] = cell
		}
		out = append(out, cells)
	}
	return out
}

// A table keeps its columns. No column is a setting. It gets fillings that records of the same
// lines have.
func TestBatchTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.csv"), "steps,sentence,score,note\n"+
		"none,the [MASK] sleeps in the [MASK] .,7,\"two\nlines\"\nx,no blank,8,y\n")
	lines := put(t, filepath.Join(dir, "in.jsonl"), `{"text":"x"}`+"\n"+
		`{"text":"the [MASK] sleeps in the [MASK] ."}`+"\n")
	flags := func(args ...string) []string {
		return withTiny(append(args, "--chains", "4", "--steps", "6", "--seed", "5", "--top", "2")...)
	}
	out := filepath.Join(dir, "out.csv")
	r := infillRun("", flags("batch", in, "-o", out, "--text-field", "sentence")...)
	if r.code != exitSomeFailed || !strings.Contains(r.err, "names of its own: score to input_score\n") {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	rows := cellsOf(t, get(t, out))
	if len(rows) != 2 || rows[0]["steps"] != "none" || rows[0]["input_score"] != "7" ||
		rows[0]["note"] != "two\nlines" || rows[1]["error"] != "no_blank" || rows[1]["note"] != "y" {
		t.Errorf("%q", rows)
	}
	var fillings []struct {
		Filled string
		Score  float64
	}
	if err := json.Unmarshal([]byte(rows[0]["fillings"]), &fillings); err != nil || len(fillings) != 2 {
		t.Fatalf("%v in %s", err, rows[0]["fillings"])
	}
	records := infillRun("", flags("batch", lines)...)
	for _, f := range fillings {
		if !strings.Contains(records.out, `{"text":"`+f.Filled+`",`) {
			t.Errorf("%s is not among the fillings of the same line: %s", f.Filled, records.out)
		}
	}
	// Each filling in a row, by way of Parquet.
	packed := filepath.Join(dir, "out.parquet")
	if r := infillRun("", flags("batch", in, "-o", packed, "--text-field", "sentence", "--per", "filling")...); r.code != exitSomeFailed {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	again := infillRun("", flags("batch", packed, "--text-field", "sentence", "--per", "filling",
		"--output-format", "csv", "--limit", "1")...)
	got := cellsOf(t, again.out)
	if again.code != exitOK || len(got) != 2 || got[0]["input_rank"] != "1" || got[1]["rank"] != "2" ||
		got[0]["input_filled"] != fillings[0].Filled || got[1]["filled"] != got[0]["filled"] && got[1]["score"] == "" {
		t.Errorf("exit %d: %s %q", again.code, again.err, got)
	}
	if r := infillRun("", flags("batch", in, "-o", packed, "--text-field", "sentence", "--per", "filling", "--resume")...); r.code != exitSomeFailed || !strings.Contains(r.err, "2 from before") {
		t.Errorf("a finished table: exit %d: %s", r.code, r.err)
	}
}

func TestBatchTableRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.csv"), "id,sentence\n1,the [MASK] .\n")
	lines := put(t, filepath.Join(dir, "in.jsonl"), `{"text":"the [MASK] ."}`+"\n")
	object := put(t, filepath.Join(dir, "in.json"), "{\n\"text\":\"the [MASK] .\"}")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"batch", in}, `its columns are "id", "sentence"; name the one with the texts: --text-field NAME`},
		{[]string{"batch", lines, "--output-format", "csv"}, "name an output file"},
		{[]string{"batch", in, "--text-field", "sentence", "--output-format", "parquet"}, "name a file"},
		{[]string{"batch", in, "--text-field", "sentence", "-o", dir + "/x.parquet.zst"}, "without .zst"},
		{[]string{"batch", in, "--text-field", ""}, "want the name of a field"},
		{[]string{"batch", "-", "--format", "parquet"}, "name a file"},
		{[]string{"batch", object}, "jq -c ., or say that it is text: --format text"},
		{[]string{"batch", lines, "-o", dir + "/out.xlsx"}, "as .csv, .tsv and .parquet"},
		{[]string{"batch", lines, "-o", dir + "/out.arrow"}, "nothing as .arrow"},
		{[]string{"batch", lines, "--output-format", "arrow"}, "want auto|jsonl"},
	} {
		r := infillRun("PAR1", withTiny(append(c.args, "--seed", "1")...)...)
		if r.code != exitUsage || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: exit %d, %s; want %q", c.args, r.code, r.err, c.says)
		}
	}
}

// JSON lines keep the fields that were settings, and words are masked.
func TestBatchLinesToTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.jsonl"), `{"id":"a","text":"the dog sleeps in the house .",`+
		`"mask_words":1,"top":1,"gold":"mine"}`+"\n"+`{"text":"the [MASK] runs .","k":[1]}`+"\n")
	out := filepath.Join(dir, "out.tsv")
	if r := infillRun("", withTiny("batch", in, "-o", out, "--seed", "3", "--chains", "2", "--steps",
		"4", "--quiet")...); r.code != exitOK {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	var rows [][]string
	for line := range strings.Lines(get(t, out)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	cell := func(row int, name string) string {
		for i, n := range rows[0] {
			if n == name {
				return rows[row][i]
			}
		}
		t.Errorf("no column %s", name)
		return ""
	}
	if cell(1, "text") != "the dog sleeps in the house ." || cell(1, "top") != "1" ||
		cell(1, "mask_words") != "1" || cell(1, "gold") != "mine" || cell(2, "k") != "[1]" ||
		!strings.Contains(cell(1, "blanked"), "[MASK]") || !strings.HasPrefix(cell(1, "masked"), `["`) {
		t.Errorf("%q", rows)
	}
}

// The run says which fields of JSON lines have another name in a table, and says it once.
func TestRenamedFields(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.jsonl"), `{"text":"the dog sleeps .","score":5}`+"\n"+
		`{"text":"the dog sleeps .","score":6,"filled":"x","k":1}`+"\n")
	const says = "infill: fields of the input are renamed, because the output has such names of its own: "
	fill := []string{"batch", in, "--seed", "1", "--steps", "1", "--mask-words", "1"}
	for _, c := range []struct {
		args []string
		want string // "" for nothing
	}{
		{append(fill, "-o", filepath.Join(dir, "a.csv")), "score to input_score, filled to input_filled"},
		{append(fill, "-o", filepath.Join(dir, "a.parquet")), "score to input_score, filled to input_filled"},
		{append(fill, "-o", filepath.Join(dir, "a.jsonl"), "--per", "filling"),
			"score to input_score, filled to input_filled"},
		{append(fill, "--per", "filling"), "score to input_score, filled to input_filled"},
		{[]string{"score", "--file", in, "-o", filepath.Join(dir, "b.csv")}, "score to input_score"},
		{append(fill, "-o", filepath.Join(dir, "c.csv"), "--quiet"), ""},
		{append(fill, "-o", filepath.Join(dir, "c.jsonl")), ""},
	} {
		r := infillRun("", withTiny(c.args...)...)
		told := strings.Count(r.err, says+c.want+"\n")
		if r.code != exitOK || c.want != "" && told != 1 || strings.Count(r.err, "renamed") != told {
			t.Errorf("%q: exit %d: %s; want %q", c.args, r.code, r.err, c.want)
		}
	}
}

// The text keeps the name that it has in the input, and the best filling stands beside it, whatever
// the formats. A name that records use themselves gives way to "text".
func TestTextFieldKeepsItsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := put(t, filepath.Join(dir, "in.jsonl"), `{"sentence":"the [MASK] runs .","text":"mine"}`+"\n"+
		`{"sentence":"the dog runs .","text":"yours"}`+"\n")
	rows := put(t, filepath.Join(dir, "in.csv"), "sentence,text\nthe [MASK] runs .,mine\nthe dog runs .,yours\n")
	taken := put(t, filepath.Join(dir, "taken.jsonl"), `{"score":"the [MASK] runs ."}`+"\n"+
		`{"score":"the dog runs ."}`+"\n")
	for _, in := range []string{lines, rows, taken} {
		for _, command := range []string{"batch", "score"} {
			for _, suffix := range []string{".jsonl", ".json"} {
				field, name := "sentence", "sentence"
				if in == taken {
					field, name = "score", "text"
				}
				out := filepath.Join(dir, command+filepath.Base(in)+suffix)
				args := []string{"batch", in, "--seed", "1"}
				if command == "score" {
					args = []string{"score", "--file", in}
				}
				args = withTiny(append(args, "-o", out, "--text-field", field)...)
				if r := infillRun("", args...); r.code != exitOK && r.code != exitSomeFailed {
					t.Fatalf("%q: exit %d: %s", args, r.code, r.err)
				}
				whole := get(t, out)
				var records []map[string]any
				if suffix == ".json" {
					if err := json.Unmarshal([]byte(whole), &records); err != nil {
						t.Fatal(err)
					}
				} else {
					for line := range strings.Lines(whole) {
						var rec map[string]any
						if err := json.Unmarshal([]byte(line), &rec); err != nil {
							t.Fatal(err)
						}
						records = append(records, rec)
					}
				}
				if len(records) != 2 || records[0][name] != "the [MASK] runs ." ||
					records[1][name] != "the dog runs ." {
					t.Fatalf("%q: %v", args, records)
				}
				if users, _ := records[0]["input_fields"].(map[string]any); in != taken && users["text"] != "mine" {
					t.Errorf("%q: %v", args, records[0])
				}
				if command == "score" {
					continue
				}
				best := records[0]["fillings"].([]any)[0].(map[string]any)["text"]
				if records[0]["filled"] != best || records[1]["filled"] != nil || records[1]["error"] == nil {
					t.Errorf("%q: %v", args, records)
				}
				if r := infillRun("", "eval", out, "--top", "1"); suffix == ".jsonl" && r.code != 0 {
					t.Errorf("eval: exit %d: %s", r.code, r.err)
				}
				if suffix == ".json" {
					continue
				}
				put(t, out, whole[:strings.Index(whole, "\n")+1])
				if r := infillRun("", append(args, "--resume")...); r.code != exitSomeFailed || get(t, out) != whole {
					t.Errorf("resumed: exit %d: %s", r.code, r.err)
				}
			}
		}
	}
}

// Parquet and arrays of JSON are read and written by every command for files.
func TestParquetAndArrays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	lines := put(t, path("in.jsonl"), `{"text":"the [MASK] sleeps .","label":1}`+"\n"+
		`{"text":"the dog [MASK] in the [MASK] .","label":2,"top":1}`+"\n")
	array := put(t, path("in.json"), "["+strings.ReplaceAll(strings.TrimSpace(get(t, lines)), "\n", ",\n")+"]")
	run := func(args ...string) outcome {
		t.Helper()
		r := infillRun("", withTiny(args...)...)
		if r.code != exitOK {
			t.Fatalf("%q: exit %d: %s", args, r.code, r.err)
		}
		return r
	}
	run("batch", lines, "-o", path("lines.jsonl"))
	run("batch", array, "-o", path("array.jsonl"))
	if get(t, path("lines.jsonl")) != get(t, path("array.jsonl")) {
		t.Errorf("an array has other records: %s", get(t, path("array.jsonl")))
	}
	run("batch", array, "-o", path("out.json"))
	run("batch", array, "-o", path("out.parquet"), "--per", "filling")
	run("batch", path("out.parquet"), "-o", path("again.csv"))
	again := cellsOf(t, get(t, path("again.csv")))
	if again[0]["label"] != "1" || again[1]["input_filled"] == "" || !strings.HasPrefix(again[0]["input_score"], "-") {
		t.Errorf("%q", again)
	}
	complete := put(t, path("texts.json"), `["the dog sleeps in the house .", "the cat runs ."]`)
	run("score", "--file", complete, "-o", path("scores.parquet"))
	run("augment", complete, "-o", path("variants.parquet"), "--seed", "1", "--mask-words", "1", "-n", "1")
	run("cloze", complete, "--mask-words", "1", "--seed", "1")
	run("cloze", path("scores.parquet"), "--mask-words", "1", "--seed", "1")
	for _, name := range []string{"out.json", "out.parquet", "variants.parquet", "texts.json"} {
		if r := infillRun("", "eval", path(name)); r.code != exitOK {
			t.Errorf("eval %s: exit %d: %s", name, r.code, r.err)
		}
	}
	run("compare", path("out.parquet"), "--samplers", "gibbs", "--steps", "1", "--chains", "1")
	if r := infillRun("", "eval", path("out.json"), "--reference", complete); r.code != exitUsage ||
		!strings.Contains(r.err, "records and tables are not read here") {
		t.Errorf("an array of references: exit %d: %s", r.code, r.err)
	}
}

// infill score reads and writes tables, too.
func TestScoreTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.tsv"), "candidates\ttext\nx,y\tthe dog sleeps .\n7\tthe [MASK|dog|cat] sleeps .\n")
	out := filepath.Join(dir, "out.csv")
	if r := infillRun("", withTiny("score", "--file", in, "-o", out)...); r.code != exitOK {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	rows := cellsOf(t, get(t, out))
	if rows[0]["input_candidates"] != "x,y" || !strings.HasPrefix(rows[0]["score"], "-") ||
		!strings.Contains(rows[0]["pieces"], `"piece":"dog"`) || rows[1]["score"] != "" ||
		!strings.Contains(rows[1]["candidates"], `"candidate":"cat"`) {
		t.Errorf("%q", rows)
	}
}

// A file that is all wrong does not fill the terminal: its output says what is wrong with every line.
func TestManyFailures(t *testing.T) {
	t.Parallel()
	in := put(t, filepath.Join(t.TempDir(), "in.txt"), strings.Repeat("no blank\n", 50))
	r := infillRun("", withTiny("batch", in, "--seed", "1")...)
	if told := strings.Count(r.err, "has no blank"); r.code != exitSomeFailed || told != maxReported ||
		strings.Count(r.err, "in the output alone") != 1 || !strings.Contains(r.err, "50 of them errors") ||
		strings.Count(r.out, `"error":{"code":"no_blank"`) != 50 {
		t.Errorf("exit %d, %d of 50 lines are told of: %s", r.code, told, r.err)
	}
}

// Quotes of .tsv are characters, unless its reader is told that it is quoted. What .tsv cannot hold
// is known by its column, and the records are kept.
func TestBatchTSV(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, filepath.Join(dir, "in.tsv"), "text\tlabel\n\"the [MASK] sleeps .\t1\nthe [MASK] runs .\"\t0\n")
	out := filepath.Join(dir, "out.tsv")
	run := func(args ...string) outcome {
		return infillRun("", append(withTiny("batch", "-o", out, "--quiet", "--top", "1", "--per", "filling"),
			args...)...)
	}
	if r := run(in); r.code != exitOK {
		t.Fatal(r.err)
	}
	var got []string
	for line := range strings.Lines(get(t, out)) {
		cells := strings.Split(line, "\t")
		got = append(got, cells[0], cells[1])
	}
	want := []string{"text", "label", "\"the [MASK] sleeps .", "1", "the [MASK] runs .\"", "0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if r := run(in, "--resume", "--quote"); r.code != exitUsage || !strings.Contains(r.err, "--quote was false") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := run(in, "--force", "--quote"); r.code != exitOK ||
		!strings.Contains(get(t, out), "\"the [MASK] sleeps .\t1\nthe [MASK] runs .\"\t0") {
		t.Errorf("exit %d: %s%s", r.code, r.err, get(t, out))
	}
	lines := put(t, filepath.Join(dir, "in.jsonl"), `{"text":"the [MASK] runs .","note":"a\tb"}`+"\n")
	r := run(lines, "--force")
	if r.code == exitOK || !strings.Contains(r.err, `column "note": the cell has a tab`) ||
		!strings.Contains(r.err, "--quote writes it so") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := run(lines, "--resume", "--quote"); r.code != exitOK || !strings.Contains(get(t, out), "\"a\tb\"") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// Cells of European tables have semicolons between, in and out, and the error of a table that is
// read with commas names the flag.
func TestDelimiter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := put(t, dir+"/in.csv", "a;text\n1,5;\"the [MASK] ; sleeps .\"\n")
	args := withTiny("batch", in, "-o", dir+"/out.csv", "--top", "1", "--quiet")
	if r := infillRun("", args...); r.code != exitUsage || !strings.Contains(r.err, "--delimiter ';'") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
	if r := infillRun("", append(args, "--delimiter", "x")...); !strings.Contains(r.err, "want , or ; or |") {
		t.Error(r.err)
	}
	if r := infillRun("", append(args, "--delimiter", ";")...); r.code != exitOK {
		t.Fatalf("exit %d, %s", r.code, r.err)
	}
	if out := get(t, dir+"/out.csv"); !strings.HasPrefix(out, "a;text;line;") || !strings.Contains(out, "\n1,5;\"the [MASK] ; sleeps .\";2;") {
		t.Errorf("%s", out)
	}
}
