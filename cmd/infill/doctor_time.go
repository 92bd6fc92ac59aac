package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"infill/infill"
	"infill/infill/open"
	"infill/internal/count"
	"infill/mlm"
)

// timedText is what doctor fills to say where time goes.
const timedText = "The [MASK] sat on the [MASK] and [MASK]."

// timing is where the time of filling a text goes, in seconds.
type timing struct {
	Text    string  `json:"text"`
	Opening float64 `json:"opening_seconds"` // of the model
	Filling float64 `json:"filling_seconds"` // search and scores, with their rows
	Rows    int64   `json:"rows"`
	Runtime float64 `json:"rows_seconds"` // in the runtime, of all threads together
	Threads int     `json:"threads"`
}

// timeFill opens the default model as infill fill does and fills a text. The library is loaded.
func timeFill(ctx context.Context, library string) (t *timing, err error) {
	t = &timing{Text: timedText, Threads: min(runtime.GOMAXPROCS(0), mlm.MaxThreads)}
	began := time.Now()
	m, err := open.Model(ctx, "", mlm.Options{Threads: t.Threads, Forward: true, Runtime: library,
		Device: mlm.AutoDevice, Precision: mlm.Auto})
	if err != nil {
		return nil, err
	}
	e := infill.New(m)
	defer func() { err = errors.Join(err, e.Close()) }()
	t.Opening = time.Since(began).Seconds()
	began = time.Now()
	if _, err := e.FillText(ctx, timedText, infill.Options{}); err != nil {
		return nil, err
	}
	t.Filling = time.Since(began).Seconds()
	energies, conditionals, _ := m.Work()
	t.Rows, t.Runtime = energies.Rows+conditionals.Rows, m.Spent().Seconds()
	return t, nil
}

// String is the timing for people.
func (t *timing) String() string {
	all := float64(t.Threads)
	return fmt.Sprintf("%q on %s: opening %.2f s, %d rows %.2f s, search and scores %.2f s", t.Text,
		count.Of(t.Threads, "thread"), t.Opening, t.Rows, t.Runtime/all, t.Filling-t.Runtime/all)
}
