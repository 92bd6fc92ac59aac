package hub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"infill/internal/disk"
	"infill/internal/textline"
)

// Names of the files that say what a folder should hold.
const (
	cardFile = "README.md"
	sumsFile = "SHA256SUMS"
)

// cardRow is a row of a card's table of files: | `name` | bytes | `sha256` |.
var cardRow = regexp.MustCompile(
	"(?m)^\\| `([^`\n]+)` \\| [0-9]+ \\| `([0-9a-f]{64})` \\|[ \t\r]*$")

// sumsRow is a line of sha256sum's output.
var sumsRow = regexp.MustCompile(`^([0-9a-f]{64}) [ *](.+)$`)

// VerifyFolder compares the files of a folder with what the folder itself says: SHA256SUMS
// (as sha256sum writes it), else the table of files in README.md with the columns file, bytes
// and SHA-256 that the default model's card has. Other files are listed as not stated. Errors
// wrap errUnverified if neither says anything. Such a folder can only tell that it is whole,
// not that it is from whom it seems to be.
func VerifyFolder(ctx context.Context, dir fs.FS) ([]Check, error) {
	want, by, err := stated(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	err = fs.WalkDir(dir, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if len(paths) > 10_000 {
			return errors.New("more than 10,000 files; this is not a model's folder")
		}
		if d.Type().IsRegular() && p != by {
			paths = append(paths, p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for p := range want {
		if !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	var out []Check
	for _, p := range paths {
		c, err := verifyFile(ctx, dir, p, want[p], by)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// stated reads which hashes a folder says its files have, and the name of the file that says so.
func stated(dir fs.FS) (map[string]string, string, error) {
	for _, source := range []struct {
		file  string
		parse func([]byte) (map[string]string, error)
	}{{sumsFile, parseSums}, {cardFile, parseCard}} {
		text, err := disk.ReadFS(dir, source.file, maxRecord)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var want map[string]string
		if err == nil {
			want, err = source.parse(text)
		}
		if err != nil {
			return nil, "", fmt.Errorf("%w: %s: %w", errUnverified, source.file, err)
		}
		if len(want) > 0 {
			return want, source.file, nil
		}
	}
	return nil, "", fmt.Errorf("%w: the folder has neither %s (sha256sum * > %s writes one) "+
		"nor a %s with a table of its files", errUnverified, sumsFile, sumsFile, cardFile)
}

func parseCard(text []byte) (map[string]string, error) {
	want := map[string]string{}
	for _, m := range cardRow.FindAllStringSubmatch(string(text), -1) {
		if !fs.ValidPath(m[1]) {
			return nil, fmt.Errorf("%q is not the path of a file in the folder", m[1])
		}
		want[m[1]] = m[2]
	}
	return want, nil
}

func parseSums(text []byte) (map[string]string, error) {
	want := map[string]string{}
	n := 0
	for b := range bytes.Lines(text) {
		n++
		line := string(textline.Trim(b))
		if line == "" {
			continue
		}
		m := sumsRow.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("line %d is not a hash, two spaces and a file", n)
		}
		p := path.Clean(m[2])
		if !fs.ValidPath(p) {
			return nil, fmt.Errorf("line %d: %q is not the path of a file in the folder", n, m[2])
		}
		if p != sumsFile { // sha256sum * > SHA256SUMS lists the file itself, empty as it then is
			want[p] = m[1]
		}
	}
	return want, nil
}
