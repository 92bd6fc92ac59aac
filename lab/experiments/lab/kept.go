package lab

import (
	"fmt"

	"infill/lab/internal/keep"
)

// Kept is what a part of an experiment gave in an earlier run with the same seed, settings and
// Options.Keep, or what run gives now. The settings are all that the result depends on besides the
// seed and the code. T needs exported fields and finite numbers.
func Kept[T any](o Options, name, settings string, run func() (T, error)) (T, error) {
	if o.Quick {
		name = "quick-" + name
	}
	return keep.Result(o.Keep, fmt.Sprintf("%s-seed%d", name, o.Seed), settings,
		func(path string) { o.Logf("%s is of other settings: made again", path) }, run)
}
