package settings

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"infill/infill"
)

// after makes a value that calls do once something was stored.
func (v *Value) after(do func()) *Value {
	set, setJSON := v.set, v.setJSON
	v.set = func(s string) error {
		if err := set(s); err != nil {
			return err
		}
		do()
		return nil
	}
	v.setJSON = func(raw json.RawMessage) error {
		if err := setJSON(raw); err != nil {
			return err
		}
		do()
		return nil
	}
	return v
}

// ofSampler marks a value that the sampler depends on: a change makes the sampler again.
func (v *Filling) ofSampler(value *Value) *Value {
	return v.ofSampling(value).after(func() { v.Options.Sampler = nil })
}

// ofSampling marks a value that only sampling has: whoever chooses one wants to sample.
func (v *Filling) ofSampling(value *Value) *Value {
	return value.after(func() { v.Sampling = true })
}

// nameValue is a text that JSON has as a string.
func nameValue(p *string) *Value {
	v := TextValue(p)
	v.want, v.wantJSON = "the name of a sampler", "the name of a sampler"
	v.setJSON = fromJSON(func(s string) error {
		if s == "" {
			return errWant
		}
		return v.set(s)
	})
	return v
}

// zeroIs makes a number that is 0 read as what the engine takes in its place. The variable stays.
func (v *Value) zeroIs(meant func() float64) *Value {
	get := v.get
	v.get = func() string {
		if text := get(); text != "0" {
			return text
		}
		return strconv.FormatFloat(meant(), 'g', -1, 64)
	}
	return v
}

// always is a number that does not depend on other options.
func always(x float64) func() float64 { return func() float64 { return x } }

// unless is a number that 0 stands for, but not where an option makes 0 mean 0.
func unless(zero *bool, x float64) func() float64 {
	return func() float64 {
		if *zero {
			return 0
		}
		return x
	}
}

// effortValue has the words in the order of how much they stand for.
func effortValue(p *infill.Effort) *Value {
	of := []infill.Effort{infill.EffortQuick, infill.EffortNormal, infill.EffortThorough}
	var words []string
	for _, e := range of {
		words = append(words, e.String())
	}
	return choice(words, func() string { return p.String() }, func(i int) { *p = of[i] })
}

// stepsValue is the number of steps, 0 included, where the zero value of Options is the default.
func stepsValue(o *infill.Options) *Value {
	return WholeValue(&o.Steps, 0, infill.MaxSteps).
		after(func() { o.NoSteps = o.Steps == 0 }).
		zeroIs(func() float64 { return float64(o.Complete().Steps) })
}

// memoValue is the size of the memo, 0 included, where the zero value of Filling is the default.
func memoValue(v *Filling) *Value {
	return WholeValue(&v.Memo, 0, MaxMemo).
		after(func() { v.NoMemo = v.Memo == 0 }).
		zeroIs(unless(&v.NoMemo, DefaultMemo))
}

// topValue is the number of fillings. A program may ask for all, which reads as 0.
func topValue(o *infill.Options) *Value {
	return WholeValue(&o.Top, 1, infill.MaxTop).
		after(func() { o.AllFillings = false }).
		zeroIs(unless(&o.AllFillings, infill.DefaultTop))
}

// seedValue is a number of 64 bits, or none.
func seedValue(p **uint64) *Value {
	return &Value{
		Kind: Whole, Max: math.MaxUint64, want: "a whole number from 0 to 2^64-1",
		get: func() string {
			if *p == nil {
				return ""
			}
			return strconv.FormatUint(**p, 10)
		},
		set: func(s string) error {
			if s == "" {
				*p = nil
				return nil
			}
			n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
			if err != nil {
				return err
			}
			*p = &n
			return nil
		},
		setJSON: fromJSON(func(n uint64) error { *p = &n; return nil }),
	}
}

// paramsValue is a list of NAME=VALUE that JSON has as an object.
func paramsValue(p *[]string) *Value {
	v := ListValue(p)
	v.want, v.wantJSON = "NAME=VALUE", "an object of the sampler's parameters, numbers or words"
	v.set = func(s string) error {
		if name, _, ok := strings.Cut(s, "="); !ok || name == "" {
			return errWant
		}
		*p = append(*p, s)
		return nil
	}
	v.setJSON = fromJSON(func(params map[string]json.RawMessage) error {
		var list []string
		for _, name := range slices.Sorted(maps.Keys(params)) {
			text, err := numberOrWord(params[name])
			if err != nil {
				return err
			}
			list = append(list, name+"="+text)
		}
		*p = list
		return nil
	})
	return v
}
