package efforts

import (
	"context"
	"fmt"
	"math"
	"slices"

	"infill/infill"
	"infill/infill/text"
)

// search fills a text as infill fill does, and says how likely the length of its best filling is.
func (j *judge) search(ctx context.Context, s, effort string) (best, error) {
	opt := infill.Options{Method: infill.MethodSearch}
	at := slices.Index(opt.Search.Effort.Names(), effort)
	if at < 0 {
		return best{}, fmt.Errorf("effort %q: want one of %v", effort, opt.Search.Effort.Names())
	}
	opt.Search.Effort = infill.Effort(at)
	opt.Words.NoRepeat, opt.Results.All = text.RepeatBlanks, true
	r, err := j.e.FillText(ctx, s, opt)
	if err != nil {
		return best{}, err
	}
	f := &r.Fillings[0]
	out := best{Text: f.Text, Score: f.Score, Rows: r.Rows}
	if f.Parts.Length == 0 {
		return out, nil
	}
	logP, most := f.Parts.Length-.75*float64(len(f.IDs)), math.Inf(-1)
	likelier := map[float64]bool{}
	for _, f := range r.Fillings {
		p := f.Parts.Length - .75*float64(len(f.IDs))
		if most = max(most, p); p > logP+1e-6 {
			likelier[math.Round(p*1e4)] = true
		}
	}
	out.Place, out.Share = 1+len(likelier), math.Exp(logP-most)
	return out, nil
}
