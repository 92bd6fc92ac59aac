package protocols

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"infill/infill"
)

// maskedSentences are the flags of the sentences whose words are blanked out by a rate. Runs name
// the files and the rate only.
const maskedSentences = " -words 10-25 -limit 100"

// commands prints what makes the runs of the groups and the page. Groups that differ only in their
// budget have one command.
func (p *pager) commands(w io.Writer, groups []*measured) {
	model := groups[0].Model
	if model != smallModel {
		model = "-model " + model
	} else {
		model = ""
	}
	names := p.job.samplers
	fmt.Fprintf(w, "\n```sh\nD=../shared/data/eval\nS=%q\nM=%q\n", names, model)
	fmt.Fprint(w, "run() { bin/lab protocols run $M -o runs.jsonl \"$@\"; }\n")
	var commands []string // in the order of the groups
	budgets := map[string][]string{}
	for _, m := range groups {
		c := m.command(names)
		if budgets[c] == nil {
			commands = append(commands, c)
		}
		budgets[c] = append(budgets[c], m.Budget)
	}
	for _, c := range commands {
		fmt.Fprintf(w, "run%s -budget %q\n", c, strings.Join(budgets[c], " "))
	}
	fmt.Fprint(w, "bin/lab protocols page -stored $M -samplers \"$S\"")
	if len(p.references) > 0 {
		fmt.Fprintf(w, " -references %s", inFolder(p.references))
	}
	fmt.Fprint(w, " -runs runs.jsonl -o page.md\n```\n")
}

// command has the flags of a group but that of its budget. S stands for the samplers names.
func (m *measured) command(names string) string {
	files := strings.Split(m.Data, ", ")
	flags := " -data " + inFolder(files)
	if m.MaskRate > 0 {
		flags += maskedSentences + fmt.Sprintf(" -mask-rate %g", m.MaskRate)
	}
	if m.Vocab != "" {
		flags += " -vocab " + m.Vocab
	}
	if m.Steps != infill.PublishedSteps {
		flags += fmt.Sprintf(" -steps %d", m.Steps)
	}
	if len(m.early) > 0 {
		flags += " -at " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(m.early)), ","), "[]")
	}
	if m.Chains != infill.DefaultChains {
		flags += fmt.Sprintf(" -chains %d", m.Chains)
	}
	samplers := `"$S"`
	if !slices.Equal(m.samplers, strings.Fields(names)) {
		samplers = fmt.Sprintf("%q", strings.Join(m.samplers, " "))
	}
	if m.Precision != "" {
		flags += " -precision " + m.Precision
	}
	return flags + fmt.Sprintf(" -samplers %s -protocols %s -seeds %s", samplers, m.Protocol,
		m.seedRange())
}

// inFolder are files of the folder D.
func inFolder(files []string) string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = "$D/" + path.Base(f)
	}
	return strings.Join(out, ",")
}

// seedRange is -seeds of the group.
func (m *measured) seedRange() string {
	first, last := m.seeds[0], m.seeds[len(m.seeds)-1]
	if first == 1 {
		return fmt.Sprint(last)
	}
	return fmt.Sprintf("%d-%d", first, last)
}
