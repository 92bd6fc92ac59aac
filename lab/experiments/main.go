// Package experiments repeats what the papers on discrete Langevin samplers learn, and writes
// the results beside theirs.
//
//	bin/lab experiments list                                # names, titles, times
//	bin/lab experiments -quick all                          # a look, in seconds
//	bin/lab experiments NAME...                             # prints the pages
//	bin/lab experiments -write lab/notebook/experiments all  # writes pages and charts
//
// It uses the package samplers as any program may. Pages are functions of the seed.
package experiments

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"infill/lab/experiments/approx"
	"infill/lab/experiments/bayesnet"
	"infill/lab/experiments/deepebm"
	"infill/lab/experiments/facility"
	"infill/lab/experiments/isinglearn"
	"infill/lab/experiments/lab"
	"infill/lab/experiments/rbm"
	"infill/lab/experiments/rbmlearn"
	"infill/lab/internal/processor"
)

// experiments are all there are, in the order of all.
var experiments = []lab.Experiment{
	rbm.Experiment,
	rbmlearn.Experiment,
	deepebm.Experiment,
	isinglearn.Experiment,
	facility.Experiment,
	bayesnet.Experiment,
	approx.Experiment,
}

// Command is the command experiments: args are its flags, and names of experiments.
func Command(ctx context.Context, args []string, _ io.Reader, out, errs io.Writer) error {
	return run(ctx, out, errs, args)
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	fs := flag.NewFlagSet("experiments", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintln(stderr, "usage: experiments [flags] NAME...|all|list")
		fs.PrintDefaults()
	}
	o := lab.Options{Log: stderr}
	fs.Uint64Var(&o.Seed, "seed", 1, "seed")
	fs.BoolVar(&o.Quick, "quick", false, "smaller sizes: some seconds each")
	fs.IntVar(&o.Threads, "threads", runtime.GOMAXPROCS(0), "threads that compute")
	fs.StringVar(&o.Data, "data", "", "folder of data sets (default: experiments in the cache of "+
		"infill)")
	fs.StringVar(&o.Keep, "keep", "", "folder in which rbm, isinglearn, rbmlearn and facility keep "+
		"what each part gave, so that a stopped run goes on (default: none)")
	write := fs.String("write", "", "folder to write NAME.md and its charts to (default: print)")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if o.Quick && *write != "" {
		return errors.New("-write is for the full runs, which pages report; leave out -quick")
	}
	if o.Threads < 1 {
		return fmt.Errorf("-threads is %d, want 1 or more", o.Threads)
	}
	if slices.Equal(fs.Args(), []string{"list"}) {
		for _, e := range experiments {
			fmt.Fprintf(stdout, "%-12s %s (%s), %s\n", e.Name, e.Title, e.Source, e.Takes)
		}
		return nil
	}
	chosen, err := choose(fs.Args())
	if err != nil {
		return err
	}
	for _, e := range chosen {
		begin := time.Now()
		page, err := e.Run(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		fmt.Fprintf(stderr, "%s: %v\n", e.Name, time.Since(begin).Round(100*time.Millisecond))
		if *write == "" {
			_, err = io.WriteString(stdout, text(e, page, o))
		} else {
			err = store(*write, e.Name, text(e, page, o), page.Charts)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// choose returns the experiments of the given names, all of them for "all".
func choose(names []string) ([]lab.Experiment, error) {
	if slices.Equal(names, []string{"all"}) {
		return experiments, nil
	}
	var all []string
	for _, e := range experiments {
		all = append(all, e.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("name an experiment: %s, or all", strings.Join(all, ", "))
	}
	var chosen []lab.Experiment
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			return nil, fmt.Errorf("no experiment %q; there are %s", name,
				strings.Join(all, ", "))
		}
		chosen = append(chosen, experiments[i])
	}
	return chosen, nil
}

// text is the page with its head.
func text(e lab.Experiment, page *lab.Page, o lab.Options) string {
	quick, sizes := "", ""
	if o.Quick {
		quick, sizes = "-quick ", ", with the sizes of the quick case"
	}
	how := fmt.Sprintf("`bin/lab experiments %s-seed %d %s` on %s%s", quick, o.Seed, e.Name,
		processor.Name(), sizes)
	return fmt.Sprintf("# %s\n\nSource: %s. Made by %s.\n\n%s\n", e.Title, e.Source, how,
		strings.TrimSpace(page.Text))
}

// store writes a page and its charts.
func store(dir, name, text string, charts map[string]string) error {
	files := map[string]string{name + ".md": text}
	for chart, svg := range charts {
		files[filepath.Join(name, chart)] = svg
	}
	for file, content := range files {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := renameio.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
