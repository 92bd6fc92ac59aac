// Package protocols fills the same sentences with several samplers, under several protocols and
// seeds, and says how the samplers differ: Table 3 of DLP with paired differences.
//
//	bin/lab protocols run -data ../shared/data/eval/discs-infilling-task.json -o runs.jsonl
//	bin/lab protocols table -references a.txt,b.txt runs.jsonl
//	bin/lab protocols page -data ../shared/data/eval/discs-infilling-task.json \
//		-references a.txt,b.txt -runs runs.jsonl -o page.md
//
// Page makes the runs of Gibbs, GWG, DULA and DMALA that are missing under the protocols A to C,
// and writes the tables of one model beside the paper's numbers. With -stored it makes no run.
//
// A run writes a line for every sentence, sampler, protocol and seed. One that was stopped goes on
// where it was. Seeds come first, then sentences, so that the samplers of a stopped run
// have had the same sentences.
//
// The protocols:
//
//	R  chains begin at random words, and their last states count, with -at also those on the way
//	A  chains begin with independent draws of what the model says with all blanks masked,
//	   and their last states count
//	B  the same, but all chains begin with the likeliest token of every blank
//	C  one chain, whose states after the burn-in count, which is half of the steps: as many as
//	   there are with equal steps, drawn from all where there are more
package protocols

import (
	"context"
	"errors"
	"io"
)

// Command is the command protocols: args are run, table or page, and its flags.
func Command(ctx context.Context, args []string, _ io.Reader, out, _ io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "run":
			return runCommand(ctx, args[1:])
		case "table":
			return tableCommand(args[1:], out)
		case "page":
			return pageCommand(ctx, args[1:])
		}
	}
	return errors.New("want run, table or page first, see go doc infill/lab/protocols")
}
