package batch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/batch/output"
	"infill/infill/settings"
)

// Files are listed in the order of their names, and keep them. What is not a file of texts is named.
func TestFolder(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for _, name := range []string{"b.CSV", "a.txt", "c.jsonl.gz", "d.v2.parquet", "README", "photo.png",
		".hidden.txt", "e.jsonl.manifest", "f.csv.part"} {
		inputtest.Write(t, filepath.Join(from, name), "")
	}
	for _, name := range []string{"sub.txt", ".git"} {
		if err := os.Mkdir(filepath.Join(from, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"h.txt": "a.txt", "lost.txt": "nothing"} {
		if err := os.Symlink(filepath.Join(from, target), filepath.Join(from, name)); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range []struct {
		as, format   settings.Format
		want, passed string
	}{
		{0, 0, "a.txt>a.jsonl b.CSV>b.jsonl c.jsonl.gz>c.jsonl.gz d.v2.parquet>d.v2.jsonl h.txt>h.jsonl",
			"README f.csv.part lost.txt photo.png sub.txt"},
		{settings.FormatParquet, 0, "a.txt>a.parquet b.CSV>b.parquet c.jsonl.gz>c.parquet " +
			"d.v2.parquet>d.v2.parquet h.txt>h.parquet",
			"README f.csv.part lost.txt photo.png sub.txt"},
		{settings.FormatCSV, settings.FormatText, "README>README.csv a.txt>a.csv b.CSV>b.csv c.jsonl.gz>c.csv.gz " +
			"d.v2.parquet>d.v2.csv h.txt>h.csv photo.png>photo.png.csv",
			"f.csv.part lost.txt sub.txt"},
	} {
		f, err := OpenFolder(from, to, input.Options{Format: c.format}, output.Layout{Format: c.as})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range f.Pairs {
			if filepath.Dir(p.Input) != from || filepath.Dir(p.Output) != to {
				t.Errorf("%+v", p)
			}
			got = append(got, filepath.Base(p.Input)+">"+filepath.Base(p.Output))
		}
		if strings.Join(got, " ") != c.want || strings.Join(f.Passed, " ") != c.passed {
			t.Errorf("%v: %q passed %q", c.as, got, f.Passed)
		}
		for _, p := range f.Pairs { // the name says the format
			if l, err := (output.Layout{}).Found(p.Output); err != nil || l.Format != max(c.as, settings.FormatJSONL) {
				t.Errorf("%s: %v, %v", p.Output, l.Format, err)
			}
		}
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("listing has made a folder: %v", err)
	}
}

func TestFolderRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	make := func(name string, files ...string) string {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			inputtest.Write(t, filepath.Join(path, f), "")
		}
		return path
	}
	twice, none, one := make("twice", "a.csv", "a.txt"), make("none", "x.png", ".a.txt"), make("one", "a.txt")
	file := inputtest.Write(t, filepath.Join(dir, "file"), "")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(one, link); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		from, to string
		is       error
		says     string
	}{
		{twice, "out", ErrFolder, "a.csv and a.txt in " + twice + " would both become a.jsonl"},
		{none, "out", ErrFolder, "name their format"},
		{one, one, output.ErrIsInput, "name another folder"},
		{one, link, output.ErrIsInput, "name another folder"},
		{one, file, ErrFolder, "is not a folder"},
		{one, filepath.Join(dir, "no", "out"), os.ErrNotExist, "make it first"},
		{filepath.Join(dir, "no"), "out", os.ErrNotExist, "no"},
	} {
		_, err := OpenFolder(c.from, c.to, input.Options{}, output.Layout{})
		if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
}

// An output of one file, or what stands beside it, may be a link to another of the files.
func TestFolderOverInput(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.jsonl", "a.jsonl.manifest", "b.csv.part", "b.jsonl.part"} {
		dir := t.TempDir()
		from, to := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		for _, d := range []string{from, to} {
			if err := os.Mkdir(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		inputtest.Write(t, filepath.Join(from, "a.jsonl"), "a")
		other := inputtest.Write(t, filepath.Join(from, "b.jsonl"), "b")
		for _, link := range []func(string, string) error{os.Symlink, os.Link} {
			path := filepath.Join(to, name)
			_ = os.Remove(path) // that of the other kind of link
			if err := link(other, path); err != nil {
				t.Skip(err)
			}
			_, err := OpenFolder(from, to, input.Options{}, output.Layout{})
			if name == "b.csv.part" { // beside no output
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if !errors.Is(err, output.ErrIsInput) || !strings.Contains(err.Error(), path+" is "+other) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A file that is at fault itself ends none of the others. Anything else ends all.
func TestFolderRun(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for name, data := range map[string]string{"a.txt": "x\n", "b.csv": "", "c.jsonl": "{}\n",
		"d.jsonl": "{}\n", "e.txt": "x\n", "f.txt": "x\n"} {
		inputtest.Write(t, filepath.Join(from, name), data)
	}
	f, err := OpenFolder(from, to, input.Options{}, output.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	if wrong := f.Check(); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	broken := errors.New("the model broke")
	var got []string
	for r := range f.Run(func(p Pair, lines bool) (Progress, error) {
		var err error
		switch filepath.Base(p.Input) {
		case "d.jsonl":
			err = output.ErrMismatch
		case "e.txt":
			err = broken
		}
		if lines != strings.HasSuffix(p.Input, ".jsonl") {
			t.Errorf("%s: lines with settings: %v", p.Input, lines)
		}
		return Progress{Records: 3}, err
	}) {
		got = append(got, fmt.Sprint(filepath.Base(r.Input), " ", r.Progress.Records, " ", r.Err != nil, " ",
			r.Own))
	}
	want := "a.txt 3 false false,b.csv 0 true true,c.jsonl 3 false false,d.jsonl 3 true true,e.txt 3 true false"
	if strings.Join(got, ",") != want {
		t.Errorf("%s, want %s", strings.Join(got, ","), want)
	}
	if err := os.Mkdir(to, 0o777); err != nil {
		t.Fatal(err)
	}
	inputtest.Write(t, filepath.Join(to, "a.jsonl"), "")
	if wrong := f.Check(); len(wrong) != 1 || !errors.Is(wrong[0], output.ErrExists) {
		t.Errorf("an output that is there: %v", wrong)
	}
	f.Mode = output.Resume
	if wrong := f.Check(); len(wrong) > 0 {
		t.Errorf("an output that goes on: %v", wrong)
	}
}
