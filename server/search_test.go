package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"infill/infill"
	"infill/server/api"
)

// long is a search that nobody waits for the end of.
const long = `"effort": "thorough", "top": 10000, "most_rows": 10000000`

const longText = `"the [MASK] [MASK] [MASK] sleeps in the [MASK] [MASK] ."`

// foundIn is what a list of fillings says.
func foundIn(t *testing.T, raw json.RawMessage) (rows int, list []foundFilling) {
	t.Helper()
	var e foundEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return e.Rows, e.Fillings
}

// A search tells of the best fillings as they are found: the list grows and gets better, and the
// last one is the list of the record, which is the same as for a plain request.
func TestSearchStream(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	const body = `{"text": "the [MASK] sleeps in the [MASK] [MASK] .", "seed": 1, "top": 8`
	plain := ask(t, "POST", h.URL+"/v1/fill", body+"}")
	for _, form := range []string{api.EventStream, api.JSONLines} {
		a := ask(t, "POST", h.URL+"/v1/fill", body+`, "stream": true}`, "Accept: "+form)
		list := readEvents(t, a)
		n := len(list)
		if a.code != http.StatusOK || n < 3 || list[0].Event != "start" || list[n-1].Event != "done" {
			t.Fatalf("%s: %d, %d events: %s", form, a.code, n, a.body)
		}
		var first startEvent
		if err := json.Unmarshal(list[0].Data, &first); err != nil || first.Blanks != 3 ||
			first.Method != "search" || first.Chains != 0 || first.Steps != nil ||
			len(first.Alone) != 3 || len(first.Alone[0]) != aloneWords {
			t.Errorf("start %s: %v", list[0].Data, err)
		}
		var done doneJSON
		if err := json.Unmarshal(list[n-1].Data, &done); err != nil || done.Marginals != nil {
			t.Errorf("done %s: %v", list[n-1].Data, err)
		}
		if got := append(slices.Clone(done.Record), '\n'); !bytes.Equal(got, plain.body) {
			t.Errorf("record\n%swant\n%s", got, plain.body)
		}
		rows := 0
		var last []foundFilling
		for _, e := range list[1 : n-1] {
			at, found := foundIn(t, e.Data)
			if e.Event != "found" || at < rows || len(found) < len(last) || len(found) > 8 {
				t.Fatalf("%s after %d rows and %d fillings: %s", e.Event, rows, len(last), e.Data)
			}
			for i := range last {
				if found[i].Score < last[i].Score {
					t.Errorf("place %d was better before: %v", i+1, last[i])
				}
			}
			rows, last = at, found
		}
		_, want := foundIn(t, done.Record)
		if gotJSON, wantJSON := asJSON(t, last), asJSON(t, want); gotJSON != wantJSON {
			t.Errorf("last list\n%swant\n%s", gotJSON, wantJSON)
		}
	}
}

type doneJSON struct{ Record, Marginals json.RawMessage }

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What is computed has nothing to tell before its end.
func TestExactStream(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	const body = `{"text": "the [MASK] sleeps .", "seed": 1`
	plain := ask(t, "POST", h.URL+"/v1/fill", body+"}")
	list := readEvents(t, ask(t, "POST", h.URL+"/v1/fill", body+`, "stream": true}`))
	var first startEvent
	var done doneJSON
	if len(list) != 2 || list[0].Event != "start" || list[1].Event != "done" ||
		json.Unmarshal(list[0].Data, &first) != nil || json.Unmarshal(list[1].Data, &done) != nil {
		t.Fatalf("%v", list)
	}
	if got := append(slices.Clone(done.Record), '\n'); first.Method != "exact" ||
		done.Marginals != nil || !bytes.Equal(got, plain.body) {
		t.Errorf("%s %s\nwant %s", list[0].Data, list[1].Data, plain.body)
	}
}

// A client that reads slowly holds no search up: it gets fewer lists, the last one among them.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &slow{ResponseRecorder: httptest.NewRecorder()}
		e := newEvents(w, api.JSONLines)
		if err := e.begin(&startEvent{}, func() {}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for i := range 500 {
			e.frame(&foundEvent{Rows: i + 1})
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("500 lists took %v", took)
		}
		e.finish()
		list := readEvents(t, answered{header: w.Header(), body: w.Body.Bytes()})
		if rows, _ := foundIn(t, list[len(list)-1].Data); rows != 500 || len(list) > 5 {
			t.Errorf("%d events, the last of %d rows", len(list), rows)
		}
	})
}

// A slow is a writer that takes a second.
type slow struct{ *httptest.ResponseRecorder }

func (s *slow) Write(b []byte) (int, error) {
	time.Sleep(time.Second)
	return s.ResponseRecorder.Write(b)
}

// A client that goes away ends its search, whether it watches or waits.
func TestSearchGone(t *testing.T) {
	t.Parallel()
	s, h := start(t, Options{Work: infill.Ranges.Rows.Max})
	for _, more := range []string{"", `, "stream": true`} {
		ctx, gone := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", h.URL+"/v1/fill",
			strings.NewReader(`{"text": `+longText+", "+long+more+"}"))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if res, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		}()
		before := s.counts.searchRows.Load()
		patient(t, "it searches", func() bool { return s.counts.searchRows.Load() > before })
		gone()
		patient(t, "the place is free", func() bool { return len(s.queue.working) == 0 })
	}
	patient(t, "the clients are counted", func() bool {
		return metric(t, h.URL, `infill_requests_total{route="POST /v1/fill",code="499"}`) == "2"
	})
	if n := metric(t, h.URL, "infill_search_rows_total"); n == "" || n == "0" {
		t.Errorf("%q rows are counted", n)
	}
}

// A search that takes too long ends with the best fillings up to then, marked as unfinished, however
// it was asked for.
func TestSearchTimeLimit(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{Limit: 500 * time.Millisecond, Work: infill.Ranges.Rows.Max})
	type unfinished struct {
		Method, Ended string
		Rows          int `json:"model_rows"`
		Fillings      []foundFilling
		Error         struct{ Code string }
	}
	check := func(what string, raw json.RawMessage) (u unfinished) {
		t.Helper()
		if err := json.Unmarshal(raw, &u); err != nil || u.Method != "search" || u.Ended != "stopped" ||
			u.Rows == 0 || len(u.Fillings) == 0 {
			t.Errorf("%s: %v, %s %s %d %d: %.300s", what, err, u.Method,
				u.Ended, u.Rows, len(u.Fillings), raw)
		}
		return u
	}
	a := ask(t, "POST", h.URL+"/v1/fill", `{"text": `+longText+", "+long+"}")
	f := a.failure(t)
	u := check("fill", json.RawMessage(f.Record))
	if a.code != http.StatusGatewayTimeout || f.Type != "timeout" ||
		!strings.HasPrefix(f.Error, "the time was over after ") ||
		!strings.HasSuffix(f.Error, " of the model") || u.Error.Code != "" {
		t.Errorf("%d %s %s", a.code, f.Type, f.Error)
	}
	list := readEvents(t, ask(t, "POST", h.URL+"/v1/fill", `{"text": `+longText+", "+long+`, "stream": true}`))
	last := list[len(list)-1]
	var said struct {
		Record json.RawMessage
		Type   string `json:"error_type"`
	}
	if err := json.Unmarshal(last.Data, &said); err != nil || last.Event != "error" || said.Type != "timeout" {
		t.Errorf("stream: %s %.300s: %v", last.Event, last.Data, err)
	}
	check("stream", said.Record)
	if rows, found := foundIn(t, list[len(list)-2].Data); rows == 0 || len(found) == 0 ||
		len(found) > foundFillings {
		t.Errorf("stream: the last list has %d fillings after %d rows", len(found), rows)
	}
	a = ask(t, "POST", h.URL+"/", `{"inputs": `+longText+`, "parameters": {"joint": true, "top_k": 10000, `+
		`"effort": "thorough", "most_rows": 10000000}}`)
	if f = a.failure(t); a.code != http.StatusGatewayTimeout || f.Type != "timeout" {
		t.Errorf("joint: %d %.300s", a.code, a.body)
	}
	check("joint", json.RawMessage(f.Record))
	a = ask(t, "POST", h.URL+"/v1/batch", `{"text": `+longText+", "+long+`, "id": "x"}`)
	u = check("batch", json.RawMessage(a.body))
	if u.Error.Code != "timeout" || !bytes.HasPrefix(a.body, []byte(`{"id":"x","line":1,`)) {
		t.Errorf("batch: %q %.100s", u.Error.Code, a.body)
	}
}

// A text that is filled in groups is streamed as any other: events say how many of its blanks are
// filled, and the record is that of a plain request.
func TestLongStream(t *testing.T) {
	t.Parallel()
	_, h := start(t, Options{})
	body := `{"text": "` + strings.Repeat("the [MASK] sleeps . ", 40) + `", "most_rows": 40`
	plain := ask(t, "POST", h.URL+"/v1/fill", body+"}")
	a := ask(t, "POST", h.URL+"/v1/fill", body+`, "stream": true}`)
	list := readEvents(t, a)
	n := len(list)
	if plain.code != http.StatusOK || a.code != http.StatusOK || n < 3 || list[n-1].Event != "done" {
		t.Fatalf("%d %s, %d, %d events: %s", plain.code, plain.body, a.code, n, a.body)
	}
	var first startEvent
	if err := json.Unmarshal(list[0].Data, &first); err != nil || first.Blanks != 40 ||
		len(first.Alone) != 40 || first.Alone[0] == nil || len(first.Alone[0]) > 0 {
		t.Errorf("%v: %+v", err, first)
	}
	filled := 0
	for _, e := range list[1 : n-1] {
		var f foundEvent
		if err := json.Unmarshal(e.Data, &f); err != nil || f.Blanks != 40 || f.Filled < filled {
			t.Errorf("%v after %d: %s", err, filled, e.Data)
		}
		filled = f.Filled
	}
	if filled == 0 {
		t.Error("no event says that blanks are filled")
	}
	var done struct{ Record json.RawMessage }
	if err := json.Unmarshal(list[n-1].Data, &done); err != nil ||
		string(done.Record) != strings.TrimSpace(string(plain.body)) {
		t.Errorf("%v: %s\nwant %s", err, done.Record, plain.body)
	}
}
