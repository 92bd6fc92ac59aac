package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A Value is access to a variable: a text or a JSON value is checked and stored. It has the methods
// that package flag wants of a value.
type Value struct {
	// Kind is Bool, Int for a whole number, Float64, String, or Slice for texts. Set appends to these.
	Kind     reflect.Kind
	Min, Max float64  // of a number
	Above    bool     // Min itself is refused
	Choices  []string // the words that a String may be; nil: any

	want, wantJSON string
	get            func() string
	set            func(string) error
	setJSON        func(json.RawMessage) error
}

// errWant is a value out of bounds. Its text is never shown: Set and SetJSON say what they want.
var errWant = errors.New("not wanted")

// A wantError is what Set says to package flag.
type wantError string

func (e wantError) Error() string { return string(e) }
func (e wantError) Unwrap() error { return ErrSetting }

// Set stores the value that a text stands for. The error says what is wanted.
func (v *Value) Set(text string) error {
	if v.set(text) == nil {
		return nil
	}
	return wantError("want " + v.Want())
}

// String is the value as Set reads it, "" for none.
func (v *Value) String() string {
	if v == nil || v.get == nil { // package flag asks a zero value
		return ""
	}
	return v.get()
}

// IsBoolFlag says to package flag that the name alone means true.
func (v *Value) IsBoolFlag() bool { return v.Kind == reflect.Bool }

// Want says in words what [Value.Set] takes: a whole number from 1 to 10000.
func (v *Value) Want() string { return v.want }

// WantJSON says in words what a JSON value must be.
func (v *Value) WantJSON() string {
	if v.wantJSON != "" {
		return v.wantJSON
	}
	return v.want
}

// fromJSON makes setJSON of a function that takes one Go type.
func fromJSON[T any](set func(T) error) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		var x T
		if err := json.Unmarshal(raw, &x); err != nil {
			return err
		}
		return set(x)
	}
}

// scalar is access by functions: get spells the value, parse reads a text, and put checks and
// stores what a text or JSON has.
func scalar[T any](kind reflect.Kind, want string, get func() string,
	parse func(string) (T, error), put func(T) error) *Value {
	return &Value{Kind: kind, want: want, get: get, setJSON: fromJSON(put),
		set: func(s string) error {
			x, err := parse(strings.TrimSpace(s))
			if err != nil {
				return err
			}
			return put(x)
		}}
}

// ValueOf is access to a variable that may have any value: a truth value, a text, or a list of
// texts. Set appends one text to a list, as it is, and JSON has the whole list.
func ValueOf[T bool | string | []string](p *T) *Value {
	switch p := any(p).(type) {
	case *bool:
		return boolValue(p)
	case *string:
		return textValue(p)
	}
	return listValue(any(p).(*[]string))
}

func boolValue(p *bool) *Value {
	return scalar(reflect.Bool, "true or false", func() string { return strconv.FormatBool(*p) },
		strconv.ParseBool, func(b bool) error { *p = b; return nil })
}

// WholeValue is access to a whole number from min to max.
func WholeValue[I ~int | ~int64 | ~uint64](p *I, min, max int64) *Value {
	want := fmt.Sprintf("a whole number from %d to %d", min, max)
	if max == math.MaxInt64 {
		want = fmt.Sprintf("a whole number from %d", min)
	}
	v := scalar(reflect.Int, want, func() string { return fmt.Sprint(*p) },
		func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) },
		func(n int64) error {
			if n < min || n > max {
				return errWant
			}
			*p = I(n)
			return nil
		})
	v.Min, v.Max = float64(min), float64(max)
	return v
}

// NumberValue is access to a finite number from min to max; above excludes min.
func NumberValue(p *float64, min, max float64, above bool) *Value {
	low := fmt.Sprintf(" from %g", min)
	if above {
		low = fmt.Sprintf(" above %g", min)
	}
	if min == -math.MaxFloat64 {
		low = ""
	}
	want := "a number" + low
	if max != math.MaxFloat64 {
		want += fmt.Sprintf(" to %g", max)
	}
	v := scalar(reflect.Float64, want, func() string { return strconv.FormatFloat(*p, 'g', -1, 64) },
		func(s string) (float64, error) { return strconv.ParseFloat(s, 64) },
		func(x float64) error {
			if !(x >= min && x <= max) || above && x == min {
				return errWant
			}
			*p = x
			return nil
		})
	v.Min, v.Max, v.Above = min, max, above
	return v
}

// choiceValue is access to a variable that has a word for each of its values, 0, 1, 2 and so on.
func choiceValue[I ~int](p *I, words ...string) *Value {
	return choice(words, func() string { return words[*p] }, func(i int) { *p = I(i) })
}

// eitherValue is access to a truth value that has a word for false and one for true.
func eitherValue(p *bool, no, yes string) *Value {
	get := func() string {
		if *p {
			return yes
		}
		return no
	}
	return choice([]string{no, yes}, get, func(i int) { *p = i == 1 })
}

// namedValue is access to a variable of a type that names its values.
func namedValue[I interface {
	~int
	Names() []string
}](p *I) *Value {
	return choiceValue(p, (*p).Names()...)
}

// WordValue is access to a text that is one of some words.
func WordValue(p *string, words ...string) *Value {
	return choice(words, func() string { return *p }, func(i int) { *p = words[i] })
}

func choice(words []string, get func() string, put func(int)) *Value {
	set := func(s string) error {
		i := slices.Index(words, s)
		if i < 0 {
			return errWant
		}
		put(i)
		return nil
	}
	sorted, want := slices.Sorted(slices.Values(words)), strings.Join(words, "|")
	if slices.Contains(words, "|") {
		want = strings.Join(words, " or ")
	}
	return &Value{
		Kind: reflect.String, Choices: words, want: want, wantJSON: strings.Join(sorted, " or "),
		get: get, set: set, setJSON: fromJSON(set),
	}
}

// textValue is access to a text; JSON may have a number in its place.
func textValue(p *string) *Value {
	set := func(s string) error { *p = s; return nil }
	return &Value{
		Kind: reflect.String, want: "a text", wantJSON: "a number or a word",
		get: func() string { return *p }, set: set,
		setJSON: func(raw json.RawMessage) error {
			s, err := numberOrWord(raw)
			if err != nil {
				return err
			}
			return set(s)
		},
	}
}

// numberOrWord is the text of a JSON string or number.
func numberOrWord(raw json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return "", err
	}
	return n.String(), nil
}

// refusing makes a value whose Set refuses some texts.
func (v *Value) refusing(bad func(text string) bool) *Value {
	set := v.set
	v.set = func(s string) error {
		if bad(s) {
			return errWant
		}
		return set(s)
	}
	return v
}

func listValue(p *[]string) *Value {
	return &Value{
		Kind: reflect.Slice, want: "a text", wantJSON: "a list of texts",
		get:     func() string { return strings.Join(*p, " ") },
		set:     func(s string) error { *p = append(*p, s); return nil },
		setJSON: fromJSON(func(l []string) error { *p = l; return nil }),
	}
}

// wordsValue is access to a list of words. Set appends those of a list with commas; JSON has the
// whole list.
func wordsValue(p *[]string) *Value {
	v := listValue(p)
	v.want, v.wantJSON = "words with commas between", "a list of words"
	v.get = func() string { return strings.Join(*p, ",") }
	v.set = func(s string) error {
		for _, w := range strings.Split(s, ",") {
			if w = strings.TrimSpace(w); w != "" {
				*p = append(*p, w)
			}
		}
		return nil
	}
	return v
}
