package chains

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"infill/infill"
	"infill/mlm"
	"infill/samplers"
)

// Sampler makes the sampler of a spec such as rows:rate=0.3. With gradient=forward it also sets
// the gradient mode of the options, and with start=sequential where chains begin.
func Sampler(spec string, opt *infill.Options) (samplers.Sampler, error) {
	parts := strings.Split(spec, ":")
	params := map[string]string{}
	for _, p := range parts[1:] {
		k, v, _ := strings.Cut(p, "=")
		if k == "gradient" {
			if v != mlm.Forward.String() {
				return nil, fmt.Errorf("%s: want gradient=%v", spec, mlm.Forward)
			}
			opt.Gradient = mlm.Forward
			continue
		}
		if k == "start" {
			i := slices.Index(infill.StartNames(), v)
			if i < 0 {
				return nil, fmt.Errorf("%s: there is no start %q", spec, v)
			}
			opt.Start = infill.Start(i)
			continue
		}
		params[k] = v
	}
	return samplers.New(parts[0], params)
}

// CPU is what all threads of the process have worked so far.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it fails for a wrong argument only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
