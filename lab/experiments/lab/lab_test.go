package lab

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestWatch: the time of a thread goes on while it computes, and not while it sleeps.
func TestWatch(t *testing.T) {
	t.Parallel()
	watch, stop := Options{}.Watch()
	defer stop()
	from, begin, sum := watch(), time.Now(), 0.0
	for watch() < from+5*time.Millisecond {
		if sum += math.Sqrt(sum + 1); time.Since(begin) > time.Minute {
			t.Fatal("the watch stands still")
		}
	}
	from = watch()
	time.Sleep(300 * time.Millisecond)
	if slept := watch() - from; runtime.GOOS == "linux" && slept > 200*time.Millisecond {
		t.Errorf("%v of sleep count", slept)
	}
	fake := Options{Stopwatch: func() func() time.Duration {
		return func() time.Duration { return time.Hour }
	}}
	watch, done := fake.Watch()
	defer done()
	if got := watch(); got != time.Hour {
		t.Errorf("a given stopwatch reads %v", got)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	got := Table([]string{"a", "b"}, []string{"1", Num(-2, 1)}, []string{Num(math.NaN(), 3), "x"})
	want := "| a | b |\n|---|---|\n| 1 | −2.0 |\n| – | x |"
	if got != want {
		t.Errorf("table\n%s\nwant\n%s", got, want)
	}
	if got := Over([]float64{1, 2, 3}).Format(2); got != "2.00 ± 0.58" {
		t.Errorf("spread %s", got)
	}
	if got := Over([]float64{4}).Format(1); got != "4.0" {
		t.Errorf("spread of one value %s", got)
	}
}

func TestDataFile(t *testing.T) {
	t.Parallel()
	o := Options{Data: t.TempDir()}
	name := filepath.Join(o.Data, "set", "file")
	_, err := o.DataFile("scripts/x.sh", "set", "file")
	if !errors.Is(err, ErrNoData) || !strings.Contains(err.Error(), name) ||
		!strings.Contains(err.Error(), "scripts/x.sh") {
		t.Errorf("error %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := o.DataFile("scripts/x.sh", "set", "file"); err != nil || got != name {
		t.Errorf("%s, %v", got, err)
	}
}

// TestKept: a part is made once for each seed and size, and again only with other settings.
func TestKept(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	o, runs := Options{Seed: 3, Keep: t.TempDir(), Log: &log}, 0
	get := func(o Options, settings string) int {
		v, err := Kept(o, "part", settings, func() (int, error) { runs++; return runs, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	other, quick := o, o
	other.Seed, quick.Quick = 4, true
	for _, c := range []struct {
		o        Options
		settings string
		want     int
	}{{o, "a", 1}, {o, "a", 1}, {other, "a", 2}, {quick, "a", 3}, {o, "a", 1}, {o, "b", 4}, {o, "b", 4}} {
		if got := get(c.o, c.settings); got != c.want {
			t.Errorf("seed %d, quick %t, settings %s: %d, want %d", c.o.Seed, c.o.Quick, c.settings, got,
				c.want)
		}
	}
	if path := filepath.Join(o.Keep, "part-seed3.json"); !strings.Contains(log.String(), path) {
		t.Errorf("the log does not say that %s was made again: %q", path, &log)
	}
}
