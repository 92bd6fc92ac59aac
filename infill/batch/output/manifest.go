package output

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"infill/infill/batch/input"
	"infill/infill/settings"
	"infill/internal/disk"
)

// A Manifest says what an output was made from: everything that decides a
// record. It is a file beside the output.
type Manifest struct {
	Format  int    `json:"format"` // of output and manifest, 1
	Version string `json:"version"`
	Model   string `json:"model"`
	Seed    uint64 `json:"seed"`
	Input   string `json:"input"`        // name, for people only
	Bytes   int64  `json:"input_bytes"`  // −1 for a stream
	SHA256  string `json:"input_sha256"` // "" for a stream
	// Limit is the number of records that the run reads, 0 for all. A run that goes
	// on may have a greater one.
	Limit int `json:"limit,omitempty"`
	// Shard is the part of the input that the run reads, the zero value for all of it. Bytes and
	// SHA256 describe the whole input.
	Shard    settings.Shard    `json:"shard,omitzero"`
	Settings map[string]string `json:"settings"`
	// Implied says what settings follow from the others of a manifest where this run leaves them
	// open, see settings.Fill.Implied. It is for messages, nil for none.
	Implied func(manifest map[string]string) map[string]string `json:"-"`
	// Written is the sum of the records that are on disk, renewed whenever they are synced. A run that
	// goes on compares them with it. Earlier programs left it out.
	Written *Sum `json:"written,omitempty"`
	// Finished is what an output of rows or of a shard holds, nil before it is made.
	Finished *Finished `json:"finished,omitempty"`
}

// A Sum is the number of the first bytes of a file, and their hash.
type Sum struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// summing counts and hashes the bytes that are written.
type summing struct {
	bytes int64
	hash  hash.Hash
}

func newSumming() *summing { return &summing{hash: sha256.New()} }

func (s *summing) Write(b []byte) (int, error) {
	s.bytes += int64(len(b))
	return s.hash.Write(b)
}

// sum is of the bytes up to now.
func (s *summing) sum() *Sum { return &Sum{s.bytes, hex.EncodeToString(s.hash.Sum(nil))} }

// Finished says what an output that is complete holds.
type Finished struct {
	Records int `json:"records"`
	Failed  int `json:"failed"`
	// Bytes and SHA256 are of the output. The processes of shards may have been on many machines, so
	// what is joined is compared with them. So are rows that a run is to go on with, for a file that
	// was cut off must not pass for finished. Earlier programs left them out for rows.
	Bytes  int64  `json:"bytes,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// manifestFormat is the value of Manifest.Format.
const manifestFormat = 1

// maxManifest bounds the file in bytes.
const maxManifest = 1 << 20

// Beside are the files that a run has beside its output: the manifest, and the one in which the
// records of an output that has rows wait for the last of them.
func Beside(output string) (manifest, part string) { return manifestPath(output), partPath(output) }

// manifestPath is where the manifest of an output lies.
func manifestPath(output string) string { return output + ".manifest" }

// ReadManifest reads the manifest of an output. The error is fs.ErrNotExist if
// there is none, ErrManifest if it is damaged or something else.
func ReadManifest(output string) (*Manifest, error) {
	path := manifestPath(output)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		const remedy = "is not a regular file; move it away, or name another output"
		return nil, &ManifestError{path, remedy, false}
	case info.Size() > maxManifest:
		return nil, &ManifestError{path, fmt.Sprintf(
			"has %d bytes, too many for a manifest of infill's; %s", info.Size(), moveAway), true}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err = d.Decode(&m)
	if err == nil && m.Format != manifestFormat {
		err = fmt.Errorf("its format is %d, not %d", m.Format, manifestFormat)
	}
	if err != nil {
		return nil, &ManifestError{path, fmt.Sprintf(
			"is damaged, of another version, or not a manifest of infill's (%v); %s", err, moveAway), true}
	}
	return &m, nil
}

// write puts the manifest on disk so that it is there as a whole or not at all.
func (m *Manifest) write(output string) error {
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	path := manifestPath(output)
	if err := disk.Write(path, append(b, '\n')); err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	return nil
}

// differences lists the values that two manifests disagree on.
func (m *Manifest) differences(now *Manifest) []Difference {
	var out []Difference
	differ := func(what string, setting bool, was, is any) {
		if was != is {
			out = append(out, Difference{what, setting, fmt.Sprint(was), fmt.Sprint(is)})
		}
	}
	differ("version", false, m.Version, now.Version)
	differ("model", true, m.Model, now.Model)
	differ("seed", true, m.Seed, now.Seed)
	if m.SHA256 != now.SHA256 || m.Bytes != now.Bytes {
		input := func(m *Manifest) string {
			if m.Bytes < 0 {
				return m.Input // a stream
			}
			return fmt.Sprintf("%s (%d bytes)", m.Input, m.Bytes)
		}
		out = append(out, Difference{"the input", false, input(m), input(now)})
	}
	differ("shard", true, orWhole(m.Shard), orWhole(now.Shard))
	// A run may read more records, unless rows have been made of the others.
	if m.Limit != now.Limit && (m.Finished != nil || !m.extends(now)) {
		limit := func(n int) string {
			if n == 0 {
				return ""
			}
			return fmt.Sprint(n)
		}
		differ("limit", true, limit(m.Limit), limit(now.Limit))
	}
	names := map[string]string{}
	maps.Copy(names, m.Settings)
	maps.Copy(names, now.Settings)
	for _, n := range slices.Sorted(maps.Keys(names)) {
		differ(n, true, m.Settings[n], now.Settings[n])
	}
	return m.unimplied(now, out)
}

// unimplied leaves out differences that follow from others: whoever mends those mends these.
func (m *Manifest) unimplied(now *Manifest, all []Difference) []Difference {
	if now.Implied == nil || len(all) < 2 {
		return all
	}
	was, is := now.Implied(m.Settings), now.Implied(now.Settings)
	var rest []Difference
	for _, d := range all {
		before, known := was[d.What]
		if !known || before != d.Was || is[d.What] != d.Is {
			rest = append(rest, d)
		}
	}
	if len(rest) == 0 {
		return all
	}
	return rest
}

// orWhole is a shard in words.
func orWhole(s settings.Shard) string {
	if s.Whole() {
		return "the whole input"
	}
	return s.String()
}

// extends reports whether a run reads more records than m's.
func (m *Manifest) extends(now *Manifest) bool {
	return m.Limit > 0 && (now.Limit == 0 || now.Limit > m.Limit)
}

// measure enters the bytes of a file and their hash. use, if not nil, reads it first.
func (f *Finished) measure(path string, use func(io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	all := newSumming()
	r := io.TeeReader(file, all)
	if use != nil {
		err = use(r)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, r) // what use left
	}
	is := all.sum()
	f.Bytes, f.SHA256 = is.Bytes, is.SHA256
	return errors.Join(err, file.Close())
}

// placeOfManifest is an error if the manifest of an output cannot be written. Its
// folder has to be there, and its name has to be free or that of a manifest.
func placeOfManifest(output string, in *input.Reader, mode Mode) error {
	if _, err := os.Stat(filepath.Dir(output)); err != nil {
		return fmt.Errorf("the folder of the output: %w; make it first", err)
	}
	path := manifestPath(output)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case in.IsFile(info):
		return fmt.Errorf("%w: %s, where the manifest of %s goes, is the input; name another output",
			ErrManifest, path, output)
	case mode == Force && info.Mode().IsRegular():
		return nil
	}
	_, err = ReadManifest(output)
	return err
}

// check compares the manifest of the output, if it has one, with that of this run.
func (o *Writer) check(empty bool) error {
	was, err := ReadManifest(o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && empty:
		return o.manifest.write(o.Path) // nothing was written yet
	case errors.Is(err, fs.ErrNotExist):
		return &ManifestError{manifestPath(o.Path), fmt.Sprintf(
			"is missing, so the origin of %s is not known; start again, or name another output",
			o.file), true}
	case err != nil:
		return err
	}
	if empty {
		was.Finished = nil // what was finished has been taken away
	}
	if d := was.differences(o.manifest); len(d) > 0 {
		return &MismatchError{Differences: d}
	}
	o.records.was = was.Written
	if !empty {
		o.manifest.Written = was.Written
	}
	if was.Finished != nil && !o.layout.Whole() {
		o.records.was = &Sum{was.Finished.Bytes, was.Finished.SHA256}
	}
	if was.extends(o.manifest) || empty {
		return o.manifest.write(o.Path)
	}
	return nil
}
