package measure

import "strings"

// examples picks sources spread evenly over the input, so that a file made of two
// corpora shows both.
func (c *Comparison) examples(o CompareOptions) []Example {
	want := min(o.Examples, len(c.Sources))
	var out []Example
	for k := range want {
		i := k * len(c.Sources) / want
		e := Example{Text: c.Sources[i].Text, Gold: c.Sources[i].Gold}
		for _, run := range c.Samplers {
			e.Samplers = append(e.Samplers, run.Sentences[i].example(run.Name, o.Top))
		}
		out = append(out, e)
	}
	return out
}

func (s SentenceRun) example(name string, top int) ExampleFillings {
	out := ExampleFillings{Sampler: name, Err: s.Err}
	seen := map[int]map[string]bool{}
	for k, f := range s.Fillings {
		if k == top {
			break
		}
		p := ExampleFilling{Score: Number(f.Score)}
		at := 0
		for b, span := range f.Spans {
			if at < span[0] {
				p.Parts = append(p.Parts, Part{Text: f.Text[at:span[0]]})
			}
			word := f.Text[span[0]:span[1]]
			if seen[b] == nil {
				seen[b] = map[string]bool{}
			}
			part := Part{Text: word, Generated: true, Repeated: seen[b][word]}
			seen[b][word] = true
			out.Generated++
			if part.Repeated {
				out.Repeated++
			}
			p.Parts = append(p.Parts, part)
			at = span[1]
		}
		if at < len(f.Text) {
			p.Parts = append(p.Parts, Part{Text: f.Text[at:]})
		}
		out.Texts = append(out.Texts, p)
	}
	return out
}

// ScoreText is the score as reports print it, with a real minus sign. The template calls it.
func (p ExampleFilling) ScoreText() string {
	return strings.Replace(decimal(float64(p.Score), 2), "-", "−", 1)
}
