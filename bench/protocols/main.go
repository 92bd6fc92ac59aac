// Command protocols fills the same sentences with several samplers, under several protocols and
// seeds, and says how the samplers differ: Table 3 of DLP with paired differences.
//
//	go run ./bench/protocols run -data ../shared/data/eval/discs-infilling-task.json -o runs.jsonl
//	go run ./bench/protocols table -references a.txt,b.txt runs.jsonl
//	go run ./bench/protocols page -data ../shared/data/eval/discs-infilling-task.json \
//		-references a.txt,b.txt -runs runs.jsonl -o page.md
//
// Page makes the runs of Gibbs, GWG, DULA and DMALA that are missing under all protocols, and
// writes the tables of one model beside the paper's numbers. With -stored it makes no run.
//
// A run writes a line for every sentence, sampler, protocol and seed. One that was stopped goes on
// where it was. Seeds come first, then sentences, so that the samplers of a stopped run
// have had the same sentences.
//
// The protocols:
//
//	A  chains begin with independent draws of what the model says with all blanks masked,
//	   and their last states count
//	B  the same, but all chains begin with the likeliest token of every blank
//	C  one chain, whose states after the burn-in count, which is half of the steps: as many as
//	   there are with equal steps, drawn from all where there are more
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := fmt.Errorf("want run, table or page first, see go doc ./bench/protocols")
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "run":
			err = runCommand(ctx, os.Args[2:])
		case "table":
			err = tableCommand(os.Args[2:], os.Stdout)
		case "page":
			err = pageCommand(ctx, os.Args[2:])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "protocols:", err)
		os.Exit(1)
	}
}
