package measure

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"infill/infill"
	"infill/report/read"
)

// mostLabels is how many labels of a file have numbers of their own.
const mostLabels = 12

// labels adds the metrics of each label, file beside file.
func (out *EvalResult) labels(sets []*set, like *measured) error {
	files := map[string][]*set{}
	for _, s := range sets {
		if len(s.labels) > mostLabels {
			out.Notes = append(out.Notes, fmt.Sprintf("%s has more than %d labels, which have no numbers "+
				"of their own", s.name, mostLabels))
			continue
		}
		for label := range s.labels {
			files[label] = append(files[label], s)
		}
	}
	for _, label := range slices.Sorted(maps.Keys(files)) {
		for _, s := range files[label] {
			m := *like
			m.set = s.of(s.labels[label])
			row, err := m.row(ofLabel)
			if err != nil {
				return err
			}
			if row.Name = label; len(sets) > 1 {
				row.Name += ", " + s.name
			}
			out.ByLabel = append(out.ByLabel, row)
		}
	}
	return nil
}

// exampleOf are the examples of a file, with labels in place of samplers.
func exampleOf(f *read.File) Example {
	e := Example{Text: f.Name}
	for _, x := range f.Examples {
		i := slices.IndexFunc(e.Samplers, func(s ExampleFillings) bool { return s.Sampler == x.Label })
		if i < 0 {
			i = len(e.Samplers)
			e.Samplers = append(e.Samplers, ExampleFillings{Sampler: x.Label})
		}
		filling := infill.Filling{Text: x.Text, Spans: x.Spans, Score: math.NaN()}
		if x.Score != nil {
			filling.Score = *x.Score
		}
		run := SentenceRun{Fillings: []infill.Filling{filling}}
		e.Samplers[i].Texts = append(e.Samplers[i].Texts, run.example("", 1).Texts...)
	}
	return e
}
