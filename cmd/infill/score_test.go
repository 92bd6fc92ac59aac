package main

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"

	"infill/infill/settings"
	"infill/mlm"
)

// The manifest of a file of scores has what decides them.
func TestScoreManifest(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"candidates": "", "energy": "", "score": "", "normalize": "none", "case": "auto",
		"long": "window", "low-memory": "false", "device": mlm.CPUDevice, "words": "false", "word-parts": "false",
		"offsets": "auto", "pairs": "", "shared": "false", "typography": "auto", "input": "",
	}
	f := &scoreFlags{modelFlags: modelFlags{Model: *settings.ModelDefaults()}}
	f.Options.Device = mlm.CPUDevice                        // as it was opened
	f.Options.Precision, f.Options.Threads = mlm.Float16, 7 // decide no score
	got, err := f.recorded()
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	f.Options.Device, f.Options.LowMemory, f.Options.Precision = "other", true, mlm.Int8
	want["device"], want["low-memory"], want["precision"] = "other", "true", "int8"
	if got, err = f.recorded(); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// What is not ranked, and why, is said once on standard error.
func TestCandidatesLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list, text, says string
		lines, code      int
	}{
		{"cat,dog", "the [MASK/dog/] sleeps .",
			"left out, since the count or the expression of the blank does not allow it: cat\n", 1, 0},
		{"cat,dog,old dog", "the [MASK*1] sleeps .", "does not allow it: old dog\n", 2, 0},
		{"cat,Cat,CAT,cat", "the [MASK] sleeps .",
			"left out, since the model spells it like another: Cat as cat, CAT as cat\n", 1, 0},
		{"cat,dog", "the [MASK|bear|fish] sleeps .",
			"ranked in place of what the blank lists: bear, fish\n", 2, 0},
		{"cat, dog", "the [MASK] sleeps .", "", 2, 0},
		{"cat,,dog", "the [MASK] sleeps .", "want words with commas between, none of them empty\n", 0,
			exitUsage},
	} {
		args := withTiny("score", "--candidates", c.list)
		r := infillRun(strings.Repeat(c.text+"\n", 2), append(args, "-")...)
		const score = "score of candidates: blended, half pll, half the pieces in order from both ends\n"
		if c.code == 0 && strings.Count(r.err, score) != 1 {
			t.Errorf("%s for %s: %q does not name the score once", c.list, c.text, r.err)
		}
		r.err = strings.Replace(r.err, score, "", 1)
		says := r.err == "" && c.says == "" || c.says != "" && strings.Count(r.err, c.says) == 1 &&
			strings.Count(r.err, "infill: ") == 1
		if r.code != c.code || !says || strings.Count(r.out, "\n") != 2*c.lines {
			t.Errorf("%s for %s: exit %d: %s%s", c.list, c.text, r.code, r.out, r.err)
		}
		r = infillRun("", append(args, "--quiet", c.text)...)
		if c.code == 0 && r.err != "" {
			t.Errorf("%s for %s: --quiet: %s", c.list, c.text, r.err)
		}
	}
}

// The sum of the words stands beside the score of a text where it is another one.
func TestScoreAndWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags []string
		text  string
		says  bool
	}{
		{nil, "He bought a souvenir.", true},
		{[]string{"--score", "within-word"}, "He bought a souvenir.", false},
		{nil, "He bought a car.", false},
	} {
		args := append([]string{"score", "--quiet", "--model", "small"}, c.flags...)
		r := infillRun("", append(args, c.text)...)
		first, words, _ := strings.Cut(r.out, "\n")
		sum, total := 0.0, 0.0
		for line := range strings.Lines(words) {
			x, _ := strconv.ParseFloat(strings.Fields(line)[0], 64)
			sum += x
		}
		_, printed, is := strings.Cut(first, "(words, within-word: ")
		if !is {
			printed = first
		}
		_, err := fmt.Sscan(strings.Replace(printed, ")", " ", 1), &total)
		if err != nil || is != c.says || math.Abs(total-sum) > .05 {
			t.Errorf("%q: %q, of words %v: %v", c.flags, first, sum, err)
		}
	}
}

// A line on standard error names the score, once for texts and once for candidates. Records name it
// themselves.
func TestScoreNamed(t *testing.T) {
	t.Parallel()
	const (
		text  = "the dog sleeps in the house ."
		blank = "the [MASK|dog|cat] sleeps ."
		pll   = "score: pll, each piece beside all others\n"
	)
	for _, c := range []struct {
		flags []string
		says  string
	}{
		{nil, pll + "score of candidates: blended, half pll, half the pieces in order from both ends\n"},
		{[]string{"--score", "pll"}, pll + "score of candidates: pll, each piece beside all others\n"},
		{[]string{"--score", "blended"},
			"score: blended, half pll, half the pieces in order from both ends\n" +
				"score of candidates: blended, half pll, half the pieces in order from both ends\n"},
		{[]string{"--quiet"}, ""},
		{[]string{"--json"}, ""},
	} {
		texts := []string{text, text, blank, text, blank}
		r := infillRun("", withTiny(append(append([]string{"score"}, c.flags...), texts...)...)...)
		if r.code != exitOK || r.err != c.says {
			t.Errorf("%q: exit %d, %q, want %q", c.flags, r.code, r.err, c.says)
		}
	}
	r := infillRun("", withTiny("score", "--score", "within-word", text)...)
	const within = "score: within-word, each piece beside all others but the later ones of its word\n"
	if r.code != exitOK || r.err != within {
		t.Errorf("exit %d, %q, want %q", r.code, r.err, within)
	}
	// Where nothing is printed no score is named.
	if r := infillRun("", withTiny("score", "the [MASK] sleeps .")...); strings.Contains(r.err, "score:") {
		t.Errorf("%q", r.err)
	}
}
