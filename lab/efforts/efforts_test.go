package efforts

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sentences = `# a comment
the cat sat on the mat and slept for a long time .
she read the old book in the garden until it was dark .
a man with 3 dogs went by and said [ nothing ] to her .
they have lived in that house near the river for years .
no one knew why the train had stopped in the tunnel .
`

// A quick search is judged by a wider one, whose fillings the next run has without a search.
func TestCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	texts, known := filepath.Join(dir, "texts"), filepath.Join(dir, "known.json")
	if err := os.WriteFile(texts, []byte(sentences), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"-gaps", "-lists"} {
		var before string
		for range 2 {
			var out bytes.Buffer
			args := []string{"-model", "small", "-effort", "quick", "-wide", "normal", how, "2",
				"-known", known, texts}
			if err := Command(t.Context(), args, nil, &out, &out); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), " of 2 texts") || before != "" && before != out.String() {
				t.Errorf("%s, and before %s", &out, before)
			}
			before = out.String()
		}
	}
	data, err := os.ReadFile(known)
	if err != nil || strings.Count(string(data), "MASK*1-") != 2 || strings.Contains(string(data), "nothing") {
		t.Errorf("%s, %v", data, err)
	}
}
