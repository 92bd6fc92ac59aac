package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/batch/output"
	"infill/infill/settings"
	"infill/internal/count"
	"infill/internal/textline"
)

// A pair is a file, and the output that it becomes.
type pair struct{ input, output string }

// pairs are the file at a path with its output, or the Parquet files of a folder with outputs of
// the same names in another folder, see job.
func (f *batchFlags) pairs(c *cli.Context, std console.IO, path string) ([]pair, error) {
	entries, err := os.ReadDir(path)
	if err != nil { // of what is not a folder too; whoever opens it says what is wrong
		return []pair{{path, f.output}}, nil
	}
	var out []pair
	var passed []string
	manifest, _ := output.Beside("")
	for _, e := range entries { // in order
		name := e.Name()
		switch {
		case settings.FormatOf(name) == settings.FormatParquet && !e.IsDir():
			out = append(out, pair{filepath.Join(path, name), filepath.Join(f.output, name)})
		case !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, manifest):
			passed = append(passed, textline.Printable(name))
		}
	}
	switch {
	case len(out) == 0:
		return nil, usagef("%s is a folder without Parquet files; fill its files one by one:\n"+
			`  for f in %s/*; do infill %s "$f" -o "OUTPUTS/$(basename "$f").jsonl" --resume; done`,
			path, console.Quoted([]string{filepath.Clean(path)})[0], c.Command.Name)
	case f.output == "" || f.output == "-":
		return nil, usagef("%s is a folder: %s FOLDER names another for its outputs", path,
			f.outputFlag.Spelling())
	case !f.Shard.Whole():
		return nil, usagef("--shard is for a file: %s is a folder, whose files are parts already", path)
	case f.OutputFormat != settings.FormatAuto && f.OutputFormat != settings.FormatParquet:
		return nil, usagef("the Parquet files of %s become Parquet files: leave out --output-format",
			path)
	case len(passed) > 0 && !f.quiet:
		fmt.Fprintf(std.Err, "infill: passed over: %s\n", strings.Join(passed, ", "))
	}
	return out, nil
}

// joinFlags are the flags that --join takes. The others decide nothing when records are there.
var joinFlags = []string{"join", "output", "force", "quiet"}

// joinShards makes the output of a whole input of those of its shards.
func (f *batchFlags) joinShards(c *cli.Context, std console.IO) error {
	for _, flag := range c.Command.Flags {
		if o, ok := flag.(*cmdline.Option); ok && o.Typed != "" && !slices.Contains(joinFlags, o.Name) {
			return usagef("--join puts together what there is, %s is for filling; leave it out", o.Typed)
		}
	}
	switch {
	case f.output == "" || f.output == "-":
		return usagef("--join writes a file or nothing: -o FILE (to a pipe, cat does it)")
	case c.NArg() == 0:
		return usagef("--join needs the outputs of all shards, or their folder: " +
			"infill batch --join FOLDER -o OUTPUT")
	}
	mode := output.Create
	if f.force {
		mode = output.Force
	}
	begin()
	records, failed, err := output.Join(c.Context, f.output, c.Args().Slice(), mode)
	if err != nil {
		return err
	}
	if !f.quiet {
		says := ""
		if failed > 0 {
			says = failures(failed)
		}
		fmt.Fprintf(std.Err, "infill: %s: %d record%s%s\n", f.output, records, count.S(records), says)
	}
	return nil
}
