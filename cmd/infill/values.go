package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/internal/nearest"
)

// A number is a flag value that refuses NaN, infinities and what is out of
// range, which the flag package's own floats accept.
type number struct {
	v        float64
	min, max float64
	openMin  bool // min itself is not allowed
}

func (n *number) Set(s string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < n.min || v > n.max || n.openMin && v == n.min {
		return fmt.Errorf("want %s", n.want())
	}
	n.v = v
	return nil
}

func (n *number) want() string {
	low := fmt.Sprintf("from %g", n.min)
	if n.openMin {
		low = fmt.Sprintf("above %g", n.min)
	}
	if n.max == math.MaxFloat64 {
		return "a number " + low
	}
	return fmt.Sprintf("a number %s to %g", low, n.max)
}

func (n *number) String() string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(n.v, 'g', -1, 64)
}

// An integer is a flag value within a range.
type integer struct{ v, min, max int64 }

func (n *integer) Set(s string) error {
	v, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || v < n.min || v > n.max {
		if n.max == math.MaxInt64 {
			return fmt.Errorf("want a whole number from %d", n.min)
		}
		return fmt.Errorf("want a whole number from %d to %d", n.min, n.max)
	}
	n.v = v
	return nil
}

func (n *integer) String() string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(n.v, 10)
}

// A choice is a flag value out of a list of words.
type choice struct {
	v     string
	words []string
}

func (c *choice) Set(s string) error {
	for _, w := range c.words {
		if s == w {
			c.v = s
			return nil
		}
	}
	msg := "want " + strings.Join(c.words, "|")
	if n := nearest.Name(s, c.words); n != "" {
		msg += fmt.Sprintf("; did you mean %q?", n)
	}
	return fmt.Errorf("%s", msg)
}

func (c *choice) String() string {
	if c == nil {
		return ""
	}
	return c.v
}

// env is the environment variable of a flag: INFILL_BATCH_TOKENS for --batch-tokens.
func env(name string) []string {
	return []string{"INFILL_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
}

func valueFlag(name, usage string, v cli.Generic) *cli.GenericFlag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: v, EnvVars: env(name)}
}

func stringFlag(name, usage, value string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Usage: usage, Value: value, EnvVars: env(name)}
}

func boolFlag(name, usage string) *cli.BoolFlag {
	return &cli.BoolFlag{Name: name, Usage: usage, EnvVars: env(name)}
}
