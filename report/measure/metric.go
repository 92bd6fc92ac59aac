package measure

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"infill/internal/count"
)

// Metric is one number with its meaning. A value that could not be computed is
// NaN here, null in JSON and "n/a" in tables, and Warnings say why.
type Metric struct {
	// Key names the metric for programs, such as "self_bleu" or "unique.tbc.2".
	Key string
	// Label names it for people.
	Label string
	// Group is the heading that several columns share, "" for none.
	Group string
	// Value is in the unit that tables print: BLEU and shares times 100.
	Value float64
	// Low and High are the ends of the interval; NaN when there is none.
	Low, High float64
	// Unit is "%", "s", "nats" or "".
	Unit string
	// Decimals is how many digits tables print after the point.
	Decimals int
	// Better is +1 when more is better (or more diverse), −1 when less is, 0 when neither is meant.
	Better int
	// Signature names the definition behind the number.
	Signature string
	// Detail holds the parts of the number: precisions, brevity penalty, lengths.
	Detail string
	// Warnings say what makes the number less than it seems, or why it is absent.
	Warnings []string

	// OfRun is for those of the table of what the runs cost, Less for a difference, which has a sign.
	OfRun, Less bool
	// Units are, of a difference, how many sources it is of.
	Units int
}

// newMetric is a metric without a number. The parameters are fields of its.
func newMetric(key, label, unit string, decimals, better int) Metric {
	none := math.NaN()
	return Metric{Key: key, Label: label, Unit: unit, Decimals: decimals, Better: better, Value: none,
		Low: none, High: none}
}

// OK says whether there is a number.
func (m Metric) OK() bool { return finite(m.Value) }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// HasInterval says whether there is an interval.
func (m Metric) HasInterval() bool { return !math.IsNaN(m.Low) && !math.IsNaN(m.High) }

// Text formats the value as tables print it.
func (m Metric) Text() string {
	if !m.OK() {
		return "n/a"
	}
	s := decimal(m.Value, m.Decimals)
	if m.Less && s[0] != '-' {
		s = "+" + s
	}
	return s
}

// Interval formats the interval, "" when there is none. That of a difference lies around it.
func (m Metric) Interval() string {
	if !m.HasInterval() {
		return ""
	}
	if m.Less {
		return m.Half()
	}
	return decimal(m.Low, m.Decimals) + "–" + decimal(m.High, m.Decimals)
}

// Half is half the width of the interval, with its sign; both ends where it would say that what is
// above 0 may be below, as of the perplexity of a few texts.
func (m Metric) Half() string {
	half := (m.High - m.Low) / 2
	if !m.Less && m.Low > 0 && m.Value < half {
		return "(" + m.Interval() + ")"
	}
	return "±" + decimal(half, m.Decimals)
}

// either is the first text for one thing, and the second for any other number of things.
func either(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// decimal prints with a fixed number of digits; whole numbers from 10,000 on get thin separators.
func decimal(x float64, digits int) string {
	if digits == 0 && math.Abs(x) >= 10_000 {
		return count.Thousands(int(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

// set takes over a value, or the reason why there is none.
func (m *Metric) take(v float64, err error) {
	if err != nil {
		m.Value = math.NaN()
		m.Warnings = append(m.Warnings, err.Error())
		return
	}
	m.Value = v
}

// warn adds warnings.
func (m *Metric) warn(errs ...error) {
	for _, e := range errs {
		if e != nil {
			m.Warnings = append(m.Warnings, e.Error())
		}
	}
}

// MarshalJSON writes absent numbers as null.
func (m Metric) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Key       string   `json:"key"`
		Label     string   `json:"label"`
		Group     string   `json:"group,omitempty"`
		Value     Number   `json:"value"`
		Low       Number   `json:"low,omitzero"`
		High      Number   `json:"high,omitzero"`
		Unit      string   `json:"unit,omitempty"`
		Better    int      `json:"better,omitempty"`
		Signature string   `json:"signature,omitempty"`
		Detail    string   `json:"detail,omitempty"`
		Warnings  []string `json:"warnings,omitempty"`
	}{
		m.Key, m.Label, m.Group, Number(m.Value), Number(m.Low), Number(m.High),
		m.Unit, m.Better, m.Signature, m.Detail, m.Warnings,
	})
}

// Number is a float64 whose JSON is null where it is not finite.
type Number float64

// IsZero reports whether there is no number, for omitzero.
func (n Number) IsZero() bool { return !finite(float64(n)) }

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) {
	if n.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Series is a list of numbers whose JSON has null for those that are not finite.
type Series []float64

// MarshalJSON implements [json.Marshaler].
func (s Series) MarshalJSON() ([]byte, error) {
	out := make([]Number, len(s))
	for i, x := range s {
		out[i] = Number(x)
	}
	return json.Marshal(out)
}

// Row is the metrics of one file or sampler, or its differences. All rows of a table have the same
// keys in the same order.
type Row struct {
	Name    string   `json:"name"`
	Metrics []Metric `json:"metrics"`
}

// Get returns the metric with the given key.
func (r Row) Get(key string) (Metric, bool) {
	for _, m := range r.Metrics {
		if m.Key == key {
			return m, true
		}
	}
	return Metric{}, false
}

// mean is a mean of the values that there are.
type mean struct {
	sum float64
	n   int
}

// add counts a value that is not nil.
func (m *mean) add(x *float64) {
	if x != nil {
		m.sum += *x
		m.n++
	}
}

// Join makes the signature that of two metrics, with both values of the named field in braces, and
// says whether they are equal or differ in it only. Otherwise it stays.
func (m *Metric) Join(signature, field string) bool {
	if m.Signature == signature {
		return true
	}
	x, y := strings.Split(m.Signature, "|"), strings.Split(signature, "|")
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] == y[i] {
			continue
		}
		v, ok1 := strings.CutPrefix(x[i], field+":")
		w, ok2 := strings.CutPrefix(y[i], field+":")
		if !ok1 || !ok2 {
			return false
		}
		values := strings.Split(strings.Trim(v, "{}"), ",")
		if !slices.Contains(values, w) {
			values = append(values, w)
		}
		x[i] = field + ":{" + strings.Join(values, ",") + "}"
	}
	m.Signature = strings.Join(x, "|")
	return true
}

// one makes the list of a measure that has one column.
func one(m Metric) ([]Metric, error) { return []Metric{m}, nil }
