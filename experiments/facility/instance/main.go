// Command instance prints an instance of facility location as JSON, for solvers.
//
//	go run ./experiments/facility/instance 15 30 0 0
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"infill/experiments/facility"
)

func main() {
	var size [4]int
	ok := len(os.Args) == 5
	for i := range size {
		if ok {
			n, err := strconv.Atoi(os.Args[i+1])
			size[i], ok = n, err == nil && n >= 0 && n <= 1000 && (i >= 2 || n > 0)
		}
	}
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: instance SITES CUSTOMERS NUMBER LOTS")
		os.Exit(2)
	}
	in := facility.Draw(size[0], size[1], size[2])
	in.Lots = size[3]
	if err := json.NewEncoder(os.Stdout).Encode(in); err != nil {
		fmt.Fprintln(os.Stderr, "instance:", err)
		os.Exit(1)
	}
}
