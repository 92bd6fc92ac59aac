package trigger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
	"infill/lab/internal/domain"
	"infill/mlm"
)

const tinyDir = "../../mlm/testdata/tiny-bert"

func tiny(t testing.TB, threads int) *mlm.Model {
	t.Helper()
	orttest.Load(t)
	m, err := mlm.OpenDir(context.Background(), tinyDir,
		mlm.Options{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// animals are sentences of two labels in the tiny model's words.
func animals() []Example {
	var out []Example
	for _, a := range []string{"the dog runs", "a cat sleeps in the house", "the cow eats", "a bear hides"} {
		out = append(out, Example{Text: a, Label: "animal"}, Example{Text: a + " .", Label: "animal"})
	}
	for _, a := range []string{"she ate the banana", "a green apple", "he gave her the plum", "a cherry"} {
		out = append(out, Example{Text: a, Label: "fruit"}, Example{Text: a + " .", Label: "fruit"})
	}
	return out
}

const tinyTemplate = "{trigger} {text} in the [MASK] ."

// tinyRun is a run on all animals as its training part.
func tinyRun(t *testing.T, words int, kind Objective) *run {
	t.Helper()
	ctx := context.Background()
	r := &run{task: &task{model: tiny(t, 2), labels: []string{"animal", "fruit"}, kind: kind},
		o: Options{Words: words, Template: tinyTemplate}}
	r.tok = r.model.Tokenizer()
	if err := r.wordsOf(map[string]string{"animal": "house", "fruit": "garden"}); err != nil {
		t.Fatal(err)
	}
	if err := r.o.fill(); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.train, err = r.rows(tinyTemplate, animals(), words, 40); err != nil {
		t.Fatal(err)
	}
	r.held, r.sample = r.train, r.train
	if r.prompts, err = OpenPrompts(ctx, os.DirFS(tinyDir), r.model); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.prompts.Close() })
	if err := r.vocabulary(); err != nil {
		t.Fatal(err)
	}
	return r
}

// Where the words of the labels are all whole words that there are, no trigger is left.
func TestNoWordIsLeft(t *testing.T) {
	t.Parallel()
	r := tinyRun(t, 1, Share)
	r.words, r.vocab = r.tok.WholeWords(), nil
	if err := r.vocabulary(); !errors.Is(err, ErrLabels) {
		t.Errorf("%v", err)
	}
}

// A trigger has the same measures as its vectors, which another graph computes, and the derivatives
// by one-hot vectors are differences along E_v − E_x.
func TestGradient(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, kind := range []Objective{Share, Word} {
		r := tinyRun(t, 3, kind)
		tgt := &target{run: r, beta: 2.5, dom: domain.Categories(3, len(r.vocab))}
		x := []int32{4, 0, 9}
		prompt := r.promptOf(r.tokens(x))
		hard, err := r.evaluate(ctx, r.train, r.tokens(x))
		if err != nil {
			t.Fatal(err)
		}
		soft, err := r.soft(ctx, r.train, prompt)
		if err != nil {
			t.Fatal(err)
		}
		if hard.Accuracy != soft.Accuracy || !(math.Abs(hard.Objective-soft.Objective) < 1e-5) {
			t.Errorf("%s: %+v of tokens, %+v of their vectors", ObjectiveNames[kind], hard, soft)
		}
		u, grad := make([]float64, 1), [][]float64{make([]float64, tgt.dom.GradLen())}
		if err := tgt.EnergyGrad(ctx, [][]int32{x}, u, grad); err != nil {
			t.Fatal(err)
		}
		energy := make([]float64, 1)
		if err := tgt.Energy(ctx, [][]int32{x}, energy); err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(u[0]-energy[0]) < 1e-4) {
			t.Errorf("U is %g with the gradient, %g without", u[0], energy[0])
		}
		rng := rand.New(rand.NewPCG(1, 1))
		d, largest := r.prompts.Dimension(), 0.0
		for range 12 {
			i, v := rng.IntN(3), rng.IntN(len(r.vocab))
			at := func(step float64) float64 {
				p := slices.Clone(prompt)
				for j := range d {
					p[i*d+j] += float32(step) * (r.prompts.Embedding(r.vocab[v])[j] -
						r.prompts.Embedding(r.vocab[x[i]])[j])
				}
				m, err := r.soft(ctx, r.train, p)
				if err != nil {
					t.Fatal(err)
				}
				return m.Objective
			}
			const h = 0.02
			want := tgt.beta * (at(h) - at(-h)) / (2 * h)
			off := tgt.dom.GradOffset(i)
			got := grad[0][off+v] - grad[0][off+int(x[i])]
			largest = max(largest, math.Abs(want))
			if !(math.Abs(got-want) < 2e-3*max(1, math.Abs(want))) {
				t.Errorf("%s: word %d at %d: Δ is %g, differences give %g", ObjectiveNames[kind], v, i,
					got, want)
			}
		}
		if largest < 0.01 {
			t.Errorf("the largest difference is %g: nothing was compared", largest)
		}
	}
}

// The mean of the gradients of single sentences is the gradient of all, and a mini-batch has
// different sentences.
func TestStochasticGradient(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := tinyRun(t, 2, Share)
	prompt := r.promptOf(r.tokens([]int32{3, 5}))
	mean, sum := 0.0, make([]float64, len(prompt))
	for n := range r.train {
		v, g, err := r.gradient(ctx, prompt, []int{n})
		if err != nil {
			t.Fatal(err)
		}
		mean += v / float64(len(r.train))
		for j, x := range g {
			sum[j] += float64(x) / float64(len(r.train))
		}
	}
	all := r.draw(rand.New(rand.NewPCG(1, 1)), 1000)
	if len(all) != len(r.train) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Fatalf("%d of %d sentences drawn: %v", len(all), len(r.train), all)
	}
	v, g, err := r.gradient(ctx, prompt, all)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(v-mean) < 1e-5) {
		t.Errorf("mean of all is %g, of single sentences %g", v, mean)
	}
	for j := range g {
		if !(math.Abs(float64(g[j])-sum[j]) < 1e-5) {
			t.Fatalf("entry %d of all is %g, of single sentences %g", j, g[j], sum[j])
		}
	}
}

// The search finds one of the best of all triggers, which enumeration ranks, from mini-batches
// of a quarter of the sentences. Words drawn at random as often do not.
func TestSearchAgainstEnumeration(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := tinyRun(t, 2, Share)
	r.vocab = r.vocab[:25]
	r.train = append(r.train[:4:4], r.train[8:12]...)
	r.sample = r.train
	var all []float64
	for a := range r.vocab {
		for b := range r.vocab {
			m, err := r.evaluate(ctx, r.train, r.tokens([]int32{int32(a), int32(b)}))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, m.Objective)
		}
	}
	slices.Sort(all)
	r.o.Steps, r.o.Batch, r.o.Slope, r.o.Seed = 200, 2, 20, 3
	found, steps, err := r.search(ctx, [][]int32{{0, 0}})
	if err != nil || steps != 200 {
		t.Fatal(steps, err)
	}
	rank := 0
	for _, v := range all {
		if v > found.value+1e-6 {
			rank++
		}
	}
	t.Logf("%d of %d triggers are better than %.4f; all are from %.4f to %.4f", rank, len(all),
		found.value, all[0], all[len(all)-1])
	// 11 candidates at random are among the best 5 of 1764 in 3 runs of 100.
	if rank >= 5 {
		t.Errorf("%d of %d triggers are better than the one found", rank, len(all))
	}
}

// A run does not depend on the number of threads, and the baseline's vectors learn.
func TestRun(t *testing.T) {
	t.Parallel()
	o := Options{Template: tinyTemplate, Verbalizer: map[string]string{"animal": "house",
		"fruit": "garden"}, Words: 2, Steps: 60, Batch: 4, Slope: 20, Relax: true, HeldOut: 0.25,
		Seed: 2}
	var first []byte
	for _, threads := range []int{1, 3} {
		r, err := Run(context.Background(), os.DirFS(tinyDir), tiny(t, threads), animals(), o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if string(got) != string(first) {
			t.Errorf("with %d threads\n%s\nwith 1\n%s", threads, got, first)
		}
		if r.Train.Sentences != 12 || r.HeldOut.Sentences != 4 || r.Steps != 60 || r.Interrupted {
			t.Errorf("%s", got)
		}
		if !(r.Train.Objective > r.Random.Train.Objective &&
			r.Relaxed.Vectors.Train.Objective > r.Random.Train.Objective) {
			t.Errorf("nothing was learned: %s", got)
		}
		if len(r.Tokens) != 2 || strings.Join(r.Tokens, " ") != r.Trigger || r.Recut {
			t.Errorf("tokens %q of %q", r.Tokens, r.Trigger)
		}
	}
}

// A search that is ended gives the best so far, without the baseline.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 1, 45} {
		ctx, stop := context.WithCancel(context.Background())
		o := Options{Template: tinyTemplate, Verbalizer: map[string]string{"animal": "house",
			"fruit": "garden"}, Words: 2, Steps: 1000, Batch: 2, Relax: true}
		o.Progress = func(p Progress) {
			if p.Step >= after {
				stop()
			}
		}
		if after == 0 {
			o.Progress = nil
			stop()
		}
		r, err := Run(ctx, os.DirFS(tinyDir), tiny(t, 1), animals(), o)
		stop()
		if after == 0 {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a run that was ended before it began: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !r.Interrupted || r.Steps != after || r.Relaxed != nil || r.Train.Sentences == 0 {
			t.Errorf("after %d steps: %+v", after, r)
		}
	}
}

// The template's places are found whatever the text holds.
func TestRows(t *testing.T) {
	t.Parallel()
	r := tinyRun(t, 2, Share)
	text := Example{Text: "the [MASK] saw her , him and the cat", Label: "fruit"}
	for _, c := range []struct {
		template string
		k, most  int
		want     string
	}{
		{"{trigger} {text} in [MASK] .", 2, 40, "[CLS] T T the [MASK] saw her , him and the cat in ? . [SEP]"},
		{"[MASK] is {text} {trigger}", 2, 3, "[CLS] ? is the [MASK] saw T T [SEP]"},
		{"in {text}, {trigger}, [MASK]", 1, 1, "[CLS] in the , T , ? [SEP]"},
		{"{trigger} {text} in [MASK] .", 0, 2, "[CLS] the [MASK] in ? . [SEP]"},
	} {
		rows, err := r.rows(c.template, []Example{text}, c.k, c.most)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, id := range rows[0].ids {
			switch {
			case slices.Contains(rows[0].blanks, i):
				got = append(got, "T")
			case i == rows[0].ask:
				got = append(got, "?")
			default:
				got = append(got, r.tok.Token(id))
			}
		}
		if s := strings.Join(got, " "); s != c.want || rows[0].label != 1 {
			t.Errorf("%s:\n%s, label %d, want\n%s", c.template, s, rows[0].label, c.want)
		}
	}
}

// What cannot be run is named.
func TestRunRefuses(t *testing.T) {
	t.Parallel()
	m := tiny(t, 1)
	good := map[string]string{"animal": "house", "fruit": "garden"}
	one := append(animals()[:8:8], Example{Text: "a plum", Label: "fruit"})
	seed := uint64(0)
	for ; ; seed++ { // a seed that holds the plum out
		if train, _, err := split(one, 0.5, seed); err != nil || !slices.Contains(train, one[8]) {
			break
		}
	}
	for _, c := range []struct {
		name     string
		o        Options
		examples []Example
		is       error
		says     string
	}{
		{"no place", Options{Template: "{text} [MASK]"}, animals(), ErrTemplate, "{trigger} 0 times"},
		{"two masks", Options{Template: "{trigger} {text} [MASK] [MASK]"}, animals(), ErrTemplate,
			"[MASK] 2 times"},
		{"no word", Options{}, animals(), ErrLabels, `"animal"`},
		{"a word for nothing", Options{Verbalizer: map[string]string{"fish": "fish"}}, animals(),
			ErrLabels, `"fish"`},
		{"the same word", Options{Verbalizer: map[string]string{"animal": "cat", "fruit": "cat"}},
			animals(), ErrLabels, "the same word"},
		{"one label", Options{}, animals()[:4], ErrLabels, "two are needed"},
		{"nothing", Options{}, nil, ErrLabels, "no sentence"},
		{"a label held out", Options{Verbalizer: good, HeldOut: 0.5, Seed: seed}, one, ErrLabels,
			`all sentences with the label "fruit" are held out`},
		{"too few", Options{Verbalizer: good, HeldOut: 0.01}, animals(), ErrOption, "nothing on one side"},
		{"words", Options{Words: -1}, animals(), ErrOption, "words is -1"},
		{"jump", Options{Jump: 2}, animals(), ErrOption, "jump is 2"},
		{"slope", Options{Slope: math.NaN()}, animals(), ErrOption, "slope is NaN"},
	} {
		if c.o.Template == "" {
			c.o.Template = tinyTemplate
		}
		_, err := Run(context.Background(), os.DirFS(tinyDir), m, c.examples, c.o)
		if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Zero means the default, which Defaults has. The schedule ends where the paper's does.
func TestDefaults(t *testing.T) {
	t.Parallel()
	o, want := Options{}, Defaults()
	want.Slope = 0.5
	if err := o.fill(); err != nil || !reflect.DeepEqual(o, want) {
		t.Errorf("%+v, %v", o, err)
	}
	o = Options{Steps: 3000}
	if err := o.fill(); err != nil || o.Slope != 0.1 {
		t.Errorf("the slope for 3000 steps is %g, %v", o.Slope, err)
	}
}

// A model or a context that was forgotten panicked.
func TestRunWithoutAModel(t *testing.T) {
	var none context.Context
	examples := []Example{{Text: "a", Label: "good"}, {Text: "b", Label: "bad"}}
	if _, err := Run(t.Context(), nil, nil, examples, Options{}); !errors.Is(err, ErrOption) {
		t.Errorf("no model: %v", err)
	}
	if _, err := Run(none, os.DirFS(tinyDir), new(mlm.Model), examples, Options{}); !errors.Is(err, ErrOption) {
		t.Errorf("no context: %v", err)
	}
}
