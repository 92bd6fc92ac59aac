package infill

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"infill/infill/text"
	"infill/internal/testmode"
	"infill/mlm"
)

// longText is a text of n sentences, some of which have a blank.
func longText(n, every int) string {
	who := []string{"The farmer", "My sister", "An old man", "The teacher", "Her brother"}
	did := []string{"walked to", "looked at", "came back from", "went into", "lived near"}
	where := []string{"market", "river", "station", "church", "school", "garden", "hospital"}
	var out []string
	for i := range n {
		w := where[i%len(where)]
		if i%every == every-1 {
			w = "[MASK]"
		}
		out = append(out, fmt.Sprintf("%s %s the %s and thought of the days of long ago.",
			who[i%len(who)], did[i/2%len(did)], w))
	}
	return strings.Join(out, " ")
}

// A text of 1,500 words has its blanks filled in groups that the model sees at once. Each group has
// the words that it has where a person gives the model the text before it filled, from the first
// sentence that fits.
func TestFillInGroups(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	s := longText(104, 2)
	s = strings.Replace(s, "[MASK]", "fair", 12) // 40 are left, from the middle of a window on
	opt := Options{Search: SearchOptions{Rows: 15}, Results: ResultOptions{Top: 3}}
	r, err := e.FillText(t.Context(), s, opt)
	if err != nil {
		t.Fatal(err)
	}
	tm, err := text.Parse(e.Tokenizer(), s)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tm.Blanks); n != 40 || len(strings.Fields(s)) < 1300 {
		t.Fatalf("%d blanks in %d words", n, len(strings.Fields(s)))
	}
	longest := slices.Repeat([]int{1}, 40)
	parts, limit := tm.Parts(e.model.MaxLength(), longest), e.model.MaxLength()
	best, last, sum := &r.Fillings[0], 0, 0.0
	rows := 0
	for i, p := range parts {
		for _, cut := range []int{p.Start, p.End, p.Sight} {
			if b := s[:cut]; cut > 0 && cut < len(s) && !strings.HasSuffix(b, ". ") {
				t.Errorf("group %d is cut behind %q", i+1, b[len(b)-20:])
			}
		}
		if p.First != last || p.Last <= p.First || r.Groups[i] != p.Last-p.First {
			t.Fatalf("group %d has blanks %d to %d, the result says %v", i+1, p.First, p.Last, r.Groups)
		}
		last = p.Last
		own, err := tm.PartOf(p, wordsIn(best)[:p.First])
		if err != nil {
			t.Fatal(err)
		}
		if before := bestBefore(tm, best, p); !strings.HasPrefix(own.Text, before+s[p.Start:p.Start+5]) {
			t.Errorf("group %d has %.300q before it, want %q", i+1, own.Text, before)
		}
		if len(own.IDs) > limit || i > 0 && p.Start-p.Sight < 200 {
			t.Errorf("group %d has %d pieces, %d bytes of them before it", i+1, len(own.IDs),
				p.Start-p.Sight)
		}
		res, err := New(openSmall(t)).FillText(t.Context(), own.Source(), opt)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(res.Fillings[0].Tokens, best.Tokens[p.First:p.Last]) || res.Groups != nil {
			t.Errorf("group %d has %q, filled by itself %q", i+1, best.Tokens[p.First:p.Last],
				res.Fillings[0].Tokens)
		}
		sum += res.Fillings[0].Score
		rows += res.Rows
	}
	if last != 40 || len(parts) < 3 {
		t.Errorf("%d groups with %d blanks", len(parts), last)
	}
	if d := best.Score - sum; d < -1e-3 || d > 1e-3 || r.Rows != rows {
		t.Errorf("score %v of %d rows, the groups have %v of %d", best.Score, r.Rows, sum, rows)
	}
	checkJoined(t, tm, r)
}

// bestBefore is the end of the filled text that a part sees.
func bestBefore(tm *text.Template, best *Filling, p text.Part) string {
	from, to := p.Sight, p.Start
	for i, s := range best.Spans {
		longer := s[1] - s[0] - (tm.Blanks[i].End - tm.Blanks[i].Start)
		if tm.Blanks[i].End <= p.Sight {
			from += longer
		}
		if tm.Blanks[i].End <= p.Start {
			to += longer
		}
	}
	return best.Text[from:to]
}

// checkJoined holds what fillings say of their words against their texts.
func checkJoined(t *testing.T, tm *text.Template, r *Result) {
	t.Helper()
	for n, f := range r.Fillings {
		var b strings.Builder
		last := 0
		for i, bl := range tm.Blanks {
			b.WriteString(tm.Text[last:bl.Start] + f.Text[f.Spans[i][0]:f.Spans[i][1]])
			last = bl.End
			if got := f.Text[f.Spans[i][0]:f.Spans[i][1]]; !strings.EqualFold(got, f.Tokens[i]) {
				t.Errorf("filling %d: %q is at the place of %q", n+1, got, f.Tokens[i])
			}
		}
		if b.WriteString(tm.Text[last:]); b.String() != f.Text {
			t.Errorf("filling %d changes the text beside its blanks", n+1)
		}
		if n > 0 && f.Text == r.Fillings[n-1].Text {
			t.Errorf("fillings %d and %d are the same", n, n+1)
		}
	}
}

// What looks over the whole text is refused where a text is filled in groups, with the remedy, and
// only there.
func TestGroupsRefuse(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	far := "a [MASK] runs . " + strings.Repeat("the big dog saw a small cat . ", 40) + "a [MASK] sleeps ."
	for what, c := range map[string]struct {
		text string
		opt  Options
		want string
	}{
		"tied":      {strings.ReplaceAll(far, "[MASK]", "[MASK:a]"), Options{}, "different names"},
		"marginals": {far, Options{Results: ResultOptions{Marginals: true}}, "leave that out"},
		"chains":    {far, Options{Method: MethodSample}, "leave that out"},
		"repeats":   {far, Options{Words: WordOptions{NoRepeat: text.RepeatText}}, "leave that out"},
		"all":       {far, Options{Results: ResultOptions{All: true}}, "leave that out"},
		"filter": {far, Options{Words: WordOptions{Original: []string{"dog", "cat"},
			Filter: Filter{MaxDrop: new(float64)}}}, "leave that out"},
		"rank": {far, Options{Results: ResultOptions{Rank: []string{"dog"}}}, "leave that out"},
	} {
		_, err := e.FillText(t.Context(), c.text, c.opt)
		var placed *text.Error
		if !errors.As(err, &placed) || !errors.Is(err, mlm.ErrTooLong) ||
			!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "in 2 groups") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := e.FillText(t.Context(), far, Options{RefuseLong: true}); !errors.As(err,
		new(*LengthError)) {
		t.Errorf("%v", err)
	}
	// Edit distances count over the whole text.
	opt := Options{Words: WordOptions{Original: []string{"mouse", "bird"}}}
	opt.Words.Filter.MinEdits = 100
	if _, err := e.FillText(t.Context(), far, opt); !errors.Is(err, ErrFiltered) {
		t.Errorf("%v", err)
	}
	opt.Words.Filter = Filter{MinEdits: 5, MaxEdits: 100}
	r, err := e.FillText(t.Context(), far, opt)
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Replace(strings.Replace(far, "[MASK]", "mouse", 1), "[MASK]", "bird", 1)
	for _, f := range r.Fillings {
		if d := text.EditDistance(f.Text, before, 1000); d != f.Edits || d < 5 || f.Changed != 2 {
			t.Errorf("%d edits of %q, %d of %d words", d, f.Tokens, f.Edits, f.Changed)
		}
	}
	r, err = e.FillText(t.Context(), far, Options{Results: ResultOptions{Top: 2}})
	if err != nil || !slices.Equal(r.Groups, []int{1, 1}) || r.Exact || r.Method != MethodSearch {
		t.Errorf("%+v, %v", r, err)
	}
}

// The work on a long document grows with its length. Twice the words take about twice the rows and
// twice the memory, and not four times.
func TestGroupsGrowWithLength(t *testing.T) {
	e := New(tiny(t)).WithMemo(0)
	took := func(sentences int) (rows, bytes float64) {
		s := strings.Repeat("the big dog saw a small cat near the house . ", sentences)
		m := text.Masking{Rate: .05}
		tm, words, err := m.Template(e.Tokenizer(), s, 1, "a")
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Search: SearchOptions{Rows: 20}, Results: ResultOptions{Top: 2}}
		opt.Words.Original = words
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := e.Fill(context.Background(), tm, opt)
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if len(tm.Blanks) != sentences/2 || len(r.Groups) < sentences/20 {
			t.Fatalf("%d blanks of %d sentences in %d groups", len(tm.Blanks), sentences, len(r.Groups))
		}
		return float64(r.Evaluated), float64(after.TotalAlloc - before.TotalAlloc)
	}
	half := 200
	if testmode.All() {
		half = 500 // twice that are 10,000 words
	}
	took(100) // what is made once
	rows, bytes := took(half)
	moreRows, moreBytes := took(2 * half)
	if q := moreRows / rows; q < 1.7 || q > 2.3 {
		t.Errorf("%v rows, and %v for twice the words", rows, moreRows)
	}
	if q := moreBytes / bytes; q > 2.5 {
		t.Errorf("%.0f bytes, and %.0f for twice the words", bytes, moreBytes)
	}
	t.Logf("%v and %v rows, %.0f and %.0f bytes", rows, moreRows, bytes, moreBytes)
}
