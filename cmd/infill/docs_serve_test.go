package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/internal/testmode"
)

// The commands of the guide to the service do what it says: every curl of it is run by a shell, as
// it stands there but for the port, against a server that is started as the guide starts one.
func TestServeGuide(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		testmode.Missing(t, "curl")
	}
	doc := get(t, filepath.Join("..", "..", "docs", "guide", "serve.md"))
	tone, err := filepath.Abs(filepath.Join("..", "..", "infill", "energies", "testdata", "tone"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.CopyFS("sst2", os.DirFS(tone)); err != nil {
		t.Fatal(err)
	}
	config := get(t, filepath.Join("sst2", "config.json"))
	put(t, filepath.Join("sst2", "config.json"), strings.ReplaceAll(config, "positive", "POSITIVE"))
	put(t, "tone.txt", "great 2\nboring -1\n")
	put(t, "keys.txt", "sixteen-or-more-characters\n")
	lines := `{"text": "The [MASK] sat on the [MASK].", "id": 7}` + "\n" + `{"text": "no blank"}` + "\n"
	put(t, "sentences.jsonl", lines)
	small := func(args ...string) string {
		t.Helper()
		r := infillRun("", args...)
		if r.code == exitUsage || r.code == exitTrouble {
			t.Fatalf("%q: exit %d: %s", args, r.code, r.err)
		}
		return r.out
	}
	t.Setenv("INFILL_MODEL", "small")
	text := "The [MASK] sat on the [MASK]."
	// What each command's answer is to be, by a part of the command.
	want := map[string]func(answer string){
		`"seed": 1}`: func(answer string) {
			if same := small("fill", "--json", "--seed", "1", text); answer != same {
				t.Errorf("%sinfill fill --json prints %s", answer, same)
			}
		},
		"/v1/batch": func(answer string) {
			small("batch", "sentences.jsonl", "-o", "out.jsonl", "--seed", "1", "--top", "1", "--quiet")
			if same := get(t, "out.jsonl"); answer != same {
				t.Errorf("%sinfill batch writes %s", answer, same)
			}
		},
		"words:tone.txt=2": func(answer string) {
			var r jsonl.Filled
			if err := json.Unmarshal([]byte(answer), &r); err != nil || len(r.Fillings) == 0 {
				t.Fatalf("%s: %v", answer, err)
			}
			for _, f := range r.Fillings {
				weight := map[string]float64{"great": 4, "boring": -2}[f.Tokens[0]]
				if f.Energies["words:tone.txt"] != weight {
					t.Errorf("%s: %v", f.Text, f.Energies)
				}
			}
		},
		`"stream": true`: func(answer string) {
			for _, event := range []string{"start", "found", "done"} {
				if !strings.Contains(answer, "event: "+event+"\ndata: {") {
					t.Errorf("no %s in %s", event, answer)
				}
			}
		},
		`"inputs"`: func(answer string) {
			var list []map[string]any
			if err := json.Unmarshal([]byte(answer), &list); err != nil || len(list) != 3 {
				t.Fatalf("%s: %v", answer, err)
			}
			for _, field := range []string{"score", "token", "token_str", "sequence"} {
				if list[0][field] == nil {
					t.Errorf("no %s in %s", field, answer)
				}
			}
		},
		"/v1/tokenize": func(answer string) {
			if same := small("tokenize", "--json", "A cat sat."); answer != same {
				t.Errorf("%sinfill tokenize --json prints %s", answer, same)
			}
		},
		"/v1/score": func(answer string) {
			put(t, "words.jsonl", `{"text": ["A", "cat", "sat."], "words": true}`+"\n")
			small("score", "--file", "words.jsonl", "-o", "scored.jsonl", "--quiet")
			same := strings.Replace(get(t, "scored.jsonl"), `,"input_fields":{"words":true}`, "", 1)
			if answer != same || !strings.Contains(same, `"word":"sat."`) {
				t.Errorf("%sinfill score --file writes %s", answer, same)
			}
		},
	}
	var servers, asked int
	var s *serving
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(doc, -1) {
		for command := range strings.Lines(block[1]) {
			command, _, _ = strings.Cut(strings.TrimSpace(command), "    #")
			if args, ok := strings.CutPrefix(command, "infill serve"); ok {
				if strings.Contains(args, "my-bert") {
					continue // minutes of the default model
				}
				args = strings.ReplaceAll(args, "--addr 0.0.0.0:8017", "")
				s = serve(t, append(words(args), "--log", "none")...)
				servers++
				continue
			}
			ask, ok := strings.CutPrefix(command, "curl ")
			if !ok {
				t.Fatalf("who runs %q?", command)
			}
			out, err := exec.CommandContext(t.Context(), "sh", "-c", "curl --silent --show-error --fail "+
				strings.ReplaceAll(ask, "http://127.0.0.1:8017", s.url)).Output()
			if err != nil {
				t.Errorf("%s: %v, %s", command, err, out)
				continue
			}
			for part, check := range want {
				if strings.Contains(ask, part) {
					check(string(out))
					delete(want, part)
					asked++
				}
			}
		}
	}
	if servers < 3 || len(want) > 0 {
		t.Errorf("%d servers, %d answers; not asked: %v", servers, asked, want)
	}
}
