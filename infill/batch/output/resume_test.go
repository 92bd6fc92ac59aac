package output

import (
	"bytes"
	"errors"
	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
	"infill/internal/unpack"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An earlier run may leave any number of bytes. The resumed file equals that of an
// uninterrupted run.
func TestResumeAtEveryByte(t *testing.T) {
	t.Parallel()
	for _, suffix := range suffixes {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(150))
			out := filepath.Join(dir, "out"+suffix)
			if _, _, err := process(t, in, out, config{}); err != nil {
				t.Fatal(err)
			}
			whole := inputtest.Read(t, out)
			if suffix != ".jsonl" { // its records wait in another file
				plain := filepath.Join(dir, "out.jsonl")
				if _, _, err := process(t, in, plain, config{}); err != nil {
					t.Fatal(err)
				}
				atEveryByte(t, in, out, partPath(out), inputtest.Read(t, plain),
					string(inputtest.Read(t, manifestPath(plain))), whole)
				return
			}
			atEveryByte(t, in, out, out, whole, string(inputtest.Read(t, manifestPath(out))), whole)
		})
	}
}

// atEveryByte goes on with each part of the records in a file, and wants the whole output.
func atEveryByte(t *testing.T, in, out, file string, want []byte, manifest string, whole []byte) {
	t.Helper()
	step := max(1, len(want)/150)
	for n := len(want); n >= 0; n -= step {
		garbage := []byte(nil)
		if n%3 == 1 { // a loss of power can leave zeros
			garbage = make([]byte, n%50)
		}
		if file != out {
			_ = os.Remove(out)
		}
		inputtest.Write(t, manifestPath(out), manifest)
		if err := os.WriteFile(file, append(bytes.Clone(want[:n]), garbage...), 0o644); err != nil {
			t.Fatal(err)
		}
		p, o, err := process(t, in, out, config{mode: Resume, do: atOnce})
		if n < len(want) && n+len(garbage) >= len(want) {
			// All bytes of the manifest's sum are there, and some are others: that is damage.
			if !errors.Is(err, ErrManifest) {
				t.Fatalf("%d bytes and zeros: %v", n, err)
			}
			inputtest.Write(t, file, string(want[:n]))
			p, o, err = process(t, in, out, config{mode: Resume, do: atOnce})
		}
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if got := inputtest.Read(t, out); !bytes.Equal(got, whole) {
			t.Fatalf(
				"resumed at byte %d of %d (%d records there, %d bytes cut off): another file", n, len(want),
				p.Resumed, o.Dropped,
			)
		}
		if n == len(want) && (p.Resumed != p.Records || o.Dropped != int64(len(garbage))) {
			t.Errorf("a finished file is done again: %+v", p)
		}
	}
}

// A compressed output without records is one that other programs can read: a frame, and not a file
// of no bytes. To resume it changes nothing, and completes one of no bytes.
func TestEmptyOutput(t *testing.T) {
	t.Parallel()
	for _, suffix := range suffixes {
		for _, per := range []settings.Unit{settings.PerSentence, settings.PerFilling} {
			dir := t.TempDir()
			in := inputtest.Write(t, filepath.Join(dir, "in.txt"), "\n")
			out := filepath.Join(dir, "out"+suffix)
			c := config{layout: Layout{Per: per}}
			if _, _, err := process(t, in, out, c); err != nil {
				t.Fatal(err)
			}
			want := inputtest.Read(t, out)
			u, err := unpack.New(bytes.NewReader(want))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(u)
			if err != nil || len(plain) > 0 || (len(want) > 0) != (suffix != ".jsonl") {
				t.Errorf("%s: %q holds %q, %v", suffix, want, plain, err)
			}
			c.mode = Resume
			for _, n := range []int{len(want), 0, len(want) / 2} {
				if (per != settings.PerSentence || suffix != ".jsonl") && n < len(want) {
					continue // what was made at the end is refused where its bytes have changed
				}
				inputtest.Write(t, out, string(want[:n]))
				_, o, err := process(t, in, out, c)
				if err != nil || !bytes.Equal(inputtest.Read(t, out), want) || n == len(want) && o.Dropped != 0 {
					t.Errorf("%s: resumed at byte %d: %q, %v", suffix, n, inputtest.Read(t, out), err)
				}
			}
		}
	}
}

// A disk that is full in the middle of a record: the error is reported, the
// torn record taken away, and the run can go on when there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	var dirs []string
	for _, suffix := range suffixes { // the plain one first
		dir := t.TempDir()
		dirs = append(dirs, dir)
		in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(300))
		whole, out := filepath.Join(dir, "whole"+suffix), filepath.Join(dir, "out"+suffix)
		if _, _, err := process(t, in, whole, config{}); err != nil {
			t.Fatal(err)
		}
		want := inputtest.Read(t, whole)
		file := out
		records := want
		if suffix != ".jsonl" {
			file = partPath(out)
			records = inputtest.Read(t, filepath.Join(dirs[0], "whole.jsonl"))
		}
		for i := 0; ; i++ {
			room := len(records) / 5
			_, _, err := process(
				t, in, out, config{mode: Resume, before: func(o *Writer) { o.records.w = &small{o.records.w, room} }},
			)
			if err == nil {
				t.Fatalf("%s: a full disk goes unnoticed", suffix)
			}
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "writing") {
				t.Fatal(err)
			}
			got := inputtest.Read(t, file)
			if !bytes.HasPrefix(records, got) || len(got) > 0 && got[len(got)-1] != '\n' {
				t.Fatalf("%s: what the full disk holds is not whole", suffix)
			}
			if len(got) > len(records)/3 || i == 3 {
				break
			}
		}
		if _, _, err := process(t, in, out, config{mode: Resume}); err != nil ||
			!bytes.Equal(inputtest.Read(t, out), want) {
			t.Errorf("%s: the resumed file is another (%v)", suffix, err)
		}
	}
}

// small takes so many bytes and then is full.
type small struct {
	w    io.Writer
	room int
}

func (s *small) Write(p []byte) (int, error) {
	if len(p) <= s.room {
		s.room -= len(p)
		return s.w.Write(p)
	}
	n, _ := s.w.Write(p[:s.room])
	s.room = 0
	return n, syscall.ENOSPC
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), "a\nb\n")
	out := filepath.Join(dir, "out.jsonl")
	if _, _, err := process(t, in, out, config{mode: Resume}); err != nil {
		t.Fatalf("resuming what never began: %v", err)
	}
	want := inputtest.Read(t, out)
	if _, _, err := process(t, in, out, config{}); !errors.Is(err, ErrExists) {
		t.Errorf("an output that exists: %v", err)
	}
	if _, _, err := process(t, in, in, config{mode: Force,
		layout: Layout{Format: settings.FormatJSONL}}); !errors.Is(err, ErrIsInput) {
		t.Errorf("the input as output: %v", err)
	}
	other := inputtest.Write(t, filepath.Join(dir, "other.txt"), "a\nc\n")
	if _, _, err := process(t, other, out, config{mode: Resume}); !errors.Is(err, ErrMismatch) ||
		!strings.Contains(err.Error(), "input") {
		t.Errorf("another input: %v", err)
	}
	open := func(change func(*Manifest)) error {
		i, err := input.Open(in, nil, input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = i.Close() }()
		m := manifest()
		s, _ := i.Survey()
		m.SHA256, m.Bytes = s.SHA256, s.Bytes
		change(m)
		o, err := m.Open(out, i, Resume, Layout{})
		if err == nil {
			_ = o.Close(false)
		}
		return err
	}
	for what, change := range map[string]func(*Manifest){
		"version":   func(m *Manifest) { m.Version = "v2" },
		"model":     func(m *Manifest) { m.Model = "sha256:1" },
		"seed":      func(m *Manifest) { m.Seed = 2 },
		"steps was": func(m *Manifest) { m.Settings["steps"] = "51" },
		"new was":   func(m *Manifest) { m.Settings["new"] = "x" },
		"input":     func(m *Manifest) { m.SHA256 = "00" },
	} {
		if err := open(change); !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	same := func(m *Manifest) { m.Input = "the same file by another name" }
	if err := open(same); err != nil {
		t.Error(err)
	}
	// Two processes at once.
	i, err := input.Open(in, nil, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := manifest()
	s, _ := i.Survey()
	m.SHA256, m.Bytes = s.SHA256, s.Bytes
	o, err := m.Open(out, i, Resume, Layout{})
	if err != nil {
		t.Fatal(err)
	}
	if err := open(same); !errors.Is(err, errLocked) {
		t.Errorf("a second writer: %v", err)
	}
	if err := errors.Join(o.Close(false), i.Close()); err != nil {
		t.Fatal(err)
	}
	inputtest.Write(t, manifestPath(out), "{")
	if err := open(same); !errors.Is(err, ErrManifest) {
		t.Errorf("a damaged manifest: %v", err)
	}
	if err := os.Remove(manifestPath(out)); err != nil {
		t.Fatal(err)
	}
	if err := open(same); !errors.Is(err, ErrManifest) {
		t.Errorf("no manifest: %v", err)
	}
	if !bytes.Equal(inputtest.Read(t, out), want) {
		t.Error("a refused run changed the output")
	}
	if _, _, err := process(t, in, out, config{mode: Force}); err != nil ||
		!bytes.Equal(inputtest.Read(t, out), want) {
		t.Errorf("--force: %v", err)
	}
	// A record that belongs to another line.
	inputtest.Write(t, out, `{"line":1,"text":"A"}`+"\n"+`{"line":7,"text":"B"}`+"\n")
	if _, _, err := process(t, in, out, config{mode: Resume}); !errors.Is(err, ErrMismatch) ||
		!strings.Contains(err.Error(), "line 7") {
		t.Errorf("a record of another line: %v", err)
	}
	inputtest.Write(t, out, strings.Repeat(`{"line":1}`+"\n", 1)+`{"line":2}`+"\n"+`{"line":3}`+"\n")
	if _, _, err := process(t, in, out, config{mode: Resume}); !errors.Is(err, ErrMismatch) ||
		!strings.Contains(err.Error(), "more records") {
		t.Errorf("more records than lines: %v", err)
	}
}
