package measure

import (
	"fmt"
	"strings"

	"infill/metrics/bleu"
	"infill/metrics/ngram"
)

// keySelfBLEU is the key of self-BLEU.
const keySelfBLEU = "self_bleu"

// selfBLEU is the BLEU of every sentence against the others.
func selfBLEU(m *measured) ([]Metric, error) {
	x := newMetric(keySelfBLEU, "self-BLEU", "", 2, -1)
	r, err := bleu.Self(m.set.corpus, m.bleuOf(m.set))
	x.bleu(r, err)
	if m.run != nil {
		failed := 0
		for _, s := range m.run.Sentences {
			if s.Err != "" {
				failed++
			}
		}
		if failed > 0 {
			x.Warnings = append(x.Warnings,
				fmt.Sprintf("%d of %d sentences could not be filled", failed, len(m.run.Sentences)))
		}
	}
	return one(x)
}

// bleuOfEach is the BLEU against every reference file, and against all of them
// together where there are several; or, paired, line by line.
func bleuOfEach(m *measured) ([]Metric, error) {
	if m.eval.Read.Paired {
		x := newMetric("bleu", "BLEU", "", 2, +1)
		res, err := bleu.Paired(m.set.corpus, m.refs.lines, m.bleuOf(m.set).Options)
		if err != nil {
			return nil, err
		}
		x.bleu(res, nil)
		return one(x)
	}
	var out []Metric
	add := func(key, name string, index *ngram.Index) {
		x := m.bleuAgainst(m.set, key, "vs "+name, index)
		x.Group = "BLEU"
		out = append(out, x)
	}
	for i, index := range m.refs.each {
		name := m.refs.info[i].Name
		add("bleu."+name, name, index)
	}
	if len(m.refs.each) > 1 {
		add("bleu.all", "all", m.refs.all)
	}
	return out, nil
}

// bleuOfAll is the BLEU against all references together; no column without any.
func bleuOfAll(m *measured) ([]Metric, error) {
	if m.refs.all == nil {
		return nil, nil
	}
	return one(m.bleuAgainst(m.set, "bleu", "corpus BLEU", m.refs.all))
}

// bleuAgainst is a column of corpus BLEU.
func (p *plan) bleuAgainst(s *set, key, label string, x *ngram.Index) Metric {
	m := newMetric(key, label, "", 2, +1)
	r, err := bleu.Corpus(s.corpus, x, p.bleuOf(s).Options)
	m.bleu(r, err)
	return m
}

// bleuOf are the options of BLEU for a set: the fillings of one record are a group of self-BLEU,
// and a unit of intervals.
func (p *plan) bleuOf(s *set) bleu.SelfOptions {
	o := p.BLEU
	o.Groups = s.groups
	if o.Confidence != nil {
		c := *o.Confidence
		c.Units = s.groups
		o.Confidence = &c
	}
	return o
}

// bleu takes over a result of BLEU, times 100.
func (m *Metric) bleu(r *bleu.Result, err error) {
	if err != nil {
		m.take(0, err)
		return
	}
	m.Value = r.Percent()
	m.Signature = r.Signature
	if iv := r.Interval; iv != nil {
		m.Low, m.High = 100*iv.Low, 100*iv.High
	}
	prec := make([]string, len(r.Precisions))
	for k, q := range r.Precisions {
		prec[k] = fmt.Sprintf("%.2f", 100*q)
	}
	m.Detail = fmt.Sprintf("precisions %s, BP %.4f, hyp_len %d, ref_len %d",
		strings.Join(prec, "/"), r.BP, r.HypLen, r.RefLen)
	m.warn(r.Warnings...)
}
