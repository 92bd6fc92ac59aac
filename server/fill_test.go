package server

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/server/api"
	"infill/server/page"
)

const sentence = `{"text": "the [MASK] sleeps in the [MASK] .", "seed": 1`

// A record is the same as for a batch line of the same fields, settings apart.
func TestFill(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{})
	a := ask(t, "POST", h.URL+"/v1/fill", sentence+`, "id": "x", "steps": 7, "mine": [1, 2], "top": 2}`)
	if a.code != http.StatusOK || a.header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s", a.code, a.body)
	}
	it := &input.Item{Line: 1, ID: json.RawMessage(`"x"`), Text: "the [MASK] sleeps in the [MASK] .",
		Fields: []jsonl.Field{{Name: "seed", Value: json.RawMessage("1")},
			{Name: "steps", Value: json.RawMessage("7")}, {Name: "mine", Value: json.RawMessage("[1,2]")},
			{Name: "top", Value: json.RawMessage("2")}}}
	want, err := s.models[0].filler.Record(t.Context(), it)
	if err != nil {
		t.Fatal(err)
	}
	// A batch file keeps the setting that its record has no member for.
	batchForm := bytes.Replace(want.JSON, []byte(`,"top":2`), nil, 1)
	if !bytes.Equal(bytes.TrimSuffix(a.body, []byte("\n")), batchForm) {
		t.Errorf("answer\n%swant\n%s", a.body, batchForm)
	}
	// A body with a byte order mark gives the same record.
	m := ask(t, "POST", h.URL+"/v1/fill", "\ufeff"+sentence+`, "id": "x", "steps": 7, "mine": [1, 2], "top": 2}`)
	if !bytes.Equal(m.body, a.body) {
		t.Errorf("with a byte order mark\n%s", m.body)
	}
	// Spans beside a text of their own are of that text.
	const nested = `{"text":"the [MASK] .","context":{"text":"Bob Smith won the race today",` +
		`"spans":[{"start":19,"end":23,"label":"P"}]}}`
	one, many := ask(t, "POST", h.URL+"/v1/fill", nested), ask(t, "POST", h.URL+"/v1/batch", nested)
	if one.code != http.StatusOK || !bytes.Equal(one.body, many.body) {
		t.Errorf("%d %s\nand in a batch\n%s", one.code, one.body, many.body)
	}
	// Without a seed another one is chosen each time.
	seeds := map[uint64]bool{}
	for range 3 {
		read, err := jsonl.Decoder{}.Record(1, ask(t, "POST", h.URL+"/v1/fill",
			`{"text": "the [MASK] .", "seed": null, "steps": 1, "chains": 1}`).body)
		rec, ok := read.(*jsonl.Filled)
		if err != nil || !ok || rec.Seed == nil {
			t.Fatalf("%+v: %v", read, err)
		}
		seeds[*rec.Seed] = true
	}
	if len(seeds) < 2 {
		t.Errorf("seeds %v", seeds)
	}
}

// Events of both forms: the states of the last step and of what the pace lets through before it, in
// order, with the record of a plain request.
func TestStream(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{})
	body := sentence + `, "steps": 10, "chains": 3`
	plain := ask(t, "POST", h.URL+"/v1/fill", body+"}")
	states := everyStep(t, s, 10, 3)
	for _, form := range []string{api.EventStream, api.JSONLines} {
		a := ask(t, "POST", h.URL+"/v1/fill", body+`, "stream": true}`, "Accept: "+form)
		if a.code != http.StatusOK || a.header.Get("Content-Type") != form {
			t.Fatalf("%s: %d %v %s", form, a.code, a.header, a.body)
		}
		list := readEvents(t, a)
		n := len(list)
		var begin startEvent
		var done struct{ Record json.RawMessage }
		if n < 3 || list[0].Event != "start" || list[n-1].Event != "done" ||
			json.Unmarshal(list[0].Data, &begin) != nil || json.Unmarshal(list[n-1].Data, &done) != nil {
			t.Fatalf("%s: %d events: %s", form, n, a.body)
		}
		if begin.Blanks != 2 || begin.Method != "sample" || begin.Chains != 3 || *begin.Steps != 10 || begin.Model != "tiny" ||
			len(begin.Alone) != 2 || len(begin.Alone[0]) != aloneWords {
			t.Errorf("start %+v", begin)
		}
		if got := append(slices.Clone(done.Record), '\n'); !bytes.Equal(got, plain.body) {
			t.Errorf("record\n%swant\n%s", got, plain.body)
		}
		last := -1
		for _, e := range list[1 : n-1] {
			var step stepEvent
			if e.Event != "step" || json.Unmarshal(e.Data, &step) != nil || step.Step <= last {
				t.Fatalf("after step %d: %s %s", last, e.Event, e.Data)
			}
			for k, moved := range step.Moved {
				want := false
				for _, st := range states[last+1 : step.Step+1] {
					want = want || st.Moved[k]
				}
				if moved != want {
					t.Errorf("steps %d to %d, chain %d: moved %v", last+1, step.Step, k, moved)
				}
			}
			last = step.Step
			for k, words := range step.Tokens {
				if !slices.Equal(words, states[step.Step].Tokens[k]) ||
					*step.Energy[k] != *states[step.Step].Energy[k] {
					t.Errorf("step %d, chain %d: %v of %v", step.Step, k, words, *step.Energy[k])
				}
			}
			if len(step.Moved) != 3 || step.Accepted < 0 || step.Accepted > 1 {
				t.Errorf("step %+v", step)
			}
		}
		if last != 10 {
			t.Errorf("the last step sent is %d", last)
		}
	}
}

// everyStep is what the engine does, step by step.
func everyStep(t *testing.T, s *Server, steps, chains int) (all []stepEvent) {
	t.Helper()
	m := s.models[0]
	tp, err := text.Parse(m.model.Tokenizer(), "the [MASK] sleeps in the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	_, err = infill.New(m.model).Fill(t.Context(), tp,
		infill.Options{Seed: 1, ID: "1", Sampling: infill.SamplingOptions{Steps: steps,
			Chains: chains}, Watch: infill.WatchOptions{Trace: func(st infill.Step) error {
			e := stepEvent{Step: st.Step, Moved: make([]bool, chains)}
			copy(e.Moved, st.Accepted)
			for k, u := range st.Energy {
				var words []string
				for _, id := range st.Tokens(k) { // every blank has one token
					words = append(words, m.model.Tokenizer().Token(id))
				}
				e.Energy, e.Tokens = append(e.Energy, &u), append(e.Tokens, words)
			}
			all = append(all, e)
			return nil
		}}})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What each mask says alone is a distribution: the numbers fall and agree with the model.
func TestAlone(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	tp, err := text.Parse(m.Tokenizer(), "the [MASK] sleeps in the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	_, all, err := independent(t.Context(), m, tp)
	if err != nil {
		t.Fatal(err)
	}
	for b := range all {
		sum := 0.0
		for _, l := range all[b] {
			sum += math.Exp(float64(l))
		}
		if math.Abs(sum-1) > 1e-4 {
			t.Errorf("blank %d: the probabilities sum to %v", b, sum)
		}
		ids := likeliest(all[b], nil, 5)
		sorted := make([]int32, len(all[b]))
		for id := range sorted {
			sorted[id] = int32(id)
		}
		slices.SortStableFunc(sorted, func(x, y int32) int {
			switch {
			case all[b][x] > all[b][y]:
				return -1
			case all[b][x] < all[b][y]:
				return 1
			}
			return 0
		})
		if !slices.Equal(ids, sorted[:5]) {
			t.Errorf("blank %d: %v, want %v", b, ids, sorted[:5])
		}
	}
}

// A step that is left out hands on what was accepted in it.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	e := newEvents(nil, api.JSONLines)
	e.frame(&stepEvent{Step: 1, Moved: []bool{true, false, false}, accepted: 1, proposed: 3})
	e.frame(&stepEvent{Step: 2, Moved: []bool{false, false, true}, accepted: 1, proposed: 3})
	e.frame(&stepEvent{Step: 3, Moved: []bool{false, false, true}, accepted: 1, proposed: 3})
	if f := (<-e.next).(*stepEvent); f.Step != 3 || !slices.Equal(f.Moved, []bool{true, false, true}) ||
		math.Abs(f.Accepted-1./3) > 1e-12 || f.proposed != 9 {
		t.Errorf("%+v", f)
	}
}

// A stream is at most twenty steps a second, however fast they are made, and what was accepted in
// steps left out is not lost. Its last step is sent.
func TestFrames(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{time.Millisecond, 7 * time.Millisecond, 80 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			const steps = 500
			w := &dated{ResponseRecorder: httptest.NewRecorder()}
			e := newEvents(w, api.JSONLines)
			if err := e.begin(&startEvent{}, func() {}); err != nil {
				t.Fatal(err)
			}
			accepted := 0
			for i := range steps {
				f := &stepEvent{Step: i + 1, Moved: []bool{i%5 == 0}, proposed: 3, accepted: i % 3}
				accepted += f.accepted
				e.frame(f)
				time.Sleep(every)
			}
			e.finish()
			var sent []stepEvent
			for _, v := range readEvents(t, answered{header: w.Header(), body: w.Body.Bytes()})[1:] {
				var f stepEvent
				if err := json.Unmarshal(v.Data, &f); err != nil {
					t.Fatal(err)
				}
				sent = append(sent, f)
			}
			want := steps
			if every < frameTime {
				want = int(steps * every / frameTime)
			}
			if n := len(sent); n < want || n > want+2 || sent[n-1].Step != steps {
				t.Fatalf("a step each %v: %d steps were sent, want %d", every, n, want)
			}
			last, got := 0, 0.0
			for i, f := range sent {
				got += f.Accepted * float64(3*(f.Step-last))
				if gap := w.at[i+1].Sub(w.at[i]); i > 0 && i < len(sent)-1 && gap < frameTime {
					t.Errorf("a step each %v: step %d came %v after the one before", every, f.Step, gap)
				}
				moved := false
				for step := last; step < f.Step; step++ {
					moved = moved || step%5 == 0
				}
				if f.Moved[0] != moved {
					t.Errorf("steps %d to %d: moved %v", last+1, f.Step, f.Moved[0])
				}
				last = f.Step
			}
			if math.Abs(got-float64(accepted)) > 1e-6 {
				t.Errorf("a step each %v: %v moves were sent, %d accepted", every, got, accepted)
			}
		})
	}
}

// A dated is a writer that knows when it was written to.
type dated struct {
	*httptest.ResponseRecorder
	at []time.Time
}

func (d *dated) Write(b []byte) (int, error) {
	d.at = append(d.at, time.Now())
	return d.ResponseRecorder.Write(b)
}

// The page and its files have strict headers, and no script of its own stands in the page.
func TestPage(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	for _, path := range append(page.Names(), "", "docs") {
		a := ask(t, "GET", h.URL+"/"+path, "")
		if a.code != http.StatusOK || a.header.Get("Content-Type") == "" ||
			!strings.HasPrefix(a.header.Get("Content-Security-Policy"), "default-src 'self';") ||
			a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("/%s: %d %v", path, a.code, a.header)
		}
		if strings.HasSuffix(path, ".html") && (bytes.Contains(a.body, []byte("<script>")) ||
			bytes.Contains(a.body, []byte("://"))) {
			t.Errorf("%s has a script inside, or an address outside", path)
		}
	}
}
