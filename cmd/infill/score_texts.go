package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/settings"
)

// checkTexts refuses what is of files, and texts that are names of files.
func (f *scoreFlags) checkTexts(c *cli.Context, std console.IO) error {
	if f.output != "" {
		return usagef("%s goes with --file FILE", f.outputFlag.Spelling())
	}
	ofFiles := []string{"max-errors", "ok-if-lines-fail", "by"}
	for _, s := range settings.FileTable() {
		ofFiles = append(ofFiles, s.Name)
	}
	if err := cmdline.GoesWith(c, "--file FILE", ofFiles...); err != nil {
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
			lines := ""
			if ranked != nil {
				lines = rankedLines(std.Out, ranked)
			} else {
				lines = f.scoredLines(std.Out, rec.(*jsonl.Scored))
			}
			_, err = io.WriteString(std.Out, lines)
			return err
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
