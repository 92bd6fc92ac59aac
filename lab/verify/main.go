// Package verify reproduces the figures of the sampler literature and writes
// them beside the numbers of papers and of public code.
//
//	bin/lab verify                        # prints all sections
//	bin/lab verify -only 5                # prints figure 5
//	bin/lab verify -write lab/notebook   # writes the page and its charts
//	bin/lab verify -only 5 -write lab/notebook # writes figure 5 into the page
//
// With -only and -write the other sections of the page, and their charts, stay as they are, and
// those written are what a whole run with the page's seed would write.
// With -keep FOLDER a run that was stopped goes on in sections 6, 11 and 12 when called again.
// A row that was kept of other settings is made again.
//
// Everything but times is a function of the seed.
package verify

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// section is one figure.
type section struct {
	id    string
	title string
	run   func(ctx context.Context, w io.Writer, env *env) error
}

// heading begins a section of the page.
func (s section) heading() string { return fmt.Sprintf("\n## %s. %s\n", s.id, s.title) }

// env is what a section may use besides its writer.
type env struct {
	seed uint64
	svg  func(name string, draw func(io.Writer) error) error // stores a chart
	log  io.Writer
	keep string // folder for results of long rows; "" keeps none
	lock sync.Mutex
}

// progress reports a finished row of a long section.
func (e *env) progress(format string, a ...any) {
	e.lock.Lock()
	defer e.lock.Unlock()
	fmt.Fprintf(e.log, format+"\n", a...)
}

var sections = []section{
	{"1", "Ising 5×5, periodic (DLP)", figIsing},
	{"2", "Stationary law of DULA (DLP, theorem 5.1)", figDULA},
	{"3", "Preconditioning (DLP)", figPrecondition},
	{"4", "SGDLD on the Gaussian–Bernoulli model", figSGDLD},
	{"5", "Factorised categorical, D = 2000, K = 4", figCategorical},
	{"6", "Ising 50×50, high temperature", figIsing50},
	{"7", "Grid of modes (ACS)", figModes},
	{"8", "All samplers on small targets", figAll},
	{"9", "Bias of DULA (DLP, figure 1)", figBias},
	{"10", "Ising 5×5, the samplers of DLP (figures 2, 3 and 7)", figDLP},
	{"11", "DLMC's models", figDLMC},
	{"12", "Variable selection (SGDLD)", figSelection},
	{"13", "Convergence of ACS (theorems 5.4 and 5.5)", figErgodic},
}

// Command is the command verify: args are its flags. It writes the sections to out and its progress
// to errs.
func Command(ctx context.Context, args []string, _ io.Reader, out, errs io.Writer) error {
	return run(ctx, sections, out, errs, args)
}

func run(ctx context.Context, sections []section, stdout, stderr io.Writer, args []string) error {
	fs := flag.NewFlagSet("verify", flag.ContinueOnError)
	fs.SetOutput(stderr)
	only := fs.String("only", "", "comma-separated figures to make (default all)")
	write := fs.String("write", "", "folder to write verification.md and its charts to (default: "+
		"print)")
	seed := fs.Uint64("seed", 1, "seed")
	keep := fs.String("keep", "", "folder in which sections 6, 11 and 12 keep what each row gave, so "+
		"that a run that was stopped goes on from there; rows of other settings are made again; "+
		"empty it when a sampler changes")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; flags only", fs.Arg(0))
	}
	wanted := map[string]bool{}
	for _, id := range strings.Split(*only, ",") {
		if id = strings.TrimSpace(id); id != "" {
			if n, err := strconv.Atoi(id); err != nil || n < 1 || n > len(sections) {
				return fmt.Errorf("no figure %q; there are 1 to %d", id, len(sections))
			}
			wanted[id] = true
		}
	}
	page := filepath.Join(*write, "verification.md")
	var before []string // the sections of the page that keeps those that are not wanted
	if *write != "" && len(wanted) > 0 {
		b, err := os.ReadFile(page)
		if err != nil {
			return fmt.Errorf("-only puts its sections into a page: %w; write the whole page, without "+
				"-only", err)
		}
		if before, err = cut(string(b), sections, *seed); err != nil {
			return fmt.Errorf("%s: %w", page, err)
		}
	}
	e := &env{seed: *seed, keep: *keep, log: stderr,
		svg: func(string, func(io.Writer) error) error { return nil }}
	if *write != "" {
		dir := filepath.Join(*write, "verification")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		e.svg = func(name string, draw func(io.Writer) error) error {
			var b bytes.Buffer
			if err := draw(&b); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644)
		}
	}
	texts := make([]bytes.Buffer, len(sections))
	err := parallel(len(sections), func(i int) error {
		s, b := sections[i], &texts[i]
		if len(wanted) > 0 && !wanted[s.id] {
			return nil
		}
		begin := time.Now()
		fmt.Fprintf(b, "%s\n", s.heading())
		if err := s.run(ctx, b, e); err != nil {
			return fmt.Errorf("figure %s: %w", s.id, err)
		}
		e.progress("figure %s: %v", s.id, time.Since(begin).Round(100*time.Millisecond))
		return nil
	})
	if err != nil {
		return err
	}
	var doc bytes.Buffer
	if *write != "" {
		doc.WriteString(text("preamble", *seed))
	}
	for i, b := range texts {
		if b.Len() == 0 && before != nil {
			doc.WriteString(before[i])
		}
		doc.Write(b.Bytes())
	}
	if *write == "" {
		_, err := stdout.Write(doc.Bytes())
		return err
	}
	return os.WriteFile(page, doc.Bytes(), 0o644)
}
