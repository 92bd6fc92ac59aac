package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/metrics/interval"
)

// ofFiles are the flags that go with files of texts alone.
func ofFiles() []string {
	names := []string{"max-errors", "ok-if-lines-fail", "by"}
	for _, s := range settings.FileTable() {
		names = append(names, s.Name)
	}
	return names
}

// checkTexts refuses what is of files, and texts that are names of files.
func (f *scoreFlags) checkTexts(c *cli.Context, std console.IO) error {
	if f.output != "" {
		return usagef("%s goes with --file FILE", f.outputFlag.Spelling())
	}
	if err := cmp.Or(cmdline.GoesWith(c, "--file FILE", ofFiles()...),
		cmdline.GoesWith(c, "--nbest FILE", "weight")); err != nil {
		return err
	}
	if path := soleFile(c.Args().Slice()); path != "" {
		const reads = "infill score --file"
		if !strings.Contains(path, " ") { // a text of one word is hardly meant
			return usagef("%s: a text is expected here; %s", path, advice.ReadsFile(path, reads))
		}
		if !f.quiet {
			sayFile(std, path, reads)
		}
	}
	if (f.pieces || f.bits) && f.json {
		return usagef("--pieces and --bits are about what is printed; records have both")
	}
	return nil
}

// scoreTexts prints the scores of the texts that are arguments, or lines of standard input.
func (f *scoreFlags) scoreTexts(c *cli.Context, std console.IO) error {
	if err := f.checkTexts(c, std); err != nil {
		return err
	}
	texts, err := manyTexts(c.Args().Slice(), std)
	if err != nil {
		return err
	}
	stream := c.NArg() == 0 || c.Args().First() == "-"
	if stream && !f.quiet {
		texts = notingJSON(std, texts, "infill score --file -")
	}
	s, err := f.open(c.Context)
	if err != nil {
		return err
	}
	defer f.closeAll()
	f.ranking.Words = f.ranking.Words || !f.json
	say := onceEach(std.Err, f.quiet)
	return eachText(std, texts, f.json, c.NArg() == 1 && !stream, f.strict,
		func(n int, text string) error {
			rec, err := s.Score(c.Context, text, f.ranking)
			if err != nil {
				return advice.OfRanking(err)
			}
			ranked, _ := rec.(*jsonl.Ranked)
			if ranked != nil {
				for _, note := range candidateNotes(s.Model.Tokenizer(), f.ranking.Candidates, ranked) {
					say("infill: --candidates: " + note)
				}
			}
			if f.json {
				rec.Of().Line = n
				return jsonl.Write(std.Out, rec)
			}
			f.sayOf(rec, say)
			if ranked != nil {
				return printText(std.Out, rankedLines(std.Out, ranked))
			}
			return printText(std.Out, f.scoredLines(std.Out, rec.(*jsonl.Scored)))
		})
}

// sayOf says what there is to know of a record that people read.
func (f *scoreFlags) sayOf(rec jsonl.Record, say func(string)) {
	switch rec := rec.(type) {
	case *jsonl.Ranked:
		say(scoringNote("score of candidates", rec.Scoring))
	case *jsonl.Scored:
		say(scoringNote("score", rec.Scoring))
		if _, other := sumOfWords(rec); other {
			say("score of words: within-word, each piece beside all others but the later ones of its word")
		}
		if rec.Windows > 0 {
			say("the text is longer than the model takes: each piece is scored with as many around it " +
				"as fit")
		}
	}
	for _, d := range jsonl.DoubtsOf(rec) {
		say(doubtNote(d, f.Name))
	}
}

// sumOfWords is the sum of the scores of words. other reports whether it is another sum than the
// text's: a word has several pieces, and they do not see its later ones.
func sumOfWords(r *jsonl.Scored) (sum float64, other bool) {
	for _, w := range r.Words {
		sum += *w.Score
		other = other || strings.Contains(w.Pieces, " ")
	}
	return sum, other && r.Scoring != infill.ScoreWithinWord.String()
}

// scoredLines are a scored text as people read it.
func (f *scoreFlags) scoredLines(out io.Writer, r *jsonl.Scored) string {
	var b strings.Builder
	words := ""
	if sum, other := sumOfWords(r); other {
		words = fmt.Sprintf("(words, within-word: %.2f)  ", sum)
	}
	fmt.Fprintf(&b, "%8.2f  %s%s%s\n", *r.Score, besides(r.Energies), words, shown(out, r.Text))
	for _, w := range r.Words {
		score, pieces := *w.Score, ""
		if f.bits {
			score = *w.Surprisal
		}
		if f.pieces {
			pieces = "  " + w.Pieces
		}
		fmt.Fprintf(&b, "  %8.2f  %s%s\n", score, shown(out, w.Word), pieces)
	}
	return b.String()
}

// rankedLines are ranked candidates as people read them.
func rankedLines(out io.Writer, r *jsonl.Ranked) string {
	var b strings.Builder
	// The mean stands where the number of tokens may decide and has no part in the score.
	open := r.Candidates[0].Length == 0 && slices.ContainsFunc(r.Candidates,
		func(c infill.Candidate) bool { return len(c.Tokens) != len(r.Candidates[0].Tokens) })
	for _, c := range r.Candidates {
		fmt.Fprintf(&b, "%8.2f  ", c.Score)
		if open {
			fmt.Fprintf(&b, "%6.2f per token  ", c.ScorePerToken)
		}
		fmt.Fprintf(&b, "%s  %s%s\n", percent(c.Share), besides(c.Energies), shown(out, c.Candidate))
	}
	return b.String()
}

// blimpPair are the fields of BLiMP's files.
var blimpPair = []string{"sentence_good", "sentence_bad"}

// ofBLiMP reports whether the first record of a file has the fields of BLiMP's.
func ofBLiMP(path string) bool {
	in, err := input.Open(path, strings.NewReader(""), input.Options{}) // a stream is not looked at
	if err != nil {
		return false
	}
	it, err := in.Next()
	_ = in.Close()
	return err == nil && !slices.ContainsFunc(blimpPair, func(name string) bool {
		return !slices.ContainsFunc(it.Fields, func(f jsonl.Field) bool { return f.Name == name })
	})
}

// checkPairs takes the file of pairs from the arguments, and the first text of a pair as its text.
func (f *scoreFlags) checkPairs(c *cli.Context) error {
	f.file, f.TextField = cmp.Or(f.file, c.Args().First()), f.ranking.Pairs[0]
	switch {
	case f.file == "" || c.NArg() > 1:
		return usagef("--pairs wants one file: infill score pairs.csv --pairs good,bad")
	case c.IsSet("text-field") || f.Per == settings.PerWord || f.Sentence != "":
		return usagef("--pairs names the columns of both texts: leave out --text-field, --per and " +
			"--sentence")
	case f.ranking.Shared && f.ranking.Energy != nil:
		return usagef("--shared sums over words, and --energy judges whole texts: leave one out")
	}
	return nil
}

// differences holds the differences of a file's pairs, of all and by the values of a field. Its
// methods are safe for concurrent use.
type differences struct {
	pairs bool   // of texts, whose first should be likelier; else of candidates
	by    string // "" for no groups

	mu     sync.Mutex
	groups map[string][]float64 // "" has all
}

// add counts a record.
func (d *differences) add(it *input.Item, rec jsonl.Record) error {
	var difference *float64
	switch r := rec.(type) {
	case *jsonl.Scored:
		difference = r.Difference
	case *jsonl.Ranked:
		difference = r.Difference
	}
	if difference == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.groups[""] = append(d.groups[""], *difference)
	for _, f := range it.Fields {
		if f.Name != d.by || d.by == "" {
			continue
		}
		name := string(f.Value)
		_ = json.Unmarshal(f.Value, &name) // another value is named as it is written
		if name != "" {
			d.groups[name] = append(d.groups[name], *difference)
		}
	}
	return nil
}

// table says how often the first is likelier, and how far apart they are, "" without pairs.
func (d *differences) table() string {
	if len(d.groups) == 0 {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	share := "first likelier"
	if d.pairs {
		share = "accuracy"
	}
	fmt.Fprintf(w, "pairs\tties\t%s (%%)\tmean difference (nats)\t  group\n", share)
	for _, name := range slices.Sorted(maps.Keys(d.groups)) { // all before the others
		list := d.groups[name]
		ties, right := 0, make([]float64, len(list))
		for i, v := range list {
			switch {
			case v > 0:
				right[i] = 100
			case v == 0:
				ties++
				right[i] = 50
			}
		}
		mean, half := meanOf(right)
		fmt.Fprintf(w, "%d\t%d\t%.1f", len(list), ties, mean)
		if half > 0 {
			fmt.Fprintf(w, " %.1f–%.1f", max(0, mean-half), min(100, mean+half))
		}
		mean, half = meanOf(list)
		fmt.Fprintf(w, "\t%+.2f", mean)
		if half > 0 {
			fmt.Fprintf(w, " ±%.2f", half)
		}
		fmt.Fprintf(w, "\t  %s\n", cmp.Or(name, "all"))
	}
	_ = w.Flush()
	return b.String()
}

// meanOf is a mean, and half of its interval of level .95 by Student's t: 0 where all are alike,
// NaN for a single one. Deviations from the first one keep alike ones exactly alike.
func meanOf(list []float64) (mean, half float64) {
	n, square := float64(len(list)), 0.0
	for _, v := range list {
		mean += (v - list[0]) / n
	}
	for _, v := range list {
		square += (v - list[0] - mean) * (v - list[0] - mean)
	}
	return list[0] + mean, interval.Student(.95, len(list)-1) * math.Sqrt(square/(n-1)/n)
}
