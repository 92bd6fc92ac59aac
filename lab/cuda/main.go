// Package cuda measures a graphics card against the processor: whether the scores are the same, how
// many rows a second it evaluates, and whether a row depends on the rows beside it.
//
//	bin/lab cuda -model models/default -data one.txt,two.txt
//
// It prints one JSON object a line. scripts/check-cuda.sh runs it with all else that needs a card.
package cuda

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"infill/mlm"
	"infill/mlm/device/known"
)

type options struct {
	model, device string
	data          []string
	lines, length int
	rows          []int
	seconds       float64
	threads       int
	seed          uint64
}

// Command is the command cuda: args are its flags. Results go to out.
func Command(ctx context.Context, args []string, _ io.Reader, out, errs io.Writer) error {
	fs := flag.NewFlagSet("cuda", flag.ContinueOnError)
	fs.SetOutput(errs)
	var o options
	fs.StringVar(&o.model, "model", "models/default", "folder of the model")
	fs.StringVar(&o.device, "device", "cuda", "device; cpu rehearses on the processor")
	data := fs.String("data", "", "files of sentences, with commas between")
	fs.IntVar(&o.lines, "lines", 200, "sentences of each file")
	fs.IntVar(&o.length, "length", 16, "tokens of the rows that are timed")
	rows := fs.String("rows", "32 128 256 512 1024", "rows of a call")
	fs.Float64Var(&o.seconds, "seconds", 3, "seconds of each timing")
	fs.IntVar(&o.threads, "threads", 4, "threads of the processor")
	profile := fs.String("profile", "", "only have the runtime time the operations of calls in half "+
		"precision, and write that to a file whose name begins so")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the masks")
	if err := fs.Parse(args); err != nil {
		return err
	}
	for _, s := range strings.Fields(*rows) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		o.rows = append(o.rows, n)
	}
	if *profile != "" {
		return o.profile(ctx, *profile)
	}
	if *data != "" {
		o.data = strings.Split(*data, ",")
	}
	return o.run(ctx, json.NewEncoder(out))
}

// open opens the model on a device.
func (o *options) open(ctx context.Context, device string, p mlm.Precision) (*mlm.Model, error) {
	if device == mlm.CPUDevice {
		p = mlm.Float32
	}
	return mlm.OpenDir(ctx, o.model, mlm.Options{Devices: known.Devices(), Device: device,
		Precision: p, Forward: true, Threads: o.threads})
}

// profile times the operations of some calls of the largest number of rows.
func (o *options) profile(ctx context.Context, file string) error {
	m, err := mlm.OpenDir(ctx, o.model, mlm.Options{Devices: known.Devices(), Device: o.device,
		Precision: mlm.Auto, Forward: true, Threads: 1, Profile: file})
	if err != nil {
		return err
	}
	s, out := o.sentence(m), [][]float32{}
	n := slices.Max(o.rows)
	for range n {
		out = append(out, make([]float32, m.VocabSize()))
	}
	for k := range 20 {
		x, at := states(n, rand.New(rand.NewPCG(o.seed, uint64(k))))
		if err := m.Conditional(ctx, s, x, at, out); err != nil {
			return errors.Join(err, m.Close())
		}
	}
	return m.Close()
}

// run opens the models on the card first: its build of the runtime serves the processor, too.
func (o *options) run(ctx context.Context, out *json.Encoder) error {
	on := map[string]*mlm.Model{}
	for _, p := range []mlm.Precision{mlm.Float32, mlm.Float16} {
		m, err := o.open(ctx, o.device, p)
		if err != nil {
			return err
		}
		defer m.Close() //nolint:errcheck // end of the program
		on[p.String()] = m
	}
	cpu, err := o.open(ctx, mlm.CPUDevice, mlm.Float32)
	if err != nil {
		return err
	}
	defer cpu.Close() //nolint:errcheck // end of the program
	for _, p := range []string{"fp32", "fp16"} {
		m := on[p]
		for _, rows := range o.rows {
			for _, kind := range []string{"rows", "scores"} {
				s, err := o.speed(ctx, m, rows, kind)
				if err != nil {
					return err
				}
				s.Device, s.Precision = o.device, p
				if err := out.Encode(s); err != nil {
					return err
				}
			}
		}
		n, err := o.neighbours(ctx, m)
		if err != nil {
			return err
		}
		n.Device, n.Precision = o.device, p
		if err := out.Encode(n); err != nil {
			return err
		}
	}
	for _, file := range o.data {
		for _, p := range []string{"fp32", "fp16"} {
			d, err := o.compare(ctx, file, cpu, on[p])
			if err != nil {
				return err
			}
			d.Device, d.Precision = o.device, p
			if err := out.Encode(d); err != nil {
				return err
			}
		}
	}
	return nil
}
