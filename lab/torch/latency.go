package torch

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"infill/lab/internal/processor"
)

// everyBenchmark is the pattern of all benchmarks.
const everyBenchmark = "."

// latency runs the benchmarks of lab/speed that match a pattern of go test and records them. All
// take the place of those of before. Some leave the others as they are, and say themselves
// where they ran.
func (s *settings) latency(book *book, pattern string) error {
	busy := loadAverage()
	cmd := exec.Command("go", "-C", "lab", "test", "-run", "^$", "-bench", pattern, "-benchtime", "1x",
		"-timeout", "2h", "-count", strconv.Itoa(s.rounds), "./speed")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	if _, err := s.verbose.Write(out); err != nil {
		return err
	}
	ran := parseBenchmarks(out)
	if len(ran) == 0 {
		return fmt.Errorf("no benchmark of lab/speed matches %q", pattern)
	}
	on := fmt.Sprintf("%s, %d cores, %s/%s, %s%s", processor.Name(), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version(), busy)
	book.addLatency(ran, commit(), on, pattern == everyBenchmark)
	return book.save()
}

// addLatency records benchmarks of a version and a machine, in place of all others if these are
// all.
func (b *book) addLatency(ran map[string]Benchmark, version, on string, all bool) {
	if all || b.LatencyOn == "" {
		clear(b.Latency)
		b.LatencyOn, on = on, ""
	}
	for name, r := range ran {
		r.Commit, r.On = version, on
		b.Latency[name] = r
	}
}

// loadAverage says how many programs wanted to run in the last minute, where the system tells.
func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(data), " ")
	return ", with a load of " + first + " from other programs"
}

// parseBenchmarks reads the output of go test -bench: medians over the counts.
func parseBenchmarks(out []byte) map[string]Benchmark {
	values := map[string]map[string][]float64{} // benchmark, unit
	sc := bufio.NewScanner(bytes.NewReader(out))
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		// -2 at the end is GOMAXPROCS.
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			if _, err := strconv.Atoi(name[i+1:]); err == nil {
				name = name[:i]
			}
		}
		if values[name] == nil {
			values[name] = map[string][]float64{}
		}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				values[name][f[i+1]] = append(values[name][f[i+1]], v)
			}
		}
	}
	all := map[string]Benchmark{}
	for name, units := range values {
		b := Benchmark{Metrics: map[string]float64{}}
		for unit, v := range units {
			if unit == "ns/op" {
				b.Seconds, b.Low, b.High = median(v)/1e9, slices.Min(v)/1e9, slices.Max(v)/1e9
				b.Runs = len(v)
				continue
			}
			b.Metrics[unit] = median(v)
		}
		if b.Seconds > 0 {
			all[name] = b
		}
	}
	return all
}
