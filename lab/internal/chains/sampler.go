package chains

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"infill/infill"
	"infill/lab/internal/kernels"
	"infill/mlm"
	"infill/samplers"
)

// Sampler makes the sampler of a spec such as rows:rate=0.3. With gradient=forward it also sets
// the gradient mode of the options, and with start=sequential where chains begin.
func Sampler(spec string, opt *infill.Options) (samplers.Sampler, error) {
	name, params, err := samplers.ParseSpec(spec)
	if err != nil {
		return nil, err
	}
	if v, ok := params["gradient"]; ok {
		if v != mlm.Forward.String() {
			return nil, fmt.Errorf("%s: want gradient=%v", spec, mlm.Forward)
		}
		opt.Sampling.Gradient = mlm.Forward
	}
	if v, ok := params["start"]; ok {
		i := slices.Index(infill.StartMasked.Names(), v)
		if i < 0 {
			return nil, fmt.Errorf("%s: there is no start %q", spec, v)
		}
		opt.Sampling.Start = infill.Start(i)
	}
	delete(params, "gradient")
	delete(params, "start")
	return kernels.New(name, params)
}

// CPU is what all threads of the process have worked so far.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it fails for a wrong argument only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
