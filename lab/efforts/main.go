// Package efforts counts how often the search finds the best filling that a wider one finds:
//
//	bin/lab efforts                          # the texts of infill/testdata/open.txt
//	bin/lab efforts -gaps 60 FILE …          # gaps of one to three words in sentences of files
//	bin/lab efforts -lists 60 FILE …         # a list of words and phrases in two blanks
//
// Half of the gaps are [MASK*1-3], the others [MASK*1-5]. Each miss is printed, and how likely the
// length of the best filling is. -known keeps what the wider search found, for the next run.
//
// lab/notebook/search.md has such counts.
package efforts

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"infill/infill"
	"infill/infill/open"
	"infill/mlm"
)

// best is what a search of a text found.
type best struct {
	Text  string
	Score float64
	Rows  int
	// Place is the place of its length among those of all fillings, from 1, the likeliest first, and
	// Share how likely it is beside the likeliest. 0: no length was open.
	Place int
	Share float64
}

// Command is the command efforts: args are its flags and files. Counts go to out.
func Command(ctx context.Context, args []string, _ io.Reader, out, errs io.Writer) error {
	fs := flag.NewFlagSet("efforts", flag.ContinueOnError)
	fs.SetOutput(errs)
	model := fs.String("model", "default", "folder or name of the model")
	gaps := fs.Int("gaps", 0, "gaps to make in sentences of the files")
	lists := fs.Int("lists", 0, "texts with lists to make of them")
	seed := fs.Uint64("seed", 1, "seed of the sentences and words")
	threads := fs.Int("threads", 2, "threads")
	effort := fs.String("effort", "normal", "effort that is judged")
	wide := fs.String("wide", "thorough", "effort of the wider search, \"\" for none")
	known := fs.String("known", "", "file that keeps what the wider search found")
	if err := fs.Parse(args); err != nil {
		return err
	}
	files := fs.Args()
	if len(files) == 0 {
		files = []string{"infill/testdata/open.txt"}
	}
	texts, err := read(files)
	switch {
	case err != nil:
		return err
	case *gaps > 0:
		texts = withGaps(texts, *gaps, *seed)
	case *lists > 0:
		texts = withLists(texts, *lists, *seed)
	}
	m, err := open.Model(ctx, *model, mlm.Options{Threads: *threads, Forward: true,
		Precision: mlm.Auto})
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	j := &judge{e: infill.New(m), out: out, known: map[string]best{}, file: *known}
	if data, err := os.ReadFile(*known); err == nil {
		if err := json.Unmarshal(data, &j.known); err != nil {
			return fmt.Errorf("%s: %w", *known, err)
		}
	} else if *known != "" && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return j.all(ctx, texts, *effort, *wide)
}

// keep remembers what the wider search found, for runs to come too.
func (j *judge) keep(text string, b best) error {
	j.known[text] = b
	if j.file == "" {
		return nil
	}
	data, err := json.MarshalIndent(j.known, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(j.file, append(data, '\n'), 0o600)
}

// read lists the lines of files, without comments.
func read(files []string) (texts []string, err error) {
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				texts = append(texts, line)
			}
		}
	}
	return texts, nil
}

// A judge compares searches.
type judge struct {
	e     *infill.Engine
	out   io.Writer
	known map[string]best // of the wider search, by text
	file  string          // which keeps them, or ""
}

// all searches every text twice, and prints each whose best filling is missed.
func (j *judge) all(ctx context.Context, texts []string, effort, wide string) error {
	var missed, rows, widest, beyond, n int
	var lost float64
	places := map[int]int{}
	for _, text := range texts {
		got, err := j.search(ctx, text, effort)
		if err != nil {
			fmt.Fprintf(j.out, "left out: %s: %v\n", text, err)
			continue
		}
		n++
		rows += got.Rows
		of := got
		if wide != "" {
			var known bool
			if of, known = j.known[text]; !known {
				if of, err = j.search(ctx, text, wide); err != nil {
					return err
				}
				if err := j.keep(text, of); err != nil {
					return err
				}
			}
			widest += of.Rows
		}
		if of.Score > got.Score+1e-4 {
			missed++
			lost += of.Score - got.Score
			fmt.Fprintf(j.out, "%s\n  %.2f %s (length %d, %.0f %%)\n  %.2f %s\n", text, of.Score, of.Text,
				of.Place, 100*of.Share, got.Score, got.Text)
		} else {
			of = got
			if got.Score > j.known[text].Score+1e-4 && wide != "" {
				beyond++
			}
		}
		places[of.Place]++
	}
	if n == 0 {
		return errors.New("no text was searched")
	}
	fmt.Fprintf(j.out, "found in %d of %d texts, a better one in %d; missed by %.2f nats in the "+
		"mean\n", n-missed, n, beyond, lost/float64(max(missed, 1)))
	fmt.Fprintf(j.out, "rows a text: %.1f, of the wider search %.1f\n", float64(rows)/float64(n),
		float64(widest)/float64(n))
	for _, p := range slices.Sorted(maps.Keys(places)) {
		if p > 0 {
			fmt.Fprintf(j.out, "length number %d: %d\n", p, places[p])
		}
	}
	return nil
}
