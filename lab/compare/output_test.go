package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

// marked is a comparison of an exact sampler, two that are not, one of them
// weighted, and one that the target does not support.
func marked(t *testing.T) *Result {
	t.Helper()
	p, err := ParseProblem("gaussbern")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Compare(
		context.Background(), p, entries(t, "dmala", "dula", "sgdld", "gibbs"),
		Config{Chains: 3, Steps: 80},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestInexactIsMarked: the samplers that are not exact are marked in every form of
// the comparison, which says what the mark means, and the others are not.
func TestInexactIsMarked(t *testing.T) {
	t.Parallel()
	r := marked(t)
	var table, md, svg bytes.Buffer
	if err := errors.Join(r.WriteTable(&table), r.WriteMarkdown(&md), r.WriteSVG(&svg, true)); err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"table": table.String(), "Markdown": md.String(), "chart": svg.String()} {
		for _, want := range []string{"dula †", "sgdld †", "† not exact"} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s lacks %q:\n%s", form, want, text)
			}
		}
		for _, not := range []string{"dmala †", "gibbs †"} {
			if strings.Contains(text, not) {
				t.Errorf("the %s has %q:\n%s", form, not, text)
			}
		}
	}
	if n := strings.Count(svg.String(), `<circle class="open"`); n != 2*6-3 {
		t.Errorf("%d points are open, want those of two samplers in six panels, but for the "+
			"ESS of weighted states", n)
	}
	r.Rows = r.Rows[:1]
	table.Reset()
	if err := r.WriteTable(&table); err != nil || strings.Contains(table.String(), "†") {
		t.Errorf("%v, a note without a mark:\n%s", err, table.String())
	}
}

// TestJSON: the record has the figures of the table, null where there are none.
func TestJSON(t *testing.T) {
	t.Parallel()
	r := marked(t)
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Target, Truth string
		Chains, Steps int
		BurnIn        int `json:"burn_in"`
		Samplers      []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v:\n%s", err, b.String())
	}
	if got.Target != "gaussbern" || got.Truth != "enumeration" || got.Chains != 3 || got.Steps != 80 ||
		got.BurnIn != 500 ||
		len(got.Samplers) != 4 {
		t.Errorf("%+v", got)
	}
	for i, s := range got.Samplers {
		x := r.Rows[i]
		if s["sampler"] != x.Label || s["exact"] != x.Exact {
			t.Errorf("%v, want %s, exact %v", s, x.Label, x.Exact)
		}
		if x.Skipped != nil {
			if s["skipped"] != x.Skipped.Error() || s["error"] != nil || s["seconds"] != nil {
				t.Errorf("%v", s)
			}
			continue
		}
		for key, want := range map[string]float64{
			"error": x.Error, "ess": x.ESS, "ess_per_evaluation": x.PerEval, "ess_per_call": x.PerCall, "calls": float64(x.Calls), "r_hat": x.RHat, "mean_probability": x.MeanProb,
			"jump": x.Jump, "proposed": x.Proposed, "evaluations": float64(x.Evals), "seconds": x.Seconds,
		} {
			f, ok := s[key].(float64)
			if ok == math.IsNaN(want) || ok && f != want {
				t.Errorf("%s: %s is %v, want %g", x.Label, key, s[key], want)
			}
		}
	}
}
