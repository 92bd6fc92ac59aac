package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/batch/output"
	"infill/internal/count"
)

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
		fmt.Fprintf(std.Err, "infill: %s: %d record%s%s\n", f.output, records, count.S(records),
			says)
	}
	return nil
}
