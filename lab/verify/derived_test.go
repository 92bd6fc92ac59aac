package verify

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sectionOf is a section of the page.
func sectionOf(t *testing.T, id string) string {
	t.Helper()
	page, err := os.ReadFile("../notebook/verification.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "\n## "+id+". ")
	if !ok {
		t.Fatalf("the page has no section %s", id)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}

var firstNumber = regexp.MustCompile(`[-+]?\d*\.?\d+(e[-+]?\d+)?`)

// table are the numbers of the table whose heading begins as given, by its first column: of a cell
// with an error both, of others the first.
func table(t *testing.T, body, head string) map[string][][2]float64 {
	t.Helper()
	_, rest, ok := strings.Cut(body, "\n"+head)
	if !ok {
		t.Fatalf("no table %q", head)
	}
	out := map[string][][2]float64{}
	for j, line := range strings.Split(rest, "\n")[2:] {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			if j == 0 {
				t.Fatalf("table %q is empty", head)
			}
			break
		}
		var row [][2]float64
		for _, cell := range cells[2 : len(cells)-1] {
			mean, se, _ := strings.Cut(cell, "±")
			pair := [2]float64{math.NaN(), math.NaN()}
			for k, part := range []string{mean, se} {
				if v, err := strconv.ParseFloat(firstNumber.FindString(part), 64); err == nil {
					pair[k] = v
				}
			}
			row = append(row, pair)
		}
		out[strings.TrimSpace(cells[1])] = row
	}
	return out
}

// says fails where a section does not have the words, wherever its lines end.
func says(t *testing.T, body, words string) {
	t.Helper()
	if !strings.Contains(strings.Join(strings.Fields(body), " "), words) {
		t.Errorf("by its tables the section should say %q", words)
	}
}

// TestNotesOfDLP works out again, from its tables, what the text of section 10 says.
func TestNotesOfDLP(t *testing.T) {
	t.Parallel()
	body := sectionOf(t, "10")
	flips := table(t, body, "| sampler | paper | sites")
	six, eight := flips["GWG-6"], flips["GWG-8"]
	share := (6 - six[1][0]) / (eight[1][0] - six[1][0])
	says(t, body, fmt.Sprintf("accept %.0f %% by this table", 100*(six[2][0]+share*(eight[2][0]-six[2][0]))))
	says(t, body, fmt.Sprintf("six sites and accepts %.0f %%", 100*flips["DMALA, α = 0.6"][2][0]))
	says(t, body, fmt.Sprintf("GWG-6 accepts %.0f %%", 100*six[2][0]))

	all := table(t, body, "| sampler | log RMSE after 1000 steps")
	dmala, gibbs, gwg4 := all["DMALA"], all["Gibbs-1"], all["GWG-4"]
	for name, row := range all {
		if name != "DMALA" && !(dmala[1][0] < row[1][0]) {
			t.Errorf("%s has a smaller error than DMALA: %v, %v", name, row[1], dmala[1])
		}
		if ess := row[8][0]; name != "Gibbs-1" && ess > gibbs[8][0] {
			t.Errorf("%s has more ESS a second than Gibbs-1", name)
		}
	}
	says(t, body, fmt.Sprintf("with %.0f %% less ESS", 100*(1-gwg4[4][0]/dmala[4][0])))
	says(t, body, fmt.Sprintf("Here it is %.0f", gibbs[8][0]/gibbs[4][0]/(dmala[8][0]/dmala[4][0])))
	says(t, body, fmt.Sprintf("DMALA would have %.1f times the ESS", dmala[4][0]/gibbs[4][0]/2.5))
	_, mean, err := dlpIsing(.1)
	if err != nil {
		t.Fatal(err)
	}
	fair := math.Log((1-mean[0]*mean[0])/particles) / 2
	says(t, body, fmt.Sprintf("at %.1f times the error of %d independent draws, which is −%.2f",
		math.Exp(all["DSVGD"][1][0]-fair), particles, -fair))

	ends := table(t, body, "| sampler | steps | evaluations")
	for a := range 6 {
		best := ends["DMALA"][4+a]
		for _, name := range []string{"Gibbs-1", "GWG-1", "DULA"} {
			other := ends[name][4+a]
			gap := (other[0] - best[0]) / math.Hypot(other[1], best[1])
			if gap <= 0 || a < 4 && gap < 1 || a >= 4 && name == "GWG-1" && gap > 1 {
				t.Errorf("column %d: %s lies %.1f errors behind DMALA", a, name, gap)
			}
		}
	}
}

// TestNotesOfDLMC does the same for section 11.
func TestNotesOfDLMC(t *testing.T) {
	t.Parallel()
	body := sectionOf(t, "11")
	_, calls, _ := strings.Cut(body, "ESS of 50,000 steps per call:")
	rows := table(t, calls, "| model | DMALA √")
	quotients := table(t, body, "| model | DMALA | PAS")
	first, clear, better, pairs := 0, 0, 0, 0
	low, high := math.Inf(1), 0.0
	for name, row := range rows {
		best := func(from int) (top [2]float64) {
			for _, v := range row[from : from+4] {
				if v[0] > top[0] {
					top = v
				}
			}
			return top
		}
		others, ours := best(0), best(4)
		if ours[0] > others[0] {
			first++
			if ours[0]-others[0] > 2*math.Hypot(ours[1], others[1]) {
				clear++
			}
		}
		if q := ours[0] / others[0]; math.Abs(q-quotients[name][4][0]) > .006*math.Max(1, q) {
			t.Errorf("%s: %.3f in place of %v", name, q, quotients[name][4])
		}
		for j := range 4 {
			root, ratio := row[2*j], row[2*j+1]
			q := ratio[0] / root[0]
			if math.Abs(q-quotients[name][j][0]) > .006*math.Max(1, q) {
				t.Errorf("%s: %.3f in place of %v", name, q, quotients[name][j])
			}
			if !strings.HasPrefix(name, "FHMM") {
				continue
			}
			pairs++
			if q < 1 {
				better++
			} else if gap := (ratio[0] - root[0]) / math.Hypot(ratio[1], root[1]); gap > 1.5 {
				t.Errorf("%s: t/(1+t) is better by %.1f errors", name, gap)
			}
		}
		if strings.HasPrefix(name, "Bern") || strings.HasPrefix(name, "cat") {
			for _, v := range row[4:6] {
				low, high = math.Min(low, v[0]), math.Max(high, v[0])
			}
		}
	}
	says(t, body, fmt.Sprintf("They are in %d of %d rows: in %s by more than two standard errors of the "+
		"difference, and in %s by less", first, len(rows), inWords(clear), inWords(first-clear)))
	says(t, body, fmt.Sprintf("It is in %d of %d pairs", better, pairs))
	turned := 0
	for _, row := range quotients {
		if row[7][0] > 0 {
			turned++
		}
	}
	says(t, body, fmt.Sprintf("Doubling changes no clear order in %d of %d rows", len(rows)-turned,
		len(rows)))
	thousand := func(v float64) string { return fmt.Sprintf("%d,%03d", int(v)/1000, int(v)%1000) }
	says(t, body, fmt.Sprintf("It has %s to %s here", thousand(low), thousand(high)))
	sharp := quotients["Bernoulli, variance 12.5"]
	says(t, body, fmt.Sprintf("at 12.5 it wins by %.1f for DMALA, %.1f for PAS and %.1f for DLMCf",
		sharp[0][0], sharp[1][0], sharp[3][0]))
	stored := table(t, sectionOf(t, "6"), "| sampler | stored | here | deviation | later x0 | Geyer")
	var theirs, here []float64
	for i, name := range []string{"PAS √", "PAS ratio", "DLMC √", "DLMC ratio", "DLMCf √", "DLMCf ratio"} {
		theirs = append(theirs, stored[name][0][0]/4)
		here = append(here, rows["Ising, high, public code"][2+i][0])
	}
	says(t, body, fmt.Sprintf("are %.0f to %.0f, and here %.0f to %.0f", slices.Min(theirs),
		slices.Max(theirs), slices.Min(here), slices.Max(here)))
}

// inWords is a small number.
func inWords(n int) string {
	words := strings.Fields("none one two three four five six seven eight nine ten eleven twelve")
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// TestNotesOfDISCS does the same for the averages of section 6.
func TestNotesOfDISCS(t *testing.T) {
	t.Parallel()
	body := sectionOf(t, "6")
	rows := table(t, body, "| sampler | stored | here | deviation | later x0 | Geyer")
	logs, others := 0.0, [4]float64{}
	near := 0
	errors := regexp.MustCompile(`([-+][\d.]+) s\.e\.`).FindAllStringSubmatch(body, len(rows))
	for _, m := range errors {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil && math.Abs(v) <= 1.6 {
			near++
		}
	}
	for name, row := range rows {
		if name == "RWM" {
			continue
		}
		logs += math.Log(row[1][0]/row[0][0]) / float64(len(rows)-1)
		for j := range others {
			others[j] += math.Log(row[3+j][0]/row[1][0]) / float64(len(rows)-1)
		}
	}
	says(t, body, fmt.Sprintf("here/stored is %.2f", math.Exp(logs)))
	says(t, body, fmt.Sprintf("later x0 ×%.2f, Geyer's estimator ×%.2f, 15000 steps ×%.2f, single rows ×%.2f",
		math.Exp(others[0]), math.Exp(others[1]), math.Exp(others[2]), math.Exp(others[3])))
	says(t, body, fmt.Sprintf("%s rows of the first table lie within 1.6", map[int]string{7: "Seven"}[near]))
}
