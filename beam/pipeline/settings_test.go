package pipeline

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"infill/infill/settings"
	"infill/infill/text"
	"infill/samplers"
)

// What reaches a worker decides records as what was chosen: the manifest of infill batch would have
// the same of both.
func TestSettingsTravel(t *testing.T) {
	t.Parallel()
	words := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(words, []byte("red\nlight blue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	chosen := []Setting{
		{"steps", "7"}, {"chains", "3"}, {"sampler", "dmala"}, {"param", "step-size=0.5"},
		{"ban", "a,b"}, {"ban", "c"}, {"seed", "18446744073709551615"}, {"mask-rate", "0.5"},
		{"temperature", "0.75"}, {"threads", "3"}, {"model", "/m"}, {"low-memory", "true"},
	}
	s, err := NewSettings(append(chosen, Setting{"allow", words}))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(words); err != nil { // workers do not have it
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got Settings
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	filling, err := got.filling()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"red", "light blue"}; !reflect.DeepEqual(filling.Words.Allow, want) {
		t.Errorf("allowed are %q, want %q", filling.Words.Allow, want)
	}
	model, err := got.model()
	if err != nil {
		t.Fatal(err)
	}
	wantFilling, wantModel := settings.Defaults(), settings.ModelDefaults()
	for _, c := range chosen {
		if f := settings.FillTable().Find(c.Name); f != nil {
			err = f.Set(wantFilling, c.Text)
		} else {
			err = settings.ModelTable().Find(c.Name).Set(wantModel, c.Text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range settings.FillTable() {
		if is, want := f.Value(filling).String(), f.Value(wantFilling).String(); is != want {
			t.Errorf("%s is %q, want %q", f.Name, is, want)
		}
	}
	if !reflect.DeepEqual(model, wantModel) || got.Seed != 1<<64-1 {
		t.Errorf("%+v, want %+v; seed %d", model, wantModel, got.Seed)
	}
}

// A run without a seed has one that all workers know.
func TestSettingsSeed(t *testing.T) {
	t.Parallel()
	s, err := NewSettings(nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.filling()
	if err != nil || v.Seed == nil || *v.Seed != s.Seed {
		t.Errorf("%v, seed %d", err, s.Seed)
	}
}

func TestSettingsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chosen []Setting
		kind   error
		says   string
	}{
		{[]Setting{{"steps", "many"}}, settings.ErrSetting, "steps is many, want a whole number"},
		{[]Setting{{"stepps", "1"}}, settings.ErrSetting, "stepps: there is no such setting"},
		{[]Setting{{"threads", "0"}}, settings.ErrSetting, "threads is 0"},
		{[]Setting{{"sampler", "dmla"}}, samplers.ErrUnknown, "dmla"},
		{[]Setting{{"mask-rate", "0.1"}, {"mask-words", "2"}}, settings.ErrSetting, "mask-words"},
		{[]Setting{{"allow", "/nowhere/words"}}, os.ErrNotExist, "/nowhere/words"},
	} {
		_, err := NewSettings(c.chosen)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.chosen, err, c.says)
		}
	}
}

// A file of allowed words has its words as they stand. One without words is an error of the setting.
func TestAllowed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "words")
	write := func(content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("dog\n# not a word\n\nold cat\n")
	if words, err := allowed(path); err != nil || strings.Join(words, "|") != "dog|old cat" {
		t.Errorf("%q, %v", words, err)
	}
	write("#\n")
	var e *settings.Error
	if _, err := allowed(path); !errors.Is(err, text.ErrOption) || !errors.As(err, &e) || e.Name != "allow" {
		t.Error(err)
	}
}
