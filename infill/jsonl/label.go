package jsonl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// LabelNames are fields that have the label of a text, the first one first.
func LabelNames() []string {
	return []string{"label", "labels", "class", "category", "sentiment", "intent", "polarity",
		"topic", "target", "label_text"}
}

// Label is the label of a text in the first of these fields that has one, "" for none: a text, a
// number or a truth, or a list with one.
func Label(fields []Field, names ...string) (field, label string) {
	for _, name := range names {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		if i < 0 {
			continue
		}
		var v any
		if json.Unmarshal(fields[i].Value, &v) != nil {
			continue
		}
		if list, ok := v.([]any); ok && len(list) == 1 {
			v = list[0]
		}
		switch v := v.(type) {
		case string, float64, bool:
			if s := strings.TrimSpace(fmt.Sprint(v)); s != "" {
				return name, s
			}
		}
	}
	return "", ""
}
