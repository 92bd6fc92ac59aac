package report

import (
	"fmt"

	"infill/metrics/bleu"
	"infill/metrics/ngram"
)

// EvalOptions are the options of [Eval]; each field is one flag of infill eval.
type EvalOptions struct {
	Options
	ReadOptions
	// Paired compares sentence i with line i of every reference file, as for
	// translations, instead of with the whole set. (--paired)
	Paired bool
	// Repetition is the n-gram order of self-repetition; 0 is 4. (--repetition)
	Repetition int
}

// EvalResult is what [Eval] found, one column of metrics per file.
type EvalResult struct {
	Files      []FileInfo  `json:"files"`
	References []Reference `json:"references"`
	Rows       []Row       `json:"rows"`
	// Notes are remarks on the whole comparison, such as unequal numbers of
	// sentences.
	Notes []string `json:"notes,omitempty"`
}

// FileInfo says what a file of generated sentences held.
type FileInfo struct {
	Name     string   `json:"name"`
	Format   string   `json:"format"`
	Seen     int      `json:"sentences_seen"`
	N        int      `json:"n"`
	Blank    int      `json:"blank"`
	Failed   int      `json:"failed"`
	Sampler  string   `json:"sampler,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Eval measures files of generated sentences, plain lines or JSON lines of infill
// fill and batch, alone and against references. A file that cannot be read is an
// error; a number that cannot be computed is absent with a warning.
func Eval(generated, refs []Input, o EvalOptions) (*EvalResult, error) {
	if len(generated) == 0 {
		return nil, fmt.Errorf("%w: no file of generated sentences", ErrOption)
	}
	p, err := o.plan([]int{1, 2, 3, 4})
	if err != nil {
		return nil, err
	}
	if o.Repetition == 0 {
		o.Repetition = 4
	}
	if o.Repetition < 1 || o.Repetition > maxNgram {
		return nil, fmt.Errorf("%w: self-repetition of order %d (want 1 to %d)", ErrOption, o.Repetition, maxNgram)
	}
	o.ReadOptions.Seed = o.Options.Seed
	switch {
	case o.Paired && len(refs) == 0:
		return nil, fmt.Errorf("%w: paired evaluation without a reference file", ErrOption)
	case o.Paired && o.Sample > 0:
		return nil, fmt.Errorf("%w: paired evaluation cannot be sampled", ErrOption)
	case o.Paired && len(o.Exclude) > 0:
		return nil, fmt.Errorf("%w: paired evaluation cannot leave references out", ErrOption)
	}
	var r *references
	if r, err = p.readReferences(refs, o.Paired); err != nil {
		return nil, err
	}
	out := &EvalResult{References: r.info}
	labels := names(generated)
	scored := false
	sets := make([]*set, len(generated))
	sums := make([]Summary, len(generated))
	for i, in := range generated {
		if sets[i], sums[i], err = p.readSet(in, labels[i], r, o.ReadOptions); err != nil {
			return nil, err
		}
		scored = scored || sets[i].score.n > 0
	}
	for i, s := range sets {
		info := fileInfo(generated[i].Name, sums[i], o)
		if s.known > 0 {
			info.Warnings = append(info.Warnings, fmt.Sprintf("%d of %d sentences that were infilled are among the references too, which flatters every number against them; leave them out with --exclude", s.known, s.gold))
		}
		out.Files = append(out.Files, info)
		row, err := p.evalRow(s, r, o, scored)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", generated[i].Name, err)
		}
		out.Rows = append(out.Rows, row)
	}
	out.Notes = evalNotes(out.Files, o)
	return out, nil
}

func (p *plan) readSet(in Input, label string, r *references, o ReadOptions) (*set, Summary, error) {
	f, err := in.Open()
	if err != nil {
		return nil, Summary{}, err
	}
	defer func() { _ = f.Close() }() // only read
	s := p.newSet(label, r.vocab)
	last := -1 // group whose gold sentence was counted
	sum, err := ReadSentences(f, in.Name, o, func(x Sentence) error {
		if x.Gold != "" && x.Group != last {
			last = x.Group
			s.gold++
			if r.has(x.Gold) {
				s.known++
			}
		}
		return s.add(x)
	})
	return s, sum, err
}

func fileInfo(name string, s Summary, o EvalOptions) FileInfo {
	f := FileInfo{
		Name: name, Format: s.Format, Seen: s.Sentences, N: s.Kept, Blank: s.Blank, Failed: s.Failed, Sampler: s.Sampler,
	}
	if s.Blank > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d of %d sentences are blank; they count as empty generations", s.Blank, s.Sentences))
	}
	if s.Failed > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d of %d records hold an error instead of fillings and are left out", s.Failed, s.Records))
	}
	if o.Sample > 0 && s.Kept < o.Sample {
		f.Warnings = append(f.Warnings, fmt.Sprintf("a sample of %d was asked for, there are only %d sentences", o.Sample, s.Kept))
	}
	return f
}

// evalRow computes the metrics of one file. Every row has the same columns.
func (p *plan) evalRow(s *set, r *references, o EvalOptions, scored bool) (Row, error) {
	row := Row{Name: s.name}
	n := s.corpus.Len()
	text := p.generated.Signature()
	add := func(m Metric) { row.Metrics = append(row.Metrics, m) }

	m := newMetric("n", "sentences")
	m.Value, m.Decimals = float64(n), 0
	add(m)
	add(p.selfBLEU(s))
	unique, counts := p.unique(s, r)
	for _, m := range unique {
		add(m)
	}
	switch {
	case o.Paired:
		m := newMetric("bleu", "BLEU")
		m.Better = +1
		res, err := bleu.Paired(s.corpus, r.lines, p.bleu)
		if err != nil {
			return row, err
		}
		m.bleu(res, nil)
		add(m)
	default:
		for i, x := range r.each {
			m := p.bleuAgainst(s, "bleu."+r.info[i].Name, "vs "+r.info[i].Name, x)
			m.Group = "BLEU"
			add(m)
		}
		if len(r.each) > 1 {
			m := p.bleuAgainst(s, "bleu.all", "vs all", r.all)
			m.Group = "BLEU"
			add(m)
		}
	}
	for _, k := range p.Ngrams {
		m := newMetric(fmt.Sprintf("distinct.%d", k), fmt.Sprintf("distinct-%d", k))
		m.Unit, m.Better = "%", +1
		m.Signature = fmt.Sprintf("distinct|n:%d|N:%d|%s|v:1", k, n, text)
		if counts == nil {
			m.Warnings = []string{"no counts"}
		} else if x, err := counts[k-1].DistinctRatio(); err != nil {
			m.fail(err)
		} else {
			m.Value = 100 * x
		}
		add(m)
	}
	m = newMetric("self_repetition", fmt.Sprintf("self-repetition, n=%d", o.Repetition))
	m.Decimals, m.Better = 3, -1
	m.Signature = fmt.Sprintf("selfrep|n:%d|agg:mean-log|N:%d|%s|v:1", o.Repetition, n, text)
	if x, err := ngram.SelfRepetition(s.corpus, o.Repetition); err != nil {
		m.fail(err)
	} else {
		m.Value = x
	}
	add(m)
	m = newMetric("compression_ratio", "compression ratio")
	m.Decimals, m.Better = 3, -1
	m.Signature = fmt.Sprintf("cr|alg:gzip9|join:space|N:%d|v:1", n)
	if x, err := s.gzip.Ratio(); err != nil {
		m.fail(err)
	} else {
		m.Value = x
	}
	add(m)
	m = newMetric("distinct_sentences", "distinct sentences")
	m.Value, m.Decimals, m.Better = float64(len(s.distinct)), 0, +1
	add(m)
	if scored {
		for _, c := range []struct {
			key, label string
			mean       mean
		}{{"score", "mean score", s.score}, {"score_per_token", "mean score per blank", s.perToken}} {
			m := newMetric(c.key, c.label)
			m.Unit, m.Better, m.Decimals = "nats", +1, 3
			switch {
			case c.mean.n == 0:
				m.Warnings = []string{"the file has no such scores"}
			case c.mean.n < n:
				m.Warnings = []string{fmt.Sprintf("only %d of %d sentences have a score", c.mean.n, n)}
				fallthrough
			default:
				m.Value = c.mean.sum / float64(c.mean.n)
				m.Signature = fmt.Sprintf("pll|agg:mean|N:%d|v:1", c.mean.n)
			}
			add(m)
		}
	}
	return row, nil
}

// evalNotes are the remarks on comparability that metrics.md asks for.
func evalNotes(files []FileInfo, o EvalOptions) []string {
	var notes []string
	if o.Sample > 0 {
		notes = append(notes, fmt.Sprintf("each file was sampled to at most %d sentences (uniform, without replacement, seed %d)", o.Sample, o.ReadOptions.Seed))
	}
	lo, hi := files[0].N, files[0].N
	for _, f := range files {
		lo, hi = min(lo, f.N), max(hi, f.N)
	}
	if lo != hi {
		notes = append(notes, fmt.Sprintf("the files have %d to %d sentences; self-BLEU and unique n-grams depend on the number, so compare them at equal N (--sample %d)", lo, hi, lo))
	} else if len(files) > 1 {
		notes = append(notes, fmt.Sprintf("all files are compared at equal N = %d", lo))
	}
	return notes
}
