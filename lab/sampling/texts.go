package sampling

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// textsOf reads the texts of a file, and picks those with the numbers in only, from 1.
func textsOf(file, only string) ([]string, error) {
	all := texts
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all = strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })
		if filepath.Ext(file) == ".json" {
			var task []struct{ Sentence string }
			if err := json.Unmarshal(b, &task); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all = nil
			for _, t := range task {
				all = append(all, t.Sentence)
			}
		}
	}
	if only == "" {
		return all, nil
	}
	var out []string
	for n := range strings.SplitSeq(only, ",") {
		i, err := strconv.Atoi(n)
		if err != nil || i < 1 || i > len(all) {
			return nil, fmt.Errorf("-only %s: want numbers of texts from 1 to %d", only, len(all))
		}
		out = append(out, all[i-1])
	}
	return out, nil
}
