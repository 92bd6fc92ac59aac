package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
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
	// Better is +1 when more is better (or more diverse), −1 when less is, 0 when
	// neither is meant.
	Better int
	// Signature names the definition behind the number.
	Signature string
	// Detail holds the parts of the number: precisions, brevity penalty, lengths.
	Detail string
	// Warnings say what makes the number less than it seems, or why it is absent.
	Warnings []string

	ofRun bool // stands in the table of what the runs cost
	less  bool // a difference: it has a sign
	units int  // of a difference: the sources that it is of
}

func newMetric(key, label string) Metric {
	none := math.NaN()
	return Metric{Key: key, Label: label, Value: none, Low: none, High: none, Decimals: 2}
}

// OK says whether there is a number.
func (m Metric) OK() bool { return !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0) }

// HasInterval says whether there is an interval.
func (m Metric) HasInterval() bool { return !math.IsNaN(m.Low) && !math.IsNaN(m.High) }

// Text formats the value as tables print it.
func (m Metric) Text() string {
	if !m.OK() {
		return "n/a"
	}
	s := decimal(m.Value, m.Decimals)
	if m.less && s[0] != '-' {
		s = "+" + s
	}
	return s
}

// Interval formats the interval, "" when there is none. That of a difference lies around it.
func (m Metric) Interval() string {
	if !m.HasInterval() {
		return ""
	}
	if m.less {
		return m.half()
	}
	return decimal(m.Low, m.Decimals) + "–" + decimal(m.High, m.Decimals)
}

// half is half the width of the interval, with its sign.
func (m Metric) half() string { return "±" + decimal((m.High-m.Low)/2, m.Decimals) }

// Heading is the label with its group and unit.
func (m Metric) Heading() string { return heading(m.Group, m.Label, m.Unit) }

func heading(group, label, unit string) string {
	if group != "" {
		label = group + ", " + label
	}
	if unit != "" {
		label += " (" + unit + ")"
	}
	return label
}

// arrow points to where the metric is better: up for more, down for less, "" where
// neither is meant.
func (m Metric) arrow() string {
	switch {
	case m.Better > 0:
		return "↑"
	case m.Better < 0:
		return "↓"
	}
	return ""
}

// either is the first text for one thing, and the second for any other number of things.
func either(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// decimal prints with a fixed number of digits; whole numbers from 10,000 on get
// thin separators.
func decimal(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if digits > 0 || math.Abs(x) < 10_000 {
		return s
	}
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return sign + strings.Join(append([]string{s}, parts...), ",")
}

// set takes over a value, or the reason why there is none.
func (m *Metric) set(v float64, err error) {
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
	num := func(x float64) *number {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		n := number(x)
		return &n
	}
	return json.Marshal(struct {
		Key       string   `json:"key"`
		Label     string   `json:"label"`
		Group     string   `json:"group,omitempty"`
		Value     *number  `json:"value"`
		Low       *number  `json:"low,omitempty"`
		High      *number  `json:"high,omitempty"`
		Unit      string   `json:"unit,omitempty"`
		Better    int      `json:"better,omitempty"`
		Signature string   `json:"signature,omitempty"`
		Detail    string   `json:"detail,omitempty"`
		Warnings  []string `json:"warnings,omitempty"`
	}{
		m.Key, m.Label, m.Group, num(m.Value), num(m.Low), num(m.High),
		m.Unit, m.Better, m.Signature, m.Detail, m.Warnings,
	})
}

// number is a float64 whose JSON is null where it is not finite.
type number float64

// MarshalJSON implements [json.Marshaler].
func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Series is a list of numbers whose JSON has null for those that are not finite.
type Series []float64

// MarshalJSON implements [json.Marshaler].
func (s Series) MarshalJSON() ([]byte, error) {
	out := make([]number, len(s))
	for i, x := range s {
		out[i] = number(x)
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

// warnings collects the metrics' warnings, each once, with where it applies.
func warnings(rows []Row) []string {
	type where struct{ text, heading string }
	names := map[where][]string{}
	var order []where
	for _, r := range rows {
		for _, m := range r.Metrics {
			for _, w := range m.Warnings {
				k := where{w, m.Heading()}
				if names[k] == nil {
					order = append(order, k)
				}
				names[k] = append(names[k], r.Name)
			}
		}
	}
	var out []string
	for _, k := range order {
		who := ""
		if len(rows) > 1 && len(names[k]) < len(rows) {
			who = strings.Join(names[k], ", ") + ": "
		}
		out = append(out, fmt.Sprintf("%s%s: %s", who, k.heading, k.text))
	}
	return out
}

func uintString(x uint64) string { return strconv.FormatUint(x, 10) }

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
