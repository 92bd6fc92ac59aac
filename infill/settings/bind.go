package settings

import (
	"encoding/json"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"infill/infill"
	"infill/internal/disk"
)

// after makes a value that calls do once something was stored.
func (v *Value) after(do func()) *Value {
	set, setJSON := v.set, v.setJSON
	then := func(err error) error {
		if err == nil {
			do()
		}
		return err
	}
	v.set = func(s string) error { return then(set(s)) }
	v.setJSON = func(raw json.RawMessage) error { return then(setJSON(raw)) }
	return v
}

// optional makes access to *p, which may be nil, of access to x. An empty text is none.
func optional[T any](p **T, x *T, v *Value) *Value {
	get := v.get
	v.after(func() {
		n := *x
		*p = &n
	})
	set := v.set
	v.get = func() string {
		if *p == nil {
			return ""
		}
		*x = **p
		return get()
	}
	v.set = func(s string) error {
		if s == "" {
			*p = nil
			return nil
		}
		return set(s)
	}
	return v
}

// nameValue is a text that is not empty, and that JSON has as a string.
func nameValue(p *string, want string) *Value {
	v := textValue(p).refusing(func(s string) bool { return s == "" })
	v.want, v.wantJSON, v.setJSON = want, want, fromJSON(v.set)
	return v
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

// optionValue is access to a number of the options, within its range there. It is read as what the
// engine takes: a default in place of 0.
func optionValue(o *infill.Options, r infill.Range[int]) *Value {
	v := WholeValue(r.Of(o), int64(r.Min), int64(r.Max))
	v.get = func() string {
		ran := o.Complete()
		return strconv.Itoa(*r.Of(&ran))
	}
	return v
}

// temperatureValue is the temperature, and 1 in place of 0.
func temperatureValue(o *infill.Options) *Value {
	r := infill.Ranges.Temperature
	v := NumberValue(r.Of(o), r.Min, r.Max, false)
	v.get = func() string {
		return strconv.FormatFloat(o.Complete().Sampling.Temperature, 'g', -1, 64)
	}
	return v
}

// seedValue is a number of 64 bits, or none.
func seedValue(p **uint64) *Value {
	var x uint64
	v := scalar(reflect.Int, "a whole number from 0 to 2^64-1",
		func() string { return strconv.FormatUint(x, 10) },
		func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) },
		func(n uint64) error { x = n; return nil })
	v.Max = math.MaxUint64
	return optional(p, &x, v)
}

// paramsValue is a list of NAME=VALUE that JSON has as an object.
func paramsValue(p *[]string) *Value {
	v := listValue(p).refusing(func(s string) bool { return strings.Index(s, "=") < 1 })
	v.want, v.wantJSON = "NAME=VALUE", "an object of the sampler's parameters, numbers or words"
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

// startValue is where chains begin: a word of [infill.Start], or the name of a file, which
// only a program that may read its user's files sets.
func startValue(v *Fill) *Value {
	names := infill.StartMasked.Names()
	word := func(s string) error {
		i := slices.Index(names, s)
		if i < 0 {
			return errWant
		}
		v.Sampling.StartFile, v.Options.Sampling.Start = "", infill.Start(i)
		return nil
	}
	list := strings.Join(names, "|")
	return &Value{
		Kind: reflect.String, Choices: names, want: list + ", or a file of records",
		wantJSON: strings.Join(names, " or "),
		get: func() string {
			if v.Sampling.StartFile != "" {
				return v.Sampling.StartFile
			}
			return v.Options.Sampling.Start.String()
		},
		set: func(s string) error {
			if s == "" || s == "sequential" { // which was a word, and is hardly the name of a file
				return errWant
			}
			if word(s) != nil {
				v.Sampling.StartFile, v.Options.Sampling.Start = s, infill.StartMasked
			}
			return nil
		},
		setJSON: fromJSON(word),
	}
}

// startRecorded names the fillings by the hash of their file.
func (v *Fill) startRecorded() (string, error) {
	if v.Sampling.StartFile == "" {
		return v.Options.Sampling.Start.String(), nil
	}
	return v.recorded(v.Sampling.StartFile)
}

// wordsFileValue is the name of a file of words, in whose place JSON has the words.
func wordsFileValue(file *string, words *[]string) *Value {
	value := fileValue(file, "a file of words, one a line")
	value.wantJSON = "a list of words"
	value.setJSON = fromJSON(func(list []string) error { *file, *words = "", list; return nil })
	return value
}

// fileValue is the name of a file, or of a folder.
func fileValue(p *string, want string) *Value {
	v := textValue(p)
	v.want, v.wantJSON = want, want
	return v
}

// recorded names the words of a file by its hash, that of what was read of it if it was.
func (v *Fill) recorded(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	if v.read != nil && v.read.sums[path] != "" {
		return v.read.sums[path], nil
	}
	return disk.Hashed(path, func(io.Reader) error { return nil })
}
