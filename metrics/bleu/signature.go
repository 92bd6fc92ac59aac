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
func (g signature) format(s *settings) string {
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
	parts = append(parts, g.text, "smooth:"+s.smooth.String(), "den:"+string(s.Denominator))
	if s.EffectiveOrder {
		parts = append(parts, "eff:yes")
	}
	if b := s.Bootstrap; b != nil {
		parts = append(parts, fmt.Sprintf("bs:%d", b.Resamples), fmt.Sprintf("rs:%d", b.Seed),
			"ci:"+strconv.FormatFloat(b.Level, 'g', -1, 64))
	}
	return strings.Join(append(parts, fmt.Sprintf("v:%d", version)), "|")
}
