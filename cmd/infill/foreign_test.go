package main

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
)

// What other tools call a flag or a command is answered with what to type here, also with
// underscores. Each answer's own flags are flags of the command.
func TestForeign(t *testing.T) {
	t.Parallel()
	const text = "The [MASK] sat."
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"fill", "--top_k", "3", text}, "infill fill has no flag --top_k; type --top N\n"},
		{[]string{"fill", "--top-k=3", text}, "type --top N\n"},
		{[]string{"fill", "--num_return_sequences", "3", text}, "type --top N\n"},
		{[]string{"fill", "--targets", "cat", text}, "[MASK|red|green]"},
		{[]string{"fill", "--model_name", "bert", text}, "type --model NAME\n"},
		{[]string{"fill", "--model-id", "bert", text}, "type --model NAME\n"},
		{[]string{"fill", "-m", "bert", text}, "type --model NAME\n"},
		{[]string{"fill", "--type=fillMask", text}, "infill fill alone"},
		{[]string{"fill", "--no_repeat", "text", text}, "type --no-repeat\n"},
		{[]string{"fill", "--No-Repeat", "text", text}, "type --no-repeat\n"},
		{[]string{"fill", "--topp", "3", text}, "did you mean --top?\n"},
		{withTiny("fill", "--device", "0", text), "infill doctor lists the devices"},
		{withTiny("fill", "--start", "sequential", text), "want masked|argmax|original|random, or a file"},
		{[]string{"serve", "--port", "8080"}, "type --addr HOST:PORT"},
		{[]string{"augment", "--input-csv", "x.csv"}, "infill augment FILE"},
		{[]string{"score", "--input", "x"}, "type --file FILE\n"},
		{[]string{"score", "--text", "x"}, "infill score \"TEXT\"\n"},
		{[]string{"fill", "--input", "x"}, "infill fill \"TEXT\"\n"},
		{[]string{"augment", "--text", "x"}, "infill augment \"TEXT\"\n"},
		{[]string{"batch", "--input", "x"}, "type the file as an argument: infill batch FILE\n"},
		{[]string{"cloze", "--input", "x"}, "type the file as an argument: infill cloze FILE\n"},
		{[]string{"eval", "--file", "x"}, "type the file as an argument: infill eval FILE\n"},
		{[]string{"compare", "--file", "x"}, "type the file as an argument: infill compare FILE\n"},
		{[]string{"batch", "--text", "x"}, "type infill fill \"TEXT\"\n"},
		{[]string{"eval", "--text", "x"}, "type infill fill \"TEXT\"\n"},
		{[]string{"model", "check", "x"}, "type infill model info NAME, which names what has no gradient"},
		{[]string{"augment", "--num_aug", "3", "x.csv"}, "type --variants N\n"},
		{[]string{"batch", "--batch_size", "8", "x.txt"}, "infill batch without it"},
		{[]string{"fill", "--num", "3", text}, "type --top N\n"},
		{[]string{"fill", "--words", "3", text}, "[MASK*2w], or [MASK*1-3w] for one to three words"},
		{[]string{"fill", "--exclude", "cat", text}, "type --ban WORDS\n"},
		{[]string{"fill", "--diverse", text}, "type --select diverse\n"},
		{[]string{"fill", "--fast", text}, "type --effort quick, or --model small\n"},
		{[]string{"score", "--per-word", "x"}, "type --per word -o FILE, with --file\n"},
		{[]string{"augment", "--span-offsets", "utf16", "x"}, "type --offsets WORD; labels are found"},
		{[]string{"model", "ls"}, "type infill model list\n"},
		{[]string{"perplexity", "x"}, "type infill eval FILE --judge MODEL, or infill score"},
		{[]string{"pairs", "x"}, "type infill score --file FILE --pairs GOOD,BAD\n"},
		{[]string{"minimal-pairs", "x"}, "type infill score --file FILE --pairs GOOD,BAD\n"},
		{[]string{"rank", "x"}, "type infill score \"TEXT\" --candidates WORDS\n"},
		{[]string{"web"}, "type infill serve\n"},
		{[]string{"pull", "bert"}, "unknown command \"pull\"; type infill model pull NAME\n"},
		{[]string{"run", "x"}, "type infill fill \"TEXT\"\n"},
		{[]string{"surprisal", "x"}, "type infill score --bits \"TEXT\", which prints"},
		{[]string{"diversity", "x.txt"}, "type infill eval FILE\n"},
		{[]string{"model", "eval", "--text", "x"}, "unknown command \"eval\"; type infill cloze FILE " +
			"--mask-words 1, which counts the words that come back, or infill eval FILE --judge MODEL"},
		{[]string{"fill", "--log-z", text}, "type --marginals, which estimates the probabilities"},
		{[]string{"compare", "--score-model", "m", "x"}, "type --judge MODEL, for the perplexity"},
		{[]string{"score", "--surprisal", "x"}, "type --bits, which prints the surprisal"},
		{[]string{"augment", "--label", "y", "x.csv"}, "infill augment without it: all other columns"},
		{[]string{"cloze", "--every", "5", "x"}, "type --mask-rate X, such as 0.2 for one word of five"},
		{[]string{"help", "pull"}, "type infill model pull NAME\n"},
		{[]string{"fil", text}, "did you mean \"fill\"?"},
	} {
		r := infillRun("", c.args...)
		if r.code != exitUsage || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: exit %d: %swant %q", c.args, r.code, r.err, c.says)
		}
	}
	app := newRoot(console.IO{})
	for _, f := range foreignFlags {
		some := f.flag == ""
		cmdline.Each(app, func(c *cli.Command) { some = some || cmdline.Of(c, f.flag) != nil })
		if !some {
			t.Errorf("no command has the flag %s", f.flag)
		}
	}
	for _, f := range foreignCommands {
		words := strings.Fields(f.say)
		c := app.Command(words[1])
		if c == nil || len(c.Subcommands) > 0 && c.Command(words[2]) == nil {
			t.Errorf("%s: %s", f.names, f.say)
		}
		for _, name := range strings.Fields(f.names) {
			if f.of == "" && app.Command(name) != nil || f.of != "" && app.Command(f.of).Command(name) != nil {
				t.Errorf("%s is a command of its own", name)
			}
		}
	}
}

// A text with a blank in place of a command is filled, and -n5 is -n 5.
func TestTextInPlaceOfACommand(t *testing.T) {
	t.Parallel()
	const text = "the [MASK] sleeps ."
	want := infillRun("", withTiny("fill", "--top", "2", "--quiet", text)...)
	for _, args := range [][]string{{text, "--top", "2"}, {"--top", "2", text}, {text, "-n2"},
		{"fill", "-n2", text}} {
		r := infillRun("", append(args, "--quiet", "--model", tinyModel)...)
		if r.code != exitOK || r.out != want.out || strings.Count(r.out, "\n") != 2 {
			t.Errorf("%q: exit %d, %s%s, want %s", args, r.code, r.out, r.err, want.out)
		}
	}
}
