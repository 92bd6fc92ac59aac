package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/infill/text"
)

// foreignFlag is what other tools call something, and what to type here.
type foreignFlag struct {
	names string // separated by spaces, with dashes and not underscores
	// flag is the flag that does it, without dashes. A command that lacks it takes another row.
	flag string
	// in are the only commands that the row is for, separated by spaces; "" for all.
	in  string
	say string // what to type, in place of the flag alone; %s is the command, such as infill fill
}

// What other tools call a file of texts and a text. Both have --input, and the file comes first.
const (
	fileNames = "input-csv input-file input infile in data dataset file f i src inputs"
	textNames = "text sentence prompt inputs input"
)

// foreignFlags are the flags of other tools for filling, sampling and augmenting, in the order in
// which a flag is compared with them.
var foreignFlags = []foreignFlag{
	{"top-k topk k n-best num num-return-sequences num-results num-sequences", "top", "", "--top N"},
	{"words n-words word-count", "", "fill batch",
		"a count in the blank: [MASK*2w], or [MASK*1-3w] for one to three words"},
	{"exclude without not-words", "ban", "", "--ban WORDS"},
	{"diverse diversity variety", "select", "", "--select diverse"},
	{"fast quick", "effort", "", "--effort quick, or --model small"},
	{"per-word by-word", "", "score", "--per word -o FILE, with --file"},
	{"span-offsets", "offsets", "", "--offsets WORD; labels are found by their form"},
	{"top-k topk num-aug n-aug naug num-variants num-samples num-return-sequences", "variants", "",
		"--variants N"},
	{"targets candidates options choices", "", "", "the words in the blank: %s \"The car is " +
		"[MASK|red|green].\", or rank them: infill score \"TEXT\" --candidates WORDS"},
	{"model-name model-id model-name-or-path model-path pretrained checkpoint tokenizer m", "model",
		"", "--model NAME"},
	{"type task pipeline task-type", "", "", "%s alone: its name says what is done"},
	{"port host listen bind p", "addr", "", "--addr HOST:PORT, such as --addr 127.0.0.1:8080"},
	{fileNames, "file", "score", "--file FILE"},
	{fileNames, "", "batch augment cloze eval compare", "the file as an argument: %s FILE"},
	{textNames, "", "fill augment score tokenize", "the text as an argument: %s \"TEXT\""},
	{textNames, "", "batch cloze eval compare", "infill fill \"TEXT\""},
	{"output-csv output-file out outfile output-dir dest", "output", "", "-o FILE"},
	{"column col text-column text-col input-column field", "text-field", "", "--text-field NAME"},
	{"batch-size bs per-device-batch-size", "threads", "",
		"%s without it: rows are put into batches by themselves; --threads N says how many at a time"},
	{"num-workers workers jobs j n-jobs", "threads", "", "--threads N"},
	{"mask-prob mlm-probability mask-probability aug-p mask-ratio", "mask-rate", "", "--mask-rate X"},
	{"aug-max num-masks n-masks mask-count", "mask-words", "", "--mask-words N"},
	{"num-beams beams beam beam-size beam-width", "effort", "", "--effort quick|normal|thorough"},
	{"gpu cuda use-gpu use-cuda", "device", "", "--device NAME; infill doctor lists the devices"},
	{"random-seed random-state", "seed", "", "--seed N"},
	{"stopwords stop-word", "stop-words", "", "--stop-words FILE"},
	{"num-steps iterations iters n-iter", "steps", "", "--steps N"},
	{"num-chains n-chains", "chains", "", "--chains N"},
	{"fp16 bf16 int8 dtype quantize", "precision", "", "--precision WORD"},
	{"score-model", "judge", "", "--judge MODEL, for the perplexity of the fillings by that model"},
	{"log-z", "marginals", "", "--marginals, which estimates the probabilities of whole texts"},
	{"paper", "", "compare", "bin/lab protocols run -protocols R, of the laboratory in the " +
		"repository, which repeats experiments of papers"},
	{"label labels label-column label-col label-field", "", "augment batch",
		"%s without it: all other columns and fields are kept, labels too; --text-field NAME is " +
			"the text"},
	{"every every-n nth every-nth", "mask-rate", "",
		"--mask-rate X, such as 0.2 for one word of five"},
	{"surprisal surprisals", "bits", "score", "--bits, which prints the surprisal of each word"},
	{"max-length max-len truncate truncation", "long", "", "--long window, which is the default"},
}

// foreign says what to type in place of a flag of another tool or, without dashes, of a command;
// "" for one that is not known.
func foreign(c *cli.Command, typed string) string {
	command := strings.TrimPrefix(strings.TrimPrefix(c.HelpName, "infill"), " ")
	if !strings.HasPrefix(typed, "-") {
		for _, f := range foreignCommands {
			if f.of == command && slices.Contains(strings.Fields(f.names), strings.ToLower(typed)) {
				return f.say
			}
		}
		return ""
	}
	name := strings.ReplaceAll(strings.ToLower(strings.TrimLeft(typed, "-")), "_", "-")
	if "--"+name != typed && cmdline.Of(c, name) != nil {
		return "--" + name
	}
	for _, f := range foreignFlags {
		if slices.Contains(strings.Fields(f.names), name) &&
			(f.flag == "" || cmdline.Of(c, f.flag) != nil) &&
			(f.in == "" || slices.Contains(strings.Fields(f.in), command)) {
			return strings.ReplaceAll(f.say, "%s", c.HelpName)
		}
	}
	return ""
}

// foreignCommands have the names of commands in other tools, or in earlier builds, separated by
// spaces, and the command to type here. A row for commands of a group has its name, such as model.
var foreignCommands = []struct{ of, names, say string }{
	{"", "pull download", "infill model pull NAME"},
	{"", "run predict generate unmask fill-mask", "infill fill \"TEXT\""},
	{"", "mask", "infill fill --mask-words 1 \"TEXT\""},
	{"", "list ls models", "infill model list"},
	{"model", "ls", "infill model list"},
	{"", "show info", "infill model info NAME"},
	{"", "install setup", "infill doctor --install"},
	{"", "start server web", "infill serve"},
	{"", "evaluate bleu self-bleu diversity", "infill eval FILE"},
	{"", "ppl", "infill score \"TEXT\""},
	{"", "perplexity", "infill eval FILE --judge MODEL, or infill score \"TEXT\" for one text"},
	{"", "pairs minimal-pairs", "infill score --file FILE --pairs GOOD,BAD"},
	{"", "rank", "infill score \"TEXT\" --candidates WORDS"},
	{"", "surprisal", "infill score --bits \"TEXT\", which prints the surprisal of each word"},
	{"", "benchmark", "infill cloze FILE"},
	{"model", "eval", "infill cloze FILE --mask-words 1, which counts the words that come back, or " +
		"infill eval FILE --judge MODEL for the perplexity of texts"},
	{"model", "check", "infill model info NAME, which names what has no gradient; in the repository " +
		"bin/lab gradients compares a model with its file"},
}

// asFill puts the name of the command before a text that stands in the place of one: what has a
// blank or, as the first argument, a space.
func asFill(root *cli.Command, args []string) []string {
	isText := func(a string) bool { return !cmdline.IsFlag(a) && text.LooksBlank(a) }
	isCommand := func(a string) bool { return root.Command(a) != nil }
	switch {
	case len(args) == 0 || slices.ContainsFunc(args, isCommand):
		return args
	case isText(args[0]), !cmdline.IsFlag(args[0]) && strings.Contains(args[0], " "),
		cmdline.IsFlag(args[0]) && slices.ContainsFunc(args, isText):
		return append([]string{"fill"}, args...)
	}
	return args
}
