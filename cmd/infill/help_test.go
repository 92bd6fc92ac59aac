package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
)

// The help of every command fits 100 columns, begins with examples that the parser takes, and has
// every flag once, in a group.
func TestHelpOfEveryCommand(t *testing.T) {
	t.Parallel()
	app := newRoot(console.IO{})
	count := 0
	cmdline.Each(app, func(c *cli.Command) {
		count++
		name, flags := c.HelpName, optionsOf(c)
		r := infillRun("", append(strings.Fields(name)[1:], "--help", "all")...)
		if r.code != 0 || r.err != "" {
			t.Errorf("%s: exit %d: %s", name, r.code, r.err)
		}
		for _, line := range strings.Split(r.out, "\n") {
			if n := utf8.RuneCountInString(line); n > helpColumns {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
		// A flag that cannot be set has no part in a default.
		if probable := strings.Contains(r.out, "where probabilities are estimated"); probable &&
			!slices.ContainsFunc(flags, func(f *cmdline.Option) bool { return f.Name == "marginals" }) {
			t.Errorf("%s speaks of probabilities, which it does not estimate", name)
		}
		for _, sub := range c.Subcommands {
			if sub.Name != "help" && !sub.Hidden && !strings.Contains(r.out, "\n  "+sub.Name+"  ") {
				t.Errorf("%s: %s runs into what it does", name, sub.Name)
			}
		}
		list := strings.Split(c.UsageText, "\n")
		if many := len(flags) > 20 || name == "infill"; many && len(list) < 3 {
			t.Errorf("%s: %d examples", name, len(list))
		}
		if c.UsageText != "" && !strings.Contains(r.out, "\n\nEXAMPLES:\n  "+list[0]+"\n") {
			t.Errorf("%s does not begin with its examples:\n%s", name, r.out)
		}
		for _, f := range flags {
			if n := strings.Count(r.out, "  --"+f.Name+" ") + strings.Count(r.out, "  --"+f.Name+"\n"); n != 1 {
				t.Errorf("%s: --%s stands %d times", name, f.Name, n)
			}
			if len(flags) > 20 && f.Group == "" {
				t.Errorf("%s: --%s has no group", name, f.Name)
			}
			if argOf(f) == "TEXT" && !strings.Contains(f.Usage, "TEXT") {
				t.Errorf("%s: --%s does not say what its value is", name, f.Name)
			}
			for _, other := range regexp.MustCompile(`--([a-z][a-z-]+)`).FindAllStringSubmatch(f.Usage, -1) {
				if !slices.ContainsFunc(flags, func(f *cmdline.Option) bool { return f.Name == other[1] }) {
					t.Errorf("%s: --%s names --%s, which the command has not", name, f.Name, other[1])
				}
			}
		}
	})
	if count < 15 {
		t.Errorf("%d commands", count)
	}
	cmdline.Each(app, func(c *cli.Command) {
		for example := range strings.SplitSeq(c.UsageText, "\n") {
			args := words(example)
			if len(args) == 0 || args[0] != "infill" {
				continue
			}
			if !strings.HasPrefix(example, c.HelpName) {
				t.Errorf("%s: an example of another command: %s", c.HelpName, example)
			}
			if _, err := cmdline.Parse(newRoot(console.IO{}), args[1:], foreign); err != nil {
				t.Errorf("%s: %v", example, err)
			}
		}
	})
}

// The first 25 lines of fill's help have what most users need, and the last one names the rest.
func TestShortHelp(t *testing.T) {
	t.Parallel()
	short, all := infillRun("", "fill", "--help").out, infillRun("", "fill", "--help", "all").out
	lines := strings.Split(strings.TrimSpace(short), "\n")
	head := strings.Join(lines[:25], "\n")
	for _, want := range []string{
		"infill fill \"The [MASK] sat", "[MASK|red|green]", "--model ", "--no-repeat", "--top N, -n N",
		"--json", "--quiet",
	} {
		if !strings.Contains(head, want) {
			t.Errorf("no %s in\n%s", want, head)
		}
	}
	left := strings.Count(all, "\n  --") - strings.Count(short, "\n  --")
	if want := fmt.Sprintf("infill fill --help all lists %d more.", left); lines[len(lines)-1] != want ||
		left < 20 {
		t.Errorf("the last line is %q, want %q", lines[len(lines)-1], want)
	}
	if strings.Contains(short, "--shortlist") || infillRun("", "fill", "--help=all").out != all ||
		infillRun("", "help", "fill").out != short {
		t.Error("rare flags in the short help, or another help by other words")
	}
}

// optionsOf are the flags of a command.
func optionsOf(c *cli.Command) (flags cmdline.Flags) {
	for _, f := range c.Flags {
		flags = append(flags, f.(*cmdline.Option))
	}
	return flags
}

// argOf is what help calls the value of a flag, "" for one without.
func argOf(f *cmdline.Option) string {
	names, _ := f.Columns()
	_, arg, _ := strings.Cut(names, " ")
	return arg
}

// A command that does nothing without a command of its own says so.
func TestHelpOfGroups(t *testing.T) {
	t.Parallel()
	for _, group := range []string{"", " model"} {
		r := infillRun("", append(strings.Fields(group), "--help")...)
		if usage := "\n  infill" + group + " [FLAGS] COMMAND\n"; !strings.Contains(r.out, usage) {
			t.Errorf("no %q in\n%s", usage, r.out)
		}
	}
}

// Flags are named as they were typed.
func TestFlagsAsTyped(t *testing.T) {
	t.Parallel()
	out := put(t, filepath.Join(t.TempDir(), "in.txt"), "a\n") // which is the input, too
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"batch", out, "-o", out}, "-o " + out + ": "},
		{[]string{"batch", out, "--output", out}, "--output " + out + ": "},
		{[]string{"batch", "in.txt", "-o"}, "flag -o needs a value"},
		{[]string{"fill", "-n", "x", "a [MASK]"}, "for flag -n: want a whole number"},
		{[]string{"fill", "--top", "x", "a [MASK]"}, "for flag --top: want a whole number"},
		{[]string{"score", "-o", "x", "a"}, "-o goes with --file"},
	} {
		if r := infillRun("", c.args...); r.code != exitUsage || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, r.code, r.err)
		}
	}
	r := infillRun("", withTiny("fill", "--quiet", "--seed", "1", "-n", "2", "the [MASK] sleeps .")...)
	if r.code != 0 || strings.Count(r.out, "\n") != 2 {
		t.Errorf("-n 2: exit %d: %s%s", r.code, r.out, r.err)
	}
}

// The manual and what shells ask for have every command and flag. Shells that are there read the
// scripts.
func TestCompletionAndManual(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		r := infillRun("", "completion", shell)
		if r.code != 0 {
			t.Fatalf("%s: %s", shell, r.err)
		}
		path := put(t, filepath.Join(t.TempDir(), "infill."+shell), r.out)
		if exe, err := exec.LookPath(shell); err == nil {
			if out, err := exec.Command(exe, "-n", path).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", shell, err, out)
			}
		}
	}
	manual := strings.ReplaceAll(infillRun("", "man").out, `\-`, "-")
	cmdline.Each(newRoot(console.IO{}), func(c *cli.Command) {
		typed := strings.Fields(c.HelpName)[1:]
		commands := infillRun("", append(typed, "", completes)...).out
		flags := infillRun("", append(typed, "-", completes)...).out
		for _, sub := range c.Subcommands {
			if !strings.Contains(manual, c.HelpName) || !strings.Contains(commands, sub.Name+"\t") {
				t.Errorf("no %s: %s", sub.HelpName, commands)
			}
		}
		for _, f := range optionsOf(c) {
			if !strings.Contains(manual, "--"+f.Name) || !strings.Contains(flags, "--"+f.Name+"\t") {
				t.Errorf("%s lacks %s: %s", c.HelpName, f.Name, flags)
			}
		}
	})
	if r := infillRun("", "completion", "tcsh"); r.code != exitUsage {
		t.Errorf("exit %d", r.code)
	}
	if r := infillRun("", "version"); r.code != 0 || r.out != infillRun("", "--version").out {
		t.Errorf("%s", r.out)
	}
}

// The manual has what help has of each command, and the exit codes of its page. man reads it without
// a warning where it is there.
func TestManual(t *testing.T) {
	t.Parallel()
	page := infillRun("", "man").out
	plain := strings.NewReplacer(`\e`, `\`, `\-`, "-", `\(ga`, "`", `\(aq`, "'", `\(ha`, "^",
		`\(ti`, "~", `\:`, "", `\&`, "", "\n", " ").Replace(page)
	plain = strings.Join(strings.Fields(plain), " ")
	has := func(what, text string) {
		t.Helper()
		if text = strings.Join(strings.Fields(text), " "); !strings.Contains(plain, text) {
			t.Errorf("no %s: %s", what, text)
		}
	}
	cmdline.Each(newRoot(console.IO{}), func(c *cli.Command) {
		has("usage", c.HelpName+" [FLAGS] "+c.ArgsUsage)
		has("description of "+c.HelpName, c.Description)
		has("examples of "+c.HelpName, c.UsageText)
	})
	has("blank", "[MASK/ing$/] a whole word that matches an expression")
	has("flag", "--top N, -n N")
	has("default", `a name as "infill model pull" takes it (default: "default")`)
	has("variable", "[$INFILL_EVAL_TOP]")
	reference := get(t, "../../docs/reference/command.md")
	for _, e := range exitCodes {
		has("exit code", fmt.Sprint(e.code, " ", e.means))
		if row := fmt.Sprintf("| %d | %s |\n", e.code, e.means); !strings.Contains(reference, row) {
			t.Errorf("command.md lacks %s", row)
		}
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "'") {
			t.Errorf("a line of the page: %q", line)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("no groff")
		return
	}
	path := put(t, filepath.Join(t.TempDir(), "infill.1"), page)
	out, err := exec.Command(groff, "-k", "-man", "-Tutf8", "-ww", "-z", path).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// bash completes commands, flags and the words of a flag.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := put(t, filepath.Join(t.TempDir(), "c.bash"), infillRun("", "completion", "bash").out)
	for _, c := range []struct{ line, want string }{
		{"infill fi", "fill"},
		{"infill model in", "info"},
		{"infill fill --no-r", "--no-repeat"},
		{"infill fill --vocab wh", "whole-words"},
		{"infill fill --sampler gw", "gwg"},
		{"infill fill --model sm", "small"},
		{"infill fill --device cu", "cuda"},
		{"infill fill --vocab = wh", "whole-words"}, // bash cuts --vocab=wh so
		{"infill fill --vocab =", "words all whole-words"},
		{"infill completion b", "bash"},
		{"infill model save sm", "small"},
		{"infill model learn-lengths --ga", "--gaps"},
		{"infill model pull xlm", "xlm-roberta-base"},
		{"infill model pu", "pull"},
		{`infill fill a|b "text" --samplers --sampler gw`, "gwg"},
		{"infill fill -- --sampl", ""},
	} {
		run := `source "$1"; COMP_WORDS=($2); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _infill "$3"; ` +
			`echo "${COMPREPLY[@]}"`
		cmd := exec.Command(bash, "-c", run, "bash", script, c.line, program)
		cmd.Env = append(os.Environ(), asCommand+"=1")
		cmd.Dir = t.TempDir() // without files that complete too
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%s: %v: %q", c.line, err, got)
		}
	}
}

// The reference and help name the variables that flags have, those of a command's own too.
func TestVariableNames(t *testing.T) {
	t.Parallel()
	reference, err := os.ReadFile("../../docs/reference/command.md")
	if err != nil {
		t.Fatal(err)
	}
	help := infillRun("", "eval", "--help").out
	const rule, own = "a name in brackets by that name", "[$INFILL_EVAL_TOP]"
	if !strings.Contains(help, rule) || !strings.Contains(help, own) ||
		!strings.Contains(string(reference), "shows in brackets, `"+own+"`") {
		t.Errorf("%s", help)
	}
}
