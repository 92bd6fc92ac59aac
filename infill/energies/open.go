package energies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"infill/infill"
	"infill/infill/open"
	"infill/mlm"
)

// Parts are parts whose files have been read. They are safe for concurrent use, and closed by whom
// they were opened by. A nil *Parts has those that need no file.
type Parts struct {
	open map[string]*part // by kind and path
}

// A part is what was made of a file or a folder.
type part struct {
	sum   string // of what it was made from, "sha256:…"
	term  func(Spec) (infill.Term, error)
	close func() error // nil: nothing is to be closed
}

// key names what a part is made from.
func key(s Spec) string { return s.Kind + ":" + s.Path }

// Options say how models are opened.
type Options struct {
	mlm.Options
	// Model opens a masked model by its name. A shared one stays its opener's to close, after the
	// parts. nil: it is opened by its name, see [open.Model].
	Model func(ctx context.Context, name string) (m *mlm.Model, shared bool, err error)
}

// Open reads what the parts of the texts are made from, whatever their weights. Errors wrap ErrSpec
// or mlm.ErrNetwork, or name the file.
func Open(ctx context.Context, texts []string, o Options) (*Parts, error) {
	p := &Parts{open: map[string]*part{}}
	for _, text := range texts {
		s, err := Parse(text)
		if err == nil {
			err = p.add(ctx, s, o)
		}
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return p, nil
}

// add opens a part, unless it is open.
func (p *Parts) add(ctx context.Context, s Spec, o Options) error {
	if s.Path == "" {
		return nil
	}
	made := p.open[key(s)]
	if made == nil {
		var err error
		if made, err = openPart(ctx, s, o); err != nil {
			return fmt.Errorf("part %s of the energy: %w", s.Name(), err)
		}
		p.open[key(s)] = made
	}
	_, err := made.term(s) // that there is such a label
	return err
}

// Names lists what is open, sorted: words:FILE, classifier:FOLDER, whose labels can all be asked
// for, model:NAME and similar:FOLDER.
func (p *Parts) Names() []string {
	if p == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(p.open))
}

// Close closes what is open.
func (p *Parts) Close() error {
	if p == nil {
		return nil
	}
	var errs []error
	for _, made := range p.open {
		if made.close != nil {
			errs = append(errs, made.close())
		}
	}
	return errors.Join(errs...)
}

// openPart reads what a part is made from.
func openPart(ctx context.Context, s Spec, o Options) (*part, error) {
	switch s.Kind {
	case "words":
		list, sum, err := readWords(s.Path)
		if err != nil {
			return nil, err
		}
		term := func(s Spec) (infill.Term, error) { return list.named(s.Name()), nil }
		return &part{sum: sum, term: term}, nil
	case "classifier":
		c, err := newClassifier(ctx, s.Path, o.Options)
		if err != nil {
			return nil, err
		}
		term := func(s Spec) (infill.Term, error) { return c.Label(s.Name(), s.Label) }
		return &part{"sha256:" + c.net.SHA256(), term, c.Close}, nil
	case "model":
		m, shared, err := o.model(ctx, s.Path)
		if err != nil {
			return nil, err
		}
		second := infill.NewSecondModel(s.Name(), m)
		term := func(s Spec) (infill.Term, error) { return second.Named(s.Name()), nil }
		made := &part{sum: "sha256:" + m.Info().SHA256, term: term}
		if !shared {
			made.close = m.Close
		}
		return made, nil
	case "similar":
		e, err := OpenEncoder(ctx, s.Path, o.Options)
		if err != nil {
			return nil, err
		}
		term := func(s Spec) (infill.Term, error) { return e.named(s.Name()), nil }
		return &part{"sha256:" + e.net.SHA256(), term, e.Close}, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrSpec, s.Kind)
}

// model opens a masked model.
func (o Options) model(ctx context.Context, name string) (m *mlm.Model, shared bool, err error) {
	if o.Model == nil {
		m, err = open.Model(ctx, name, o.Options)
		return m, false, err
	}
	return o.Model(ctx, name)
}

// each calls f with the specs of texts and their open parts, nil for one that needs no file.
func (p *Parts) each(texts []string, f func(s Spec, from *part) error) error {
	for _, text := range texts {
		s, err := Parse(text)
		if err != nil {
			return err
		}
		var from *part
		if p != nil {
			from = p.open[key(s)]
		}
		if from == nil && s.Path != "" {
			remedy := "no part with a file is open"
			if names := p.Names(); len(names) > 0 {
				remedy = "open are " + strings.Join(names, ", ")
			}
			return fmt.Errorf("%w: %s is not open here; %s", ErrSpec, s.Name(), remedy)
		}
		if err := f(s, from); err != nil {
			return err
		}
	}
	return nil
}

// Weighted makes terms of parts as users write them. Errors wrap ErrSpec: a part that cannot be
// understood, or whose file is not open.
func (p *Parts) Weighted(texts []string) ([]infill.Weighted, error) {
	var out []infill.Weighted
	err := p.each(texts, func(s Spec, from *part) (err error) {
		var t infill.Term = infill.Edit{}
		if from != nil {
			t, err = from.term(s)
		}
		out = append(out, infill.Weighted{Term: t, Weight: s.Weight})
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Recorded names parts by the hashes of what they are made from, so that a file that has changed
// is another part, and one that was moved is the same.
func (p *Parts) Recorded(texts []string) (string, error) {
	var out []string
	err := p.each(texts, func(s Spec, from *part) error {
		if from != nil {
			s.Path = from.sum
		}
		out = append(out, s.String())
		return nil
	})
	if err != nil {
		return "", err
	}
	return strings.Join(out, " "), nil
}

// Check finds what [Open] refuses of parts that a user may name, before anything is opened: two of
// one name, which wrap ErrSpec, and files and folders that are not there. The name of a model is
// not looked up.
func Check(texts []string) error {
	seen := map[string]bool{}
	for _, text := range texts {
		s, err := Parse(text)
		if err != nil {
			return err
		}
		if seen[s.Name()] {
			return fmt.Errorf("%w: %s stands twice; add the weights", ErrSpec, s.Name())
		}
		seen[s.Name()] = true
		if s.Path == "" || s.Kind == "model" {
			continue
		}
		if _, err := os.Stat(s.Path); err != nil {
			return fmt.Errorf("part %s of the energy: %w", s.Name(), err)
		}
	}
	return nil
}

// Files lists the files and folders that parts are made from. Texts that cannot be understood
// are passed over.
func Files(texts []string) []string {
	var out []string
	for _, text := range texts {
		if s, err := Parse(text); err == nil && s.Path != "" {
			out = append(out, s.Path)
		}
	}
	return out
}
