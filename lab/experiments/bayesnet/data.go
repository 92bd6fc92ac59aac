package bayesnet

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A dataset has rows of inputs and a number from 0 to 1 for each. An input is stored by its entries
// that are not 0, since most are indicators of categories. Columns are the inputs with which the
// columns of the table begin, a number or the indicators of a category. A row has one entry of a
// column at most.
type dataset struct {
	width   int // inputs
	columns []int
	rows    []row
	y       []float64
}

// A row has the numbers value[j] at inputs index[j], and 0 elsewhere.
type row struct {
	index []int
	value []float64
}

// A table is how a data set's columns become inputs.
type table struct {
	numbers, categories []int // columns
	target              int   // column of what is predicted
	one                 func(target string) bool
	keep                func(record []string) bool
}

// read makes inputs of records: numbers are scaled to 0 to 1, and each category is an input of its
// own.
func (t table) read(records [][]string) (*dataset, error) {
	records = slices.DeleteFunc(slices.Clone(records), func(r []string) bool { return !t.keep(r) })
	d := &dataset{rows: make([]row, len(records))}
	for _, r := range records {
		y := 0.0
		if t.one(r[t.target]) {
			y = 1
		}
		d.y = append(d.y, y)
	}
	for _, c := range t.numbers {
		v := make([]float64, len(records))
		for n, r := range records {
			var err error
			if v[n], err = strconv.ParseFloat(r[c], 64); err != nil {
				return nil, fmt.Errorf("record %d, column %d: %w", n+1, c+1, err)
			}
			if !(math.Abs(v[n]) <= 1e15) {
				return nil, fmt.Errorf("record %d, column %d: %q is not a number of at most 1e15", n+1, c+1,
					r[c])
			}
		}
		if len(v) == 0 {
			break
		}
		d.columns = append(d.columns, d.width)
		lo, hi := slices.Min(v), slices.Max(v)
		for n, x := range v {
			if x > lo {
				d.rows[n].index = append(d.rows[n].index, d.width)
				d.rows[n].value = append(d.rows[n].value, (x-lo)/(hi-lo))
			}
		}
		d.width++
	}
	for _, c := range t.categories {
		var words []string
		for _, r := range records {
			words = append(words, r[c])
		}
		d.columns = append(d.columns, d.width)
		slices.Sort(words)
		words = slices.Compact(words)
		for n, r := range records {
			at, _ := slices.BinarySearch(words, r[c])
			d.rows[n].index = append(d.rows[n].index, d.width+at)
			d.rows[n].value = append(d.rows[n].value, 1)
		}
		d.width += len(words)
	}
	return d, nil
}

// parse reads comma-separated records of the given number of fields. Shorter lines than two fields,
// such as the first of adult.test, are left out.
func parse(r io.Reader, fields int) ([][]string, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	in.TrimLeadingSpace = true
	var all [][]string
	for {
		rec, err := in.Read()
		switch {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, err
		case len(rec) == 1:
			continue
		case len(rec) != fields:
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("line %d has %d fields, want %d", line, len(rec), fields)
		}
		all = append(all, rec)
	}
}

// compas predicts whether somebody is arrested again within two years. The filter comes from
// ProPublica's analysis, as in DLP: 6,172 people.
func compas(file string) (*dataset, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	records, err := parse(f, 53)
	_ = f.Close()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%s: no records", file)
	}
	head := records[0]
	col := map[string]int{}
	for i, name := range head {
		col[name] = i
	}
	var at []int
	for _, name := range []string{"priors_count", "juv_fel_count", "juv_misd_count",
		"juv_other_count", "age", "race", "sex", "two_year_recid", "days_b_screening_arrest",
		"is_recid", "c_charge_degree", "score_text"} {
		i, ok := col[name]
		if !ok {
			return nil, fmt.Errorf("%s: no column %s", file, name)
		}
		at = append(at, i)
	}
	d, err := table{numbers: at[:5], categories: at[5:7], target: at[7],
		one: func(s string) bool { return s == "1" },
		keep: func(r []string) bool {
			days, err := strconv.ParseFloat(r[at[8]], 64)
			return err == nil && days >= -30 && days <= 30 && r[at[9]] != "-1" && r[at[10]] <= "O" &&
				r[at[11]] != "N/A"
		}}.read(records[1:])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// adult predicts whether somebody earned above 50,000 dollars. Records with unknown entries are
// left out, as is the name of the education, which is there as a number too.
func adult(files ...string) (*dataset, error) {
	var records [][]string
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		r, err := parse(f, 15)
		_ = f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		records = append(records, r...)
	}
	d, err := table{numbers: []int{0, 2, 4, 10, 11, 12}, categories: []int{1, 5, 6, 7, 8, 9, 13},
		target: 14,
		one:    func(s string) bool { return strings.HasPrefix(s, ">50K") },
		keep:   func(r []string) bool { return !slices.Contains(r, "?") }}.read(records)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(files, ", "), err)
	}
	return d, nil
}

// split draws four fifths of the rows for training and the others for tests, as in DLP.
func (d *dataset) split(rng *rand.Rand) (train, test *dataset) {
	order := rng.Perm(len(d.rows))
	pick := func(ns []int) *dataset {
		s := &dataset{width: d.width, columns: d.columns}
		for _, n := range ns {
			s.rows, s.y = append(s.rows, d.rows[n]), append(s.y, d.y[n])
		}
		return s
	}
	n := len(order) * 4 / 5
	return pick(order[:n]), pick(order[n:])
}

// made is data of a network of the same kind, with noise, for the case without files.
func made(rng *rand.Rand, rows, width int) *dataset {
	d := &dataset{width: width}
	for k := range width {
		d.columns = append(d.columns, k)
	}
	n := newNetwork(width, 3)
	w := make([]float64, n.weights())
	for i := range w {
		w[i] = float64(2*rng.IntN(2) - 1)
	}
	for range rows {
		r := row{}
		for k := range width {
			r.index, r.value = append(r.index, k), append(r.value, rng.Float64())
		}
		d.rows = append(d.rows, r)
	}
	in := standardise(d)
	for k := range d.rows {
		y := 0.0
		if rng.Float64() < n.output(in, k, w) {
			y = 1
		}
		d.y = append(d.y, y)
	}
	return d
}
