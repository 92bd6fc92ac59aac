package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"infill/internal/disk"
)

// A Manifest says what an output was made from: everything that decides a
// record. It is a file beside the output.
type Manifest struct {
	Format   int               `json:"format"` // of output and manifest, 1
	Version  string            `json:"version"`
	Model    string            `json:"model"`
	Seed     uint64            `json:"seed"`
	Input    string            `json:"input"`        // name, for people only
	Bytes    int64             `json:"input_bytes"`  // −1 for a stream
	SHA256   string            `json:"input_sha256"` // "" for a stream
	Settings map[string]string `json:"settings"`
}

// ManifestFormat is the value of Manifest.Format.
const ManifestFormat = 1

// maxManifest bounds the file in bytes.
const maxManifest = 1 << 20

// ManifestPath is where the manifest of an output lies.
func ManifestPath(output string) string { return output + ".manifest" }

// ReadManifest reads the manifest of an output. The error is fs.ErrNotExist if
// there is none, ErrManifest if it is damaged or something else.
func ReadManifest(output string) (*Manifest, error) {
	path := ManifestPath(output)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	const remedy = "move it away, name another output, or overwrite it with --force"
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is no regular file; move it away, or name another output", ErrManifest, path)
	case info.Size() > maxManifest:
		return nil, fmt.Errorf("%w: %s has %d bytes, which is no manifest of infill's; %s", ErrManifest, path, info.Size(), remedy)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err = d.Decode(&m)
	if err == nil && m.Format != ManifestFormat {
		err = fmt.Errorf("its format is %d, not %d", m.Format, ManifestFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s is damaged, of another version, or no manifest of infill's (%v); %s", ErrManifest, path, err, remedy)
	}
	return &m, nil
}

// write puts the manifest on disk so that it is there as a whole or not at all.
func (m *Manifest) write(output string) error {
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	path := ManifestPath(output)
	if err := disk.Write(path, append(b, '\n')); err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	return nil
}

// differences lists what two manifests disagree on.
func (m *Manifest) differences(now *Manifest) []string {
	var out []string
	differ := func(what string, was, is any) {
		if was != is {
			out = append(out, fmt.Sprintf("%s was %v, is %v", what, was, is))
		}
	}
	differ("version", m.Version, now.Version)
	differ("model", m.Model, now.Model)
	differ("seed", m.Seed, now.Seed)
	if m.SHA256 != now.SHA256 || m.Bytes != now.Bytes {
		out = append(out, fmt.Sprintf("the input is another: %s (%d bytes) was, %s (%d bytes) is", m.Input, m.Bytes, now.Input, now.Bytes))
	}
	var names []string
	for n := range m.Settings {
		names = append(names, n)
	}
	for n := range now.Settings {
		if _, ok := m.Settings[n]; !ok {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		differ("--"+n, m.Settings[n], now.Settings[n])
	}
	return out
}

// Errors of opening an output.
var (
	// ErrExists: the output is there, and neither resumed nor overwritten.
	ErrExists = errors.New("the output exists")
	// ErrIsInput: the run would write over its own input.
	ErrIsInput = errors.New("the output is the input itself")
	// ErrManifest: the manifest is missing or damaged, or its name is taken.
	ErrManifest = errors.New("no usable manifest")
	// ErrMismatch: the output was made from something else.
	ErrMismatch = errors.New("the output does not belong to this run")
	// ErrLocked: another process is writing the output.
	ErrLocked = errors.New("the output is in use")
)

// check compares the manifest of an output, if it has one, with that of this run.
func (m *Manifest) check(output string, empty bool) error {
	was, err := ReadManifest(output)
	switch {
	case errors.Is(err, fs.ErrNotExist) && empty:
		return m.write(output) // nothing was written yet
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is missing, so nobody knows what made %s; start anew with --force, or name another output", ErrManifest, ManifestPath(output), output)
	case err != nil:
		return err
	}
	if d := was.differences(m); len(d) > 0 {
		return fmt.Errorf("%w: %s; repeat the first run's command, or name another output", ErrMismatch, strings.Join(d, "; "))
	}
	return nil
}
