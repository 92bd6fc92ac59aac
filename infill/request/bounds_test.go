package request

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"infill/infill/text"
)

// Every bound is taken, and a value beyond it refused, whoever makes the options.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ at, beyond Options }{
		{Options{Sampling: SamplingOptions{Steps: Ranges.Steps.Max}},
			Options{Sampling: SamplingOptions{Steps: Ranges.Steps.Max + 1}}},
		{Options{Sampling: SamplingOptions{Chains: Ranges.Chains.Max}},
			Options{Sampling: SamplingOptions{Chains: Ranges.Chains.Max + 1}}},
		{Options{Results: ResultOptions{Top: Ranges.Top.Max}}, Options{Results: ResultOptions{Top: Ranges.Top.Max + 1}}},
		{Options{Sampling: SamplingOptions{Shortlist: Ranges.Shortlist.Max}},
			Options{Sampling: SamplingOptions{Shortlist: Ranges.Shortlist.Max + 1}}},
		{Options{Words: WordOptions{MinDistance: Ranges.MinDistance.Max}},
			Options{Words: WordOptions{MinDistance: Ranges.MinDistance.Max + 1}}},
		{Options{Sampling: SamplingOptions{Temperature: Ranges.Temperature.Min}},
			Options{Sampling: SamplingOptions{Temperature: Ranges.Temperature.Min / 2}}},
		{Options{Sampling: SamplingOptions{Temperature: Ranges.Temperature.Max}},
			Options{Sampling: SamplingOptions{Temperature: Ranges.Temperature.Max * 2}}},
		{Options{}, Options{Sampling: SamplingOptions{Temperature: math.SmallestNonzeroFloat64}}},
		{Options{}, Options{Sampling: SamplingOptions{Temperature: -1}}},
		{Options{}, Options{Sampling: SamplingOptions{Temperature: math.NaN()}}},
		{Options{}, Options{Sampling: SamplingOptions{Temperature: math.Inf(1)}}},
	} {
		if err := c.at.Prepare(); err != nil {
			t.Error(err)
		}
		if err := c.beyond.Prepare(); !errors.Is(err, text.ErrOption) {
			t.Errorf("%+v: %v", c.beyond, err)
		}
	}
	if err := (text.Masking{Words: text.MaxMaskWords}).Check(); err != nil {
		t.Error(err)
	}
	for _, m := range []text.Masking{{Words: text.MaxMaskWords + 1}, {Rate: 0.5, Words: 1}} {
		if err := m.Check(); !errors.Is(err, text.ErrOption) {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// An option that is a number has a range, and one that is a choice is of its words: nonsense in any
// of them is refused. An option that Ranges and checkChoices leave out fails here.
func TestEveryNumberIsChecked(t *testing.T) {
	t.Parallel()
	var numbers int
	var walk func(name string, at func(*Options) reflect.Value)
	walk = func(name string, at func(*Options) reflect.Value) {
		refused := func(value any) {
			t.Helper()
			var o Options
			v := at(&o)
			v.Set(reflect.ValueOf(value).Convert(v.Type()))
			if err := o.Check(); !errors.Is(err, text.ErrOption) {
				t.Errorf("%s of %v: %v", name, value, err)
			}
		}
		switch v := at(new(Options)); v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if !v.Type().Field(i).IsExported() { // no option
					continue
				}
				walk(name+"."+v.Type().Field(i).Name,
					func(o *Options) reflect.Value { return at(o).Field(i) })
			}
			return
		case reflect.Int, reflect.Int32, reflect.Int64:
			refused(-5)
			refused(math.MaxInt32)
		case reflect.Float64:
			refused(-5.0)
			refused(math.NaN())
		case reflect.Pointer:
			if v.Type().Elem().Kind() != reflect.Float64 {
				return
			}
			refused(new(math.NaN()))
		case reflect.Uint64: // a seed is any
			if name != ".Seed" {
				t.Errorf("%s: a number that this test cannot check", name)
			}
			return
		case reflect.Bool, reflect.String, reflect.Slice, reflect.Interface, reflect.Func, reflect.Chan:
			return
		default:
			t.Errorf("%s: a %v, which this test does not know", name, v.Kind())
		}
		numbers++
	}
	walk("", func(o *Options) reflect.Value { return reflect.ValueOf(o).Elem() })
	if numbers < 24 {
		t.Errorf("%d numbers among the options", numbers)
	}
	for _, o := range []Options{
		{Sampling: SamplingOptions{Steps: 1, NoSteps: true}},
		{Results: ResultOptions{Top: 1, All: true}},
	} {
		if err := o.Check(); !errors.Is(err, text.ErrOption) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
