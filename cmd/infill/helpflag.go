package main

import (
	"flag"

	"github.com/urfave/cli/v2"
)

// Package cli has one flag for help and one for the version in all its apps, and writes to them
// while it parses. These have no state, so that command lines can be run at the same time.
func init() {
	cli.HelpPrinter = printHelp
	cli.HelpFlag = &switchFlag{"help", "h", "show help"}
	cli.VersionFlag = &switchFlag{"version", "v", "print the version"}
}

// A switchFlag is a flag without a value or variable.
type switchFlag struct{ name, alias, usage string }

// Apply adds the flag to a set.
func (f *switchFlag) Apply(set *flag.FlagSet) error {
	for _, name := range f.Names() {
		set.Bool(name, false, f.usage)
	}
	return nil
}

// Names are the flag's name and its short form.
func (f *switchFlag) Names() []string { return []string{f.name, f.alias} }

// The other methods are for help.

func (f *switchFlag) String() string         { return cli.FlagStringer(f) }
func (f *switchFlag) IsSet() bool            { return false }
func (f *switchFlag) IsVisible() bool        { return true }
func (f *switchFlag) TakesValue() bool       { return false }
func (f *switchFlag) GetUsage() string       { return f.usage }
func (f *switchFlag) GetValue() string       { return "" }
func (f *switchFlag) GetDefaultText() string { return "" }
func (f *switchFlag) GetEnvVars() []string   { return nil }
