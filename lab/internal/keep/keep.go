// Package keep keeps the results of long computations in a folder, so that a program that was
// stopped goes on where it was.
package keep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Result is what run gave in an earlier call with the same folder, name and settings, or what it
// gives now. With the folder "" nothing is kept. Results are JSON files, NAME.json, so T needs
// exported fields and finite numbers. The settings are all that the result depends on besides the
// name and the code: a result of other settings is made again, and again says which file that is.
// Errors come from run or from the file.
func Result[T any](folder, name, settings string, again func(path string),
	run func() (T, error)) (v T, err error) {
	if folder == "" {
		return run()
	}
	path := filepath.Join(folder, name+".json")
	b, err := os.ReadFile(path)
	switch {
	case err == nil:
		var was struct {
			Settings string
			Result   json.RawMessage
		}
		err := json.Unmarshal(b, &was)
		if err == nil && was.Settings == settings {
			if err = json.Unmarshal(was.Result, &v); err == nil {
				return v, nil
			}
		}
		if err != nil {
			return v, fmt.Errorf("%s: %w; delete the file", path, err)
		}
		again(path)
	case !errors.Is(err, fs.ErrNotExist):
		return v, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return v, err // before anything is computed, which would be lost
	}
	if v, err = run(); err != nil {
		return v, err
	}
	b, err = json.Marshal(struct {
		Settings string
		Result   T
	}{settings, v})
	if err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	return v, renameio.WriteFile(path, b, 0o644)
}
