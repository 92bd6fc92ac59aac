package facility

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// Print is the command instance: it prints an instance of facility location as JSON, for
// solvers. args are SITES CUSTOMERS NUMBER LOTS.
func Print(_ context.Context, args []string, _ io.Reader, out, _ io.Writer) error {
	var size [4]int
	ok := len(args) == len(size)
	for i := range size {
		if ok {
			n, err := strconv.Atoi(args[i])
			size[i], ok = n, err == nil && n >= 0 && n <= 1000 && (i >= 2 || n > 0)
		}
	}
	if !ok {
		return errors.New("usage: instance SITES CUSTOMERS NUMBER LOTS")
	}
	in := Draw(size[0], size[1], size[2])
	in.Lots = size[3]
	return json.NewEncoder(out).Encode(in)
}
