package settings

import (
	"encoding/json"
	"strings"

	"infill/internal/nearest"
)

// Meant is the setting that somebody may have meant by a JSON field that is none of a line, nil for
// none: one that lines do not choose, or one whose field differs from the name by a slip, such as a
// letter or a dash. It is one that takes the value, for data have names of their own.
func (t Table[T]) Meant(name string, raw json.RawMessage) *Setting[T] {
	var known []string
	byName := map[string]*Setting[T]{}
	for _, s := range t {
		if s.Line && s.Field() == name {
			return nil
		}
		if s.Line || s.Field() == name {
			known = append(known, s.Field())
			byName[s.Field()] = s
		}
	}
	s := byName[nearest.Slip(strings.ReplaceAll(name, "-", "_"), known)]
	if s == nil || string(raw) == "null" || s.SetJSON(new(T), raw) != nil {
		return nil
	}
	return s
}
