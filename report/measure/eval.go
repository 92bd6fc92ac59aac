package measure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"infill/internal/count"
	"infill/metrics/ngram"
	"infill/report/read"
)

// Eval measures files of generated sentences, plain lines or JSON lines of infill
// fill and batch, alone and against references. A file that cannot be read is an
// error; a number that cannot be computed is absent with a warning.
func Eval(generated, refs []read.Input, o EvalOptions) (*EvalResult, error) {
	if len(generated) == 0 {
		return nil, fmt.Errorf("%w: no file of generated sentences", read.ErrOption)
	}
	p, err := o.plan([]int{1, 2, 3, 4})
	if err != nil {
		return nil, err
	}
	o.Repetition = cmp.Or(o.Repetition, 4)
	if err := o.check(len(refs)); err != nil {
		return nil, err
	}
	var r *references
	if r, err = p.readReferences(refs, o.Read.Paired); err != nil {
		return nil, err
	}
	out := &EvalResult{
		Command: o.Command, Version: o.Version, Date: o.Date, Seed: o.Read.Seed,
		Settings: strings.TrimPrefix(o.read()+"; "+p.settings(), "; "), References: r.info,
	}
	labels := names(generated)
	scored := false
	sets := make([]*set, len(generated))
	out.Files = make([]read.File, len(generated))
	for i, in := range generated {
		if sets[i], out.Files[i], err = p.readSet(in, labels[i], r, o); err != nil {
			return nil, err
		}
		scored = scored || sets[i].mean(ofSentence).n > 0
	}
	if out.Judged, err = p.judge(sets); err != nil {
		return nil, err
	}
	like := measured{plan: p, refs: r, eval: &o, scored: scored}
	for i, s := range sets {
		info := &out.Files[i]
		warnOf(info, o)
		if s.known > 0 {
			info.Warnings = append(info.Warnings, fmt.Sprintf(
				"%d of %d sentences that were infilled %s among the references too, "+
					"which flatters every number against them; exclude them from the references",
				s.known, s.gold, either(s.known, "is", "are")))
		}
		m := like
		m.set = s
		row, err := m.row(inEval)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", generated[i].Name, err)
		}
		out.Rows = append(out.Rows, row)
		out.Examples = append(out.Examples, exampleOf(info))
	}
	out.Notes = evalNotes(out.Files, o)
	if err := out.labels(sets, &like); err != nil {
		return nil, err
	}
	if p.BLEU.Confidence != nil && len(sets) > 1 && !o.Read.Paired {
		if err := out.pair(sets, &like); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// check refuses options that do not go together, with a number of references.
func (o *EvalOptions) check(refs int) error {
	reason := ""
	switch {
	case o.Repetition < 1 || o.Repetition > ngram.MaxOrder:
		reason = fmt.Sprintf("self-repetition of order %d (want 1 to %d)", o.Repetition, ngram.MaxOrder)
	case o.Read.Paired && refs == 0:
		reason = "paired evaluation without a reference file"
	case o.Read.Paired && o.Read.Sample > 0:
		reason = "paired evaluation cannot be sampled"
	case o.Read.Paired && len(o.Exclude) > 0:
		reason = "paired evaluation cannot leave references out"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", read.ErrOption, reason)
}

// pair adds the differences of files that have records of the same texts. A text is a unit.
func (out *EvalResult) pair(sets []*set, like *measured) error {
	var texts []string // the units
	known := map[string]bool{}
	groups := make([]map[string][]int, len(sets)) // of a file, by text
	for i, s := range sets {
		groups[i] = map[string][]int{}
		for _, g := range slices.Sorted(maps.Keys(s.sources)) {
			text := s.sources[g].text
			if text == "" {
				continue
			}
			if groups[i][text] = append(groups[i][text], g); !known[text] {
				known[text], texts = true, append(texts, text)
			}
		}
	}
	of := func(row, unit int) []int { return groups[row][texts[unit]] }
	t := &pairable{units: len(texts),
		without: "does not say what its sentences were made from, as records of fillings do",
		has:     func(row, unit int) bool { return len(of(row, unit)) > 0 },
		of: func(plan *plan, row int, units []int) (Row, error) {
			var mine []int
			for _, u := range units {
				mine = append(mine, of(row, u)...)
			}
			m := *like
			m.plan, m.set = plan, sets[row].of(among(mine))
			return m.row(pairedFiles)
		}}
	for _, s := range sets {
		t.names = append(t.names, s.name)
	}
	var notes []string
	var err error
	if out.Differences, notes, err = like.differences(t); err != nil {
		return err
	}
	out.Notes, out.Level = append(out.Notes, notes...), like.level()
	out.compareScores(t, sets, of)
	return nil
}

// compareScores warns of differences between scores that do not compare. of has the groups of a
// row that a unit is made of.
func (out *EvalResult) compareScores(t *pairable, sets []*set, of func(row, unit int) []int) {
	for _, d := range out.Differences {
		row := slices.Index(t.names, d.Name)
		same := true // blanks, so that the scores have the same terms
		for u := range t.units {
			if t.has(0, u) && t.has(row, u) {
				same = same && slices.Equal(sets[0].blanked(of(0, u)), sets[row].blanked(of(row, u)))
			}
		}
		for j := range d.Metrics {
			switch m := &d.Metrics[j]; {
			case !m.OK():
			case isScore(m.Key) && sets[0].scoring != sets[row].scoring:
				m.Warnings = append(m.Warnings, fmt.Sprintf("the scores are %s and %s, which do not compare",
					sets[0].scoring, sets[row].scoring))
			case m.Key == keyScore && !same:
				m.Warnings = append(m.Warnings, "the files have other blanks, so that sums of scores do not "+
					"compare")
			}
		}
	}
}

// readSet reads a file of generated sentences.
func (p *plan) readSet(in read.Input, label string, r *references, o EvalOptions) (
	*set, read.File, error) {
	s := p.newSet(label, r.vocab)
	s.gzip = ngram.NewCompressor()
	if o.BLEU.Confidence != nil {
		s.sources = map[int]origin{}
	}
	last := -1 // group whose gold sentence was counted
	file, err := read.Sentences(in, o.Read, func(x read.Sentence) error {
		if x.Gold != "" && x.Group != last {
			last = x.Group
			s.gold++
			if r.has(x.Gold) {
				s.known++
			}
		}
		return s.add(x)
	})
	s.scoring = file.Scoring
	return s, file, err
}

// warnOf adds to a file what speaks against its numbers.
func warnOf(f *read.File, o EvalOptions) {
	warn := func(format string, args ...any) {
		f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
	}
	for _, p := range f.Probabilities {
		if p.Marginals.Warning != "" {
			warn("probabilities of “%s”: %s", p.Text, p.Marginals.Warning)
		}
	}
	if f.Blank > 0 {
		warn("%d of %d sentences %s", f.Blank, f.Seen, either(f.Blank,
			"is blank; it counts as an empty generation", "are blank; they count as empty generations"))
	}
	if f.Failed > 0 {
		warn("%d of %d records %s", f.Failed, f.Records, either(f.Failed,
			"holds an error instead of fillings and is left out",
			"hold an error instead of fillings and are left out"))
	}
	if o.Read.Sample > 0 && f.N < o.Read.Sample {
		warn("a sample of %d was asked for, there %s", o.Read.Sample, either(f.N, "is only 1 sentence",
			fmt.Sprintf("are only %d sentences", f.N)))
	}
}

// evalNotes are the remarks on comparability that metrics.md asks for.
func evalNotes(files []read.File, o EvalOptions) []string {
	var notes []string
	if o.Read.Sample > 0 {
		notes = append(notes, fmt.Sprintf("each file was sampled to at most %d sentence%s "+
			"(uniform, without replacement, seed %d)", o.Read.Sample, count.S(o.Read.Sample), o.Read.Seed))
	}
	lo, hi := files[0].N, files[0].N
	for _, f := range files {
		lo, hi = min(lo, f.N), max(hi, f.N)
	}
	if lo != hi {
		notes = append(notes, fmt.Sprintf("the files have %d to %d sentences; self-BLEU and unique "+
			"n-grams depend on the number, so compare them at equal N (samples of %d)", lo, hi, lo))
	} else if len(files) > 1 {
		notes = append(notes, fmt.Sprintf("all files are compared at equal N = %d", lo))
	}
	return notes
}
