package trigger

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	path := filepath.Join(t.TempDir(), "labelled.csv")
	rows := "text,label\n"
	for _, e := range animals() {
		rows += e.Text + "," + e.Label + "\n"
	}
	if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(more ...string) (string, error) {
		args := append([]string{"-model", tinyDir, "-template", tinyTemplate, "-say", "animal=house",
			"-say", "fruit=garden", "-tokens", "2", "-steps", "25", "-batch", "4", "-seed", "3"}, more...)
		var out, errs bytes.Buffer
		err := Command(context.Background(), append(args, path), nil, &out, &errs)
		return out.String(), err
	}
	table, err := run()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"accuracy, per cent", "train   held out\n", "\ntrigger  ",
		"\nrelaxed, as words  ", "\nrelaxed, as vectors  ", "\nrandom words  ", "\nno trigger  ",
		"\nthe most frequent label", "\nrelaxed, as words: "} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	text, err := run("-json")
	var got Result
	if jsonErr := json.Unmarshal([]byte(text), &got); err != nil || jsonErr != nil {
		t.Fatal(err, jsonErr, text)
	}
	if !strings.HasPrefix(table, got.Trigger+"\n") || got.Steps != 25 || got.Relaxed == nil ||
		got.Train.Sentences != 11 || got.HeldOut.Sentences != 5 {
		t.Errorf("%s\nand as a table\n%s", text, table)
	}
	if text, err := run("-no-baseline", "-json"); err != nil || strings.Contains(text, "relaxed") {
		t.Errorf("%v, %s", err, text)
	}
	for _, bad := range [][]string{{"-say", "animal"}, {"-label-field", "class"}, {"-objective", "words"},
		{"-jump", "2"}, {"more.csv"}, {"-template", "[MASK]"}} {
		if out, err := run(bad...); err == nil || out != "" {
			t.Errorf("%v: %q", bad, out)
		}
	}
}
