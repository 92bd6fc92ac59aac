package api

import (
	"encoding/json"
	"reflect"
	"strings"

	"infill/infill/settings"
	"infill/samplers"
)

// A formField is what the page knows of a setting. It makes its form of them, so that no setting
// stands in the page.
type formField struct {
	Field string `json:"field"` // its name in requests
	Name  string `json:"name"`  // of the setting, as the table has it
	Group string `json:"group"` // that the command's help has it in
	// Type is what JSON has for it: boolean, integer, number, string, array (of texts) or object.
	Type    string   `json:"type"`
	Choices []string `json:"choices,omitempty"`
	Default string   `json:"default,omitempty"` // as a text
	Doc     string   `json:"doc"`
}

// groups are the groups of settings and their headings, in the order of the command's help.
var groups = [][2]string{{"", "How blanks are filled"}, {"words", "What may go into blanks"},
	{"results", "What is printed"}}

// Form is the settings that a request may have, in the order of the command's help, as JSON has
// them. parts are the parts of the energy that a request can name.
func Form(parts []string) any {
	var fields []formField
	for _, group := range groups {
		for _, set := range settings.FillTable() {
			if set.Line && set.Group == group[0] {
				fields = append(fields, fieldOf(set, group[1], parts))
			}
		}
	}
	return fields
}

// fieldOf is the field of a setting.
func fieldOf(set *settings.Setting[settings.Fill], group string, parts []string) formField {
	v := set.Value(settings.Defaults())
	f := formField{Field: set.Field(), Name: set.Name, Group: group, Type: jsonType(set),
		Choices: v.Choices, Default: v.String(), Doc: set.Doc}
	if set.Name == "sampler" {
		for _, info := range samplers.List() {
			f.Choices = append(f.Choices, info.Name)
		}
	}
	if set.Name == "energy" {
		f.Doc += "; open here: " + strings.Join(parts, ", ")
	}
	return f
}

// jsonType is the type of a setting's JSON value.
func jsonType(set *settings.Setting[settings.Fill]) string {
	takes := func(raw string) bool {
		return set.SetJSON(settings.Defaults(), json.RawMessage(raw)) == nil
	}
	switch kind := set.Value(settings.Defaults()).Kind; {
	case takes(`["a"]`), takes(`[]`):
		return "array"
	case takes(`{"a":1}`):
		return "object"
	case kind == reflect.Bool:
		return "boolean"
	case kind == reflect.Int:
		return "integer"
	case kind == reflect.Float64:
		return "number"
	}
	return "string"
}
