package ort

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"infill/internal/disk"
)

// check compares the files of a folder with what they are to be. Errors wrap ErrNotInstalled.
func (w *Wheel) check(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	if w.Quick {
		return w.checkSizes(dir)
	}
	return w.checkSums(dir)
}

// checkSums compares the files with their hashes.
func (w *Wheel) checkSums(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(w.Files)) {
		at, want := filepath.Join(dir, path.Base(name)), w.Files[name]
		if want == "" {
			continue
		}
		sum, _, err := hashFile(at)
		switch {
		case err != nil:
			return fmt.Errorf("%w whole: %w; install it again", ErrNotInstalled, err)
		case sum != want:
			return fmt.Errorf("%w whole: %s has sha256 %s, expected %s; install it again", ErrNotInstalled,
				at, sum, want)
		}
	}
	return nil
}

// sizesFile holds the sizes of the files, once they were compared with their hashes.
const sizesFile = "sizes.json"

func (w *Wheel) noteSizes(dir string) error {
	if !w.Quick {
		return nil
	}
	sizes := map[string]int64{}
	for name := range w.Files {
		info, err := os.Stat(filepath.Join(dir, path.Base(name)))
		if err != nil {
			return err
		}
		sizes[path.Base(name)] = info.Size()
	}
	b, err := json.Marshal(sizes)
	if err != nil {
		return err
	}
	return disk.Write(filepath.Join(dir, sizesFile), append(b, '\n'))
}

func (w *Wheel) checkSizes(dir string) error {
	var sizes map[string]int64
	b, err := disk.Read(filepath.Join(dir, sizesFile), 1<<16)
	if err == nil {
		err = json.Unmarshal(b, &sizes)
	}
	if err != nil {
		return fmt.Errorf("%w whole: %w; install it again", ErrNotInstalled, err)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Files)) {
		at, want := filepath.Join(dir, path.Base(name)), sizes[path.Base(name)]
		info, err := os.Stat(at)
		switch {
		case err != nil:
			return fmt.Errorf("%w whole: %w; install it again", ErrNotInstalled, err)
		case info.Size() != want:
			return fmt.Errorf("%w whole: %s has %d bytes, expected %d; install it again", ErrNotInstalled,
				at, info.Size(), want)
		}
	}
	return nil
}
