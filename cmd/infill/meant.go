package main

import (
	"fmt"

	"infill/infill/jsonl"
	"infill/infill/settings"
)

// meantBy says which setting of a table a field of a JSON line may mean that is none of the line,
// and how it is chosen; "" for a field that resembles no setting.
func meantBy[T any](table settings.Table[T]) func(jsonl.Field) string {
	return func(f jsonl.Field) string {
		switch s := table.Meant(f.Name, f.Value); {
		case f.Name == "log_z":
			return "marginals estimates the probabilities of whole texts, and log Z is not estimated"
		case s == nil:
			return ""
		case s.Line:
			return fmt.Sprintf("the setting is called %s", s.Field())
		default:
			return fmt.Sprintf("lines do not choose it, --%s does", s.Name)
		}
	}
}

// meantByAny asks one after the other.
func meantByAny(all ...func(jsonl.Field) string) func(jsonl.Field) string {
	return func(f jsonl.Field) string {
		for _, by := range all {
			if says := by(f); says != "" {
				return says
			}
		}
		return ""
	}
}
