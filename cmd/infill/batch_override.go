package main

import (
	"encoding/json"
	"fmt"
	"math"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/mlm"
	"infill/samplers"
)

// override applies the settings of a JSON line, which have the names of the
// flags with _ for -; fields of other names are not its business. It returns
// the masking for the line, and whether the line has settings. Errors wrap
// jsonl.ErrSetting and name the field.
func (w *batchWriter) override(fields []jsonl.Field, opt *infill.Options) (masking *infill.Masking, own bool, err error) {
	masking = w.masking
	var masks int
	sampler, params := "", map[string]string{}
	tok := w.model.Tokenizer()
	for _, f := range fields {
		switch f.Name {
		case "steps":
			if opt.Steps, err = wholeField(f, 0, 1_000_000); opt.Steps == 0 {
				opt.Steps = -1
			}
		case "chains":
			opt.Chains, err = wholeField(f, 1, 10_000)
		case "top":
			opt.Top, err = wholeField(f, 1, 10_000)
		case "min_distance":
			opt.MinDistance, err = wholeField(f, 0, 100)
		case "seed":
			if json.Unmarshal(f.Value, &opt.Seed) != nil {
				err = badField(f, "a whole number from 0 to 2^64-1")
			}
		case "temperature":
			opt.Temperature, err = numberField(f, math.MaxFloat64)
		case "mask_rate":
			masks++
			masking = &infill.Masking{}
			masking.Rate, err = numberField(f, 1)
		case "mask_words":
			masks++
			masking = &infill.Masking{}
			masking.Words, err = wholeField(f, 1, 1000)
		case "no_repeat":
			if json.Unmarshal(f.Value, &opt.NoRepeat) != nil {
				err = badField(f, "true or false")
			}
		case "vocab":
			err = wordField(f, map[string]func(){"all": func() { opt.Vocab = infill.VocabAll }, "whole-words": func() { opt.Vocab = infill.VocabWholeWords }})
		case "gradient":
			err = wordField(f, map[string]func(){"full": func() { opt.Gradient = mlm.Full }, "forward": func() { opt.Gradient = mlm.Forward }})
		case "case":
			err = wordField(f, map[string]func(){"auto": func() { opt.Case = infill.CaseAuto }, "model": func() { opt.Case = infill.CaseModel }})
		case "long":
			err = wordField(f, map[string]func(){"window": func() { opt.Long = infill.LongWindow }, "error": func() { opt.Long = infill.LongError }})
		case "select":
			err = wordField(f, map[string]func(){"likelihood": func() { opt.Select = infill.SelectLikelihood }, "diverse": func() { opt.Select = infill.SelectDiverse }})
		case "ban":
			opt.Ban, err = listField(f, func(words []string) (*infill.WordList, error) { return banList(tok, words) })
		case "allow":
			opt.Allow, err = listField(f, func(words []string) (*infill.WordList, error) { return infill.NewWordList(tok, words) })
		case "sampler":
			if json.Unmarshal(f.Value, &sampler) != nil || sampler == "" {
				err = badField(f, "the name of a sampler")
			}
		case "step_size", "balance":
			err = paramField(f, map[string]string{"step_size": "step-size", "balance": "balance"}[f.Name], params)
		case "params":
			var all map[string]json.RawMessage
			if json.Unmarshal(f.Value, &all) != nil {
				err = badField(f, "an object of the sampler's parameters")
			}
			for n, v := range all {
				if perr := paramField(jsonl.Field{Name: "params", Value: v}, n, params); perr != nil {
					err = perr
				}
			}
		default:
			continue
		}
		if err != nil {
			return nil, true, err
		}
		own = true
	}
	switch {
	case masks > 1:
		return nil, true, fmt.Errorf("%w: mask_rate and mask_words; give one of them", jsonl.ErrSetting)
	case opt.MinDistance > 0 && masking == nil:
		return nil, true, fmt.Errorf("%w: min_distance goes with mask_rate or mask_words", jsonl.ErrSetting)
	}
	if sampler == "" && len(params) > 0 {
		sampler = w.sampler
	}
	if sampler != "" {
		s, err := samplers.New(sampler, params)
		if err != nil {
			return nil, true, fmt.Errorf("%w: %w", jsonl.ErrSetting, err)
		}
		opt.Sampler = s
	}
	return masking, own, nil
}

func badField(f jsonl.Field, want string) error {
	return fmt.Errorf("%w: %q is %.60s, want %s", jsonl.ErrSetting, f.Name, f.Value, want)
}

func wholeField(f jsonl.Field, lo, hi int) (int, error) {
	var v int
	if json.Unmarshal(f.Value, &v) != nil || v < lo || v > hi || string(f.Value) == "null" {
		return 0, badField(f, fmt.Sprintf("a whole number from %d to %d", lo, hi))
	}
	return v, nil
}

func numberField(f jsonl.Field, most float64) (float64, error) {
	var v float64
	if json.Unmarshal(f.Value, &v) != nil || !(v > 0 && v <= most) {
		want := "a number above 0"
		if most < math.MaxFloat64 {
			want += fmt.Sprintf(", at most %g", most)
		}
		return 0, badField(f, want)
	}
	return v, nil
}

func wordField(f jsonl.Field, words map[string]func()) error {
	var v string
	if json.Unmarshal(f.Value, &v) == nil {
		if set, ok := words[v]; ok {
			set()
			return nil
		}
	}
	want := ""
	for _, w := range sortedKeys(words) {
		if want != "" {
			want += " or "
		}
		want += w
	}
	return badField(f, want)
}

func listField(f jsonl.Field, make func([]string) (*infill.WordList, error)) (*infill.WordList, error) {
	var words []string
	if json.Unmarshal(f.Value, &words) != nil {
		return nil, badField(f, "a list of words")
	}
	l, err := make(words)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", jsonl.ErrSetting, f.Name, err)
	}
	return l, nil
}

// paramField takes a parameter of a sampler, a number or a word.
func paramField(f jsonl.Field, name string, params map[string]string) error {
	var s string
	if json.Unmarshal(f.Value, &s) == nil {
		params[name] = s
		return nil
	}
	var n json.Number
	if json.Unmarshal(f.Value, &n) != nil || n == "" {
		return badField(f, "a number or a word")
	}
	params[name] = n.String()
	return nil
}
