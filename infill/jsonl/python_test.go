package jsonl

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"infill/infill/settings"
)

var update = flag.Bool("update", false, "write the settings of the Python package")

const pythonSettings = "../../python/infill_mlm/_settings.py"

// The Python package has the settings and the errors of the program.
func TestPython(t *testing.T) {
	t.Parallel()
	want := pythonModule()
	got, err := os.ReadFile(pythonSettings)
	if err == nil && string(got) == want {
		return
	}
	if !*update {
		t.Fatalf("%s differs from the tables (%v); -update writes it", pythonSettings, err)
	}
	if err := os.WriteFile(pythonSettings, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// pythonModule is the text of the module.
func pythonModule() string {
	var b strings.Builder
	b.WriteString(`"""The settings of the program, and the errors of its records.

Made by: go test ./infill/jsonl -run Python -update
"""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, TypedDict

from ._errors import LineError

`)
	line := func(s *settings.Setting[settings.Fill]) bool { return s.Line }
	typed(&b, "FillSettings", "What a text may choose for its filling.", settings.FillTable(),
		settings.Defaults, line)
	typed(&b, "ScoreSettings", "What a text may choose for its score.", settings.RankTable(),
		func() *settings.Ranking { return &settings.Ranking{} },
		func(s *settings.Setting[settings.Ranking]) bool { return s.Line })
	typed(&b, "ModelSettings", "How a model is opened.", settings.ModelTable(), settings.ModelDefaults,
		func(s *settings.Setting[settings.Model]) bool { return s.Name != "model" })
	typed(&b, "SharedSettings", "What all fillings of a model share.", settings.FillTable(),
		settings.Defaults, func(s *settings.Setting[settings.Fill]) bool { return !s.Line })
	b.WriteString("# The variables of settings that the package chooses itself.\nFILE_VARIABLES = (\n")
	for _, s := range settings.FileTable() {
		fmt.Fprintf(&b, "    %q,\n", s.Env())
	}
	b.WriteString(")\n")
	var names []string
	says := map[string][]string{"unsupported": {"too many states for this sampler"}}
	for _, c := range append(codes, struct {
		err  error
		code string
	}{nil, "unsupported"}) {
		if says[c.code] == nil || c.err == nil {
			names = append(names, c.code)
		}
		if c.err != nil {
			says[c.code] = append(says[c.code], c.err.Error())
		}
	}
	for _, code := range names {
		fmt.Fprintf(&b, "\n\nclass %s(LineError):\n    %s\n\n    code = %q\n", className(code),
			docstring(strings.Join(says[code], ", or ")+"."), code)
	}
	b.WriteString("\n\nERRORS: dict[str, type[LineError]] = {\n")
	for _, code := range names {
		fmt.Fprintf(&b, "    %q: %s,\n", code, className(code))
	}
	b.WriteString("}\n")
	return b.String()
}

// className is NoBlankError for no_blank.
func className(code string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(code, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Error"
}

// typed writes the settings of a table as a typed dictionary, whose docstring explains each.
func typed[T any](b *strings.Builder, name, doc string, table []*settings.Setting[T],
	defaults func() *T, has func(*settings.Setting[T]) bool) {
	explained, types := doc+"\n", ""
	for _, s := range table {
		if !has(s) {
			continue
		}
		says := s.Doc
		if text := s.Value(defaults()).String(); text != "" && s.Name != "threads" {
			says += " (default: " + text + ")"
		}
		explained += fmt.Sprintf("\n    %s: %s", s.Field(), says)
		types += fmt.Sprintf("    %s: %s\n", s.Field(), pythonType(s, defaults))
	}
	fmt.Fprintf(b, "\nclass %s(TypedDict, total=False):\n    %s\n\n%s\n", name,
		docstring(explained+"\n    "), types)
}

func docstring(text string) string {
	return `"""` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"""`
}

// pythonType is the annotation of a setting's value.
func pythonType[T any](s *settings.Setting[T], defaults func() *T) string {
	takes := func(raw string) bool { return s.SetJSON(defaults(), json.RawMessage(raw)) == nil }
	v := s.Value(defaults())
	switch {
	case takes(`["edit=1"]`), takes(`["a"]`):
		return "Sequence[str]"
	case takes(`{"a":1}`):
		return "Mapping[str, Any]"
	case v.Kind == reflect.Bool:
		return "bool"
	case v.Kind == reflect.Int:
		return "int"
	case v.Kind == reflect.Float64:
		return "float"
	case v.Choices != nil:
		quoted := make([]string, len(v.Choices))
		for i, c := range v.Choices {
			quoted[i] = fmt.Sprintf("%q", c)
		}
		return "Literal[" + strings.Join(quoted, ", ") + "]"
	case s.Line && s.Name != "sampler" && takes(`1`):
		return "float | str"
	}
	return "str"
}
