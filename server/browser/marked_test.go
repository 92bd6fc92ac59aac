package browser

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A model like RoBERTa spells its blanks <mask>, and marks the pieces after a space with Ġ. The
// page shows words.
func TestMarkedPieces(t *testing.T) {
	open(t, "/?text=the+[MASK]+sat.&steps=0") // builds the program, or skips
	const model = root + "/mlm/testdata/architectures/roberta"
	dir := filepath.Join(t.TempDir(), "roberta")
	if err := os.CopyFS(dir, os.DirFS(model)); err != nil {
		t.Fatal(err)
	}
	weights, err := os.ReadFile(root + "/mlm/onnxgrad/testdata/roberta.onnx")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "model.onnx"), weights, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	bin, err := filepath.Abs(root + "/bin/infill")
	if err != nil {
		t.Fatal(err)
	}
	address, err := launch(bin, "--model", dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	p := (&tab{t: t, url: address}).beside(ctx, "/?text=the+<mask>+sat+on+the+<mask>.&seed=1&steps=0"+
		"&chains=9&top=9&case=model")
	p.wait(done)
	chips := eval[[]string](p, `[...document.querySelectorAll("#mirror .chip")].map(c => c.textContent)`)
	if !slices.Equal(chips, []string{"<mask>", "<mask>"}) {
		t.Errorf("chips %q", chips)
	}
	// Without steps the fillings are where the chains began.
	want := map[string]bool{}
	for _, f := range p.ask(map[string]any{"text": "the <mask> sat on the <mask>.", "seed": 1, "steps": 0,
		"chains": 9, "top": 9, "case": "model"}) {
		want[f.Text] = true
	}
	chains := eval[[]string](p, `[...document.querySelectorAll(".chains .s")].map(s => s.textContent)`)
	for _, text := range chains {
		if !want[text] {
			t.Errorf("a chain says %q, which is none of %v", text, want)
		}
	}
	if len(chains) != 9 || len(want) < 3 {
		t.Errorf("%d chains, %d fillings", len(chains), len(want))
	}
	words := eval[string](p, `[...document.querySelectorAll(".lists b")].map(b => b.textContent).join(" ")`)
	if words == "" || strings.Contains(words, "Ġ") {
		t.Errorf("words of the blanks: %s", words)
	}
	p.picture("roberta.png")
}
