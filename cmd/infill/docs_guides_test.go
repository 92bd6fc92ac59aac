package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"infill/infill/settings"
	"infill/internal/testmode"
)

// Guides whose examples are told in order: a block under a line that ends with the name of a file
// and a colon is this file, and a console block has commands with what they print. cat prints a file.
// Of some pages a section is such a guide.
func TestGuides(t *testing.T) {
	if testing.Short() && !*update {
		t.Skip("some seconds of the default model")
	}
	t.Setenv(settings.EnvName("model"), settings.DefaultModel)
	guides, err := filepath.Abs(filepath.Join("..", "..", "docs", "guide"))
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{"pairs.md", "batch.md#Tables as output", "../reference/metrics.md#Diversity",
		"models.md#Masked diffusion", "words.md", "labels.md", "masks.md#Words", "../reference/metrics.md#A judge"}
	if !testmode.All() && !*update { // the quick ones
		pages = pages[:4]
	}
	for _, name := range pages {
		t.Run(name, func(t *testing.T) { runGuide(t, guides, name) })
	}
}

// runGuide runs the examples of a page, or of its section behind #, in a folder of their own.
func runGuide(t *testing.T, guides, name string) {
	t.Helper()
	file, section, _ := strings.Cut(name, "#")
	path := filepath.Join(guides, file)
	page, part := get(t, path), [2]int{}
	if part[1] = len(page); section != "" {
		part[0] = strings.Index(page, "\n## "+section+"\n") + 1
		part[1] = part[0] + strings.Index(page[part[0]:], "\n## ")
	}
	doc := page[part[0]:part[1]]
	t.Chdir(t.TempDir())
	judge := os.DirFS(filepath.Join(guides, "..", "..", "metrics", "judge", "testdata", "gpt2"))
	if err := os.CopyFS("gpt2", judge); err != nil {
		t.Fatal(err)
	}
	diffusionModel(t, filepath.Join(guides, "..", "..", "mlm"), "diffusion")
	stays := filepath.Join(guides, "..", "..", "infill", "table", "testdata", "stays.parquet")
	put(t, "stays.parquet", get(t, stays))
	put(t, "corpus.txt", "The old man went home by train.\nShe sat on the bed and read.\n")
	put(t, "people.jsonl", `{"text":"The old man met Ann.","label":[[16,19,"PER"]]}`+"\n")
	ran := 0
	block := regexp.MustCompile("(?sm)(?:`([\\w.-]+)`:\n\n)?^```(\\w*)\n(.*?)^```$")
	now := block.ReplaceAllStringFunc(doc, func(of string) string {
		m := block.FindStringSubmatch(of)
		switch {
		case m[2] == "sh":
			for _, line := range strings.Split(strings.TrimSpace(m[3]), "\n") {
				line, _, _ = strings.Cut(line, " #")
				if r := infillRun("", words(line)[1:]...); r.code != 0 {
					t.Errorf("%s: %s: exit %d, %s", name, line, r.code, r.err)
				}
			}
		case m[2] == "console":
			ran++
			return "```console\n" + guideExample(t, name, m[3]) + "```"
		case m[1] != "":
			put(t, m[1], m[3])
		}
		return of
	})
	if ran == 0 {
		t.Errorf("%s has no example", name)
	}
	if *update {
		if err := os.WriteFile(path, []byte(page[:part[0]]+now+page[part[1]:]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// guideExample runs the commands of a block, and returns it with what they print now.
func guideExample(t *testing.T, guide, block string) string {
	t.Helper()
	var out []string
	for _, example := range strings.Split(strings.TrimSpace(block), "\n\n$ ") {
		command, shown, _ := strings.Cut(strings.TrimSpace("$ "+strings.TrimPrefix(example, "$ ")), "\n")
		prints := ""
		if file, ok := strings.CutPrefix(command, "$ cat "); ok {
			prints = get(t, file)
		} else {
			r := infillRun("", words(strings.TrimPrefix(command, "$ infill "))...)
			if r.code != 0 {
				t.Fatalf("%s: %s: exit %d, %s", guide, command, r.code, r.err)
			}
			prints = r.out
		}
		prints = strings.TrimSuffix(prints, "\n")
		out = append(out, strings.TrimSuffix(command+"\n"+prints, "\n"))
		if prints != shown && !*update {
			cells := strings.NewReplacer(",", " ", ";", " ")
			sameNumbers(t, command, cells.Replace(shown), cells.Replace(prints))
		}
	}
	return strings.Join(out, "\n\n") + "\n"
}
