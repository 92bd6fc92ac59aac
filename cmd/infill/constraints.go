package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/infill"
	"infill/tokenize"
)

// constraintFlags are the flags that say what may go into blanks, beside what
// the blanks themselves say.
type constraintFlags struct {
	ban         *cli.StringSliceFlag
	allow       string
	noRepeat    bool
	minDistance *integer
	maskRate    *number
	maskWords   *integer
	long        *choice
	choose      *choice
}

func (f *constraintFlags) flags() []cli.Flag {
	f.ban = &cli.StringSliceFlag{Name: "ban", Usage: "`WORDS` that fill no blank, comma separated; repeatable", EnvVars: env("ban")}
	allow := stringFlag("allow", "`FILE` of the only words or phrases that fill blanks, one a line", "")
	allow.Destination = &f.allow
	noRepeat := boolFlag("no-repeat", "fill no word into two blanks of a sentence (tied blanks apart)")
	noRepeat.Destination = &f.noRepeat
	f.minDistance = &integer{v: 0, min: 0, max: 100}
	f.maskRate = &number{v: 0, min: 0, max: 1}
	f.maskWords = &integer{v: 0, min: 0, max: 1000}
	f.long = &choice{"window", []string{"window", "error"}}
	f.choose = &choice{"likelihood", []string{"likelihood", "diverse"}}
	return []cli.Flag{
		f.ban, allow, noRepeat,
		valueFlag("mask-rate", "blank out this share of the words of texts without blanks; 0: the texts have blanks", f.maskRate),
		valueFlag("mask-words", "blank out exactly so many words of texts without blanks", f.maskWords),
		valueFlag("min-distance", "least edit distance, in characters, from a word that was blanked out", f.minDistance),
		valueFlag("long", "texts longer than the model takes: window: it sees the part around the blanks; error: refuse", f.long),
		valueFlag("select", "how --top fillings are chosen: likelihood: the best; diverse: good ones that share few words", f.choose),
	}
}

// masking is what --mask-rate and --mask-words ask for, nil for neither.
func (f *constraintFlags) masking() (*infill.Masking, error) {
	m := &infill.Masking{Rate: f.maskRate.v, Words: int(f.maskWords.v)}
	if *m == (infill.Masking{}) {
		if f.minDistance.v > 0 {
			return nil, usagef("--min-distance goes with --mask-rate or --mask-words: it is the distance from the word that was blanked out")
		}
		return nil, nil
	}
	if m.Rate != 0 && m.Words != 0 {
		return nil, usagef("--mask-rate and --mask-words: give one of them")
	}
	return m, nil
}

// banned are the words of --ban.
func (f *constraintFlags) banned(c *cli.Context) []string { return splitLists(c.StringSlice("ban")) }

// apply puts the constraints into options.
func (f *constraintFlags) apply(c *cli.Context, tok *tokenize.Tokenizer, opt *infill.Options) error {
	opt.NoRepeat = f.noRepeat
	opt.MinDistance = int(f.minDistance.v)
	if f.long.v == "error" {
		opt.Long = infill.LongError
	}
	if f.choose.v == "diverse" {
		opt.Select = infill.SelectDiverse
	}
	var err error
	if opt.Ban, err = banList(tok, f.banned(c)); err != nil {
		return fmt.Errorf("--ban: %w", err)
	}
	if f.allow == "" {
		return nil
	}
	file, err := os.Open(f.allow)
	if err != nil {
		return fmt.Errorf("--allow: %w", err)
	}
	opt.Allow, err = infill.ReadWordList(tok, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("--allow %s: %w", f.allow, err)
	}
	return nil
}

// banList prepares words to ban; nil if there are none.
func banList(tok *tokenize.Tokenizer, words []string) (*infill.WordList, error) {
	if len(words) == 0 {
		return nil, nil
	}
	return infill.NewWordList(tok, words)
}

// settings are the constraints as a manifest has them.
func (f *constraintFlags) settings(c *cli.Context) (map[string]string, error) {
	s := map[string]string{
		"ban":          strings.Join(f.banned(c), ","),
		"no-repeat":    strconv.FormatBool(f.noRepeat),
		"mask-rate":    f.maskRate.String(),
		"mask-words":   f.maskWords.String(),
		"min-distance": f.minDistance.String(),
		"long":         f.long.v,
		"select":       f.choose.v,
		"allow":        "",
	}
	if f.allow != "" {
		b, err := os.ReadFile(f.allow)
		if err != nil {
			return nil, fmt.Errorf("--allow: %w", err)
		}
		sum := sha256.Sum256(b)
		s["allow"] = "sha256:" + hex.EncodeToString(sum[:])
	}
	return s, nil
}

// settings are the sampling flags as a manifest has them.
func (f *samplingFlags) settings(c *cli.Context) map[string]string {
	return map[string]string{
		"sampler":     f.sampler,
		"steps":       f.steps.String(),
		"chains":      f.chains.String(),
		"top":         f.top.String(),
		"step-size":   f.stepSize,
		"balance":     f.balance,
		"param":       strings.Join(c.StringSlice("param"), " "),
		"shortlist":   f.shortlist.String(),
		"temperature": f.temperature.String(),
		"vocab":       f.vocab.v,
		"gradient":    f.gradient.v,
		"case":        f.casing.v,
	}
}

// blanks makes the template of a text; with a masking, of a text without
// blanks, whose words it then puts into opt.Original.
func blanks(tok *tokenize.Tokenizer, text string, m *infill.Masking, opt *infill.Options) (t *infill.Template, masked string, err error) {
	if m != nil {
		if text, opt.Original, err = m.Apply(text, opt.Seed, opt.ID); err != nil {
			return nil, "", err
		}
	}
	t, err = infill.Parse(tok, text)
	return t, text, err
}
