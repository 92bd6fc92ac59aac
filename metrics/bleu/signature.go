package bleu

import (
	"fmt"
	"strconv"
	"strings"
)

// version is the v of the signature. It rises when a definition changes, so that
// numbers under the same signature stay comparable.
const version = 1

// signature are the parts that the settings do not know.
type signature struct {
	name, agg, refs, refClean, text string
	n                               int
}

// format writes the signature in the order of its shape:
//
//	selfBLEU|n:4|agg:corpus|N:100|tok:ws|case:lc|smooth:none|den:nltk|v:1
func (g signature) format(s *settings, iv *Bounds) string {
	parts := []string{g.name, fmt.Sprintf("n:%d", s.Order), "agg:" + g.agg, fmt.Sprintf("N:%d", g.n)}
	if !s.uniform {
		w := make([]string, len(s.weights))
		for i, x := range s.weights {
			w[i] = strconv.FormatFloat(x, 'g', -1, 64)
		}
		parts = append(parts, "w:"+strings.Join(w, ","))
	}
	if g.refs != "" {
		parts = append(parts, "refs:"+g.refs)
	}
	if g.refClean != "" && g.refClean != "none" {
		parts = append(parts, "refclean:"+g.refClean)
	}
	parts = append(parts, g.text, "smooth:"+s.smooth.String(), "den:"+s.Denominator)
	if s.EffectiveOrder {
		parts = append(parts, "eff:yes")
	}
	if iv != nil {
		if iv.Blocks > 0 {
			parts = append(parts, fmt.Sprintf("jk:%d", iv.Blocks))
		} else {
			parts = append(parts, fmt.Sprintf("bs:%d", iv.Resamples), fmt.Sprintf("rs:%d", iv.Seed))
		}
		if iv.Units != g.n {
			parts = append(parts, fmt.Sprintf("units:%d", iv.Units))
		}
		parts = append(parts, "ci:"+strconv.FormatFloat(iv.Level, 'g', -1, 64))
	}
	return strings.Join(append(parts, fmt.Sprintf("v:%d", version)), "|")
}
