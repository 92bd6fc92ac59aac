// Command instance prints an instance of facility location as JSON, for solvers.
//
//	go run ./experiments/facility/instance 15 30 0
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"infill/experiments/facility"
)

func main() {
	var size [3]int
	ok := len(os.Args) == 4
	for i := range size {
		if ok {
			n, err := strconv.Atoi(os.Args[i+1])
			size[i], ok = n, err == nil && n >= 0 && n <= 1000 && (i == 2 || n > 0)
		}
	}
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: instance SITES CUSTOMERS NUMBER")
		os.Exit(2)
	}
	if err := json.NewEncoder(os.Stdout).Encode(facility.Draw(size[0], size[1], size[2])); err != nil {
		fmt.Fprintln(os.Stderr, "instance:", err)
		os.Exit(1)
	}
}
