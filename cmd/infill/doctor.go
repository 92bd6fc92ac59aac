package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/cpu"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/open"
	"infill/infill/settings"
	"infill/internal/count"
	"infill/internal/disk"
	"infill/internal/ort"
	"infill/internal/textline"
	"infill/mlm"
	"infill/mlm/device"
	"infill/models"
	"infill/models/hub"
)

func doctorCommand(std console.IO) *cli.Command {
	var install, force, timed, asJSON bool
	var path string
	flags := cmdline.Flags{
		cmdline.Flag("install", "install ONNX Runtime into the cache if it is missing or damaged, "+
			"or with the name of a device: that", &install),
		cmdline.Flag("force", "with --install: fetch it again even if it is there", &force),
		cmdline.Flag("ort", "`FILE` of ONNX Runtime's shared library, instead of searching for it",
			&path),
		cmdline.Flag("time", "fill a sentence with the default model, and print where time goes", &timed),
		cmdline.Flag("json", "print one JSON object", &asJSON),
	}
	return &cli.Command{
		Name: "doctor",
		UsageText: `infill doctor
infill doctor --install`,
		ArgsUsage: "[" + strings.Join(devices.Installable(), "|") + "]",
		Usage:     "what infill runs on: runtime library, processor, default model, cache folders",
		Flags:     cmdline.Join(flags.OwnEnv("install", "force")),
		Action: func(c *cli.Context) error {
			what, names := c.Args().First(), devices.Installable()
			if c.NArg() > 1 || what != "" && (!slices.Contains(names, what) || !install) {
				return usagef("doctor takes no argument but %s after --install, got %q",
					strings.Join(names, " or "), what)
			}
			if force && !install {
				return usagef("--force goes with --install")
			}
			if install && path != "" {
				return usagef("--install fills the cache; leave --ort and INFILL_ORT out")
			}
			o := ort.InstallOptions{Force: force, Log: std.Err}
			switch {
			case what != "":
				if err := devices.Install(c.Context, what, o); err != nil {
					return err
				}
			case install:
				if _, err := ort.Install(c.Context, o); err != nil {
					return err
				}
			}
			return examine(c.Context, std, path, timed, asJSON)
		},
	}
}

// A diagnosis is what doctor prints.
type diagnosis struct {
	Version string     `json:"version"`
	Go      string     `json:"go"`
	OS      string     `json:"os"`
	CPUs    int        `json:"cpus"`
	CPU     []string   `json:"cpu_features"`
	Runtime ort.Report `json:"runtime"`
	// Devices are what can evaluate models, and what is in the way of the others.
	Devices []device.About `json:"devices"`
	// Automatic is where large models are opened, if neither that nor the precision is named.
	Automatic automatic `json:"automatic"`
	// Integers says which weights models quantised elsewhere have here: signed, or unsigned where the
	// processor gets signed ones wrong. "" if that is not known.
	Integers string `json:"integers,omitempty"`
	Model    struct {
		Name   string `json:"name"`
		Source string `json:"source"`
		Bytes  int64  `json:"bytes"`
	} `json:"model"`
	// Hub is where models are pulled from, and whether the user's token goes there.
	Hub struct {
		Address string `json:"address"`
		Token   bool   `json:"token"`
		Problem string `json:"problem,omitempty"` // why the token cannot be used
	} `json:"hub"`
	Cache string `json:"cache"`
	// CacheBytes are the sizes of what lies in the cache, by folder.
	CacheBytes map[string]int64 `json:"cache_bytes"`
	// Unkept says why the default model's weights cannot be kept in the cache, "" if they can.
	Unkept string  `json:"unkept,omitempty"`
	Time   *timing `json:"time,omitempty"` // with --time
}

// automatic is where models with weights of Least bytes or more are opened.
type automatic struct {
	Device    string `json:"device"`
	Precision string `json:"precision"`
	Least     int64  `json:"least_bytes"`
}

// examine reports; a runtime that does not work is an error after the report, so that scripts
// notice.
func examine(ctx context.Context, std console.IO, path string, timed, asJSON bool) (err error) {
	d := diagnosis{Version: version(), Go: runtime.Version(), OS: runtime.GOOS + "/" +
		runtime.GOARCH, CPUs: runtime.NumCPU(), CPU: cpuFeatures()}
	err = d.load(path)
	d.Devices = devices.About("")
	chosen, precision := mlm.Automatic(mlm.LargeWeights, mlm.Options{Devices: devices, Forward: true})
	d.Automatic = automatic{chosen, precision.String(), mlm.LargeWeights}
	d.Model.Name, d.Model.Source = settings.DefaultModel, "embedded in this command"
	d.Model.Bytes = models.All()[0].Bytes()
	d.askHub()
	var noCache error
	if d.Cache, noCache = disk.CacheDir(""); noCache != nil {
		d.Cache = noCache.Error()
	}
	d.CacheBytes = cacheBytes(d.Cache)
	d.Unkept = mlm.Unkept(ctx, models.Default(), mlm.Options{})
	if timed && err == nil {
		d.Time, err = timeFill(ctx, path)
	}
	return cmp.Or(printRecord(std.Out, asJSON, d, d.text), err)
}

// load loads the runtime that models find by themselves, unless path names one: a device may have a
// build of its own.
func (d *diagnosis) load(path string) error {
	file := path
	if file == "" && os.Getenv(ort.EnvLibrary) == "" {
		file = devices.Runtime("", "")
	}
	report, err := ort.Load(ort.FindOptions{Path: file})
	if err == nil {
		var saturates bool
		saturates, err = mlm.SaturatesIntegers()
		if d.Integers = "signed"; saturates {
			d.Integers = "unsigned"
		}
	}
	if err != nil {
		report.OK, report.Problem, d.Integers = false, advice.Message(err), ""
	}
	switch {
	case report.Given() && path != "":
		report.Source = "flag"
	case report.Given():
		report.Source = "of a device"
	}
	d.Runtime = report
	return err
}

// askHub finds the address that models are pulled from, and the user's token for it.
func (d *diagnosis) askHub() {
	address := cmp.Or(os.Getenv(settings.EnvName("hub")), hub.ForeignHub())
	d.Hub.Address = hub.Redacted(address)
	token, err := hub.Token(address)
	if d.Hub.Token = token != ""; err != nil {
		d.Hub.Problem = err.Error()
	}
}

// text is the diagnosis for people.
func (d *diagnosis) text() string {
	var b strings.Builder
	line := func(heading, format string, args ...any) {
		fmt.Fprintf(&b, "%s: %s\n", heading, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&b, "infill %s (%s, %s)\n", d.Version, d.Go, d.OS)
	line("processor", "%s; %s", count.Of(d.CPUs, "thread"), strings.Join(d.CPU, " "))
	b.WriteString(d.Runtime.String())
	for _, dev := range d.Devices {
		line("device", "%s, %s", dev.Name, stateOf(dev))
	}
	line("device "+mlm.AutoDevice, "%s", d.usual())
	if d.Integers != "" {
		line("models quantised elsewhere", "%s", integersAbout[d.Integers])
	}
	line("default model", "%s, %s, %s", d.Model.Name, d.Model.Source, count.Bytes(d.Model.Bytes))
	line("hub", "%s, %s", textline.Printable(d.Hub.Address), textline.Printable(d.token()))
	d.writeCache(&b)
	if d.Unkept != "" {
		line("memory", "%s", unkept(d.Unkept))
	}
	if d.Time != nil {
		line("time", "%s", d.Time)
	}
	return b.String()
}

// stateOf is what a device is, or what is in its way.
func stateOf(dev device.About) string {
	text := cmp.Or(dev.Problem, dev.About)
	if dev.Missing {
		text += " (infill doctor --install " + dev.Name + ")"
	}
	return text
}

// usual is where models are opened if nobody says where.
func (d *diagnosis) usual() string {
	usual := fmt.Sprintf("%s in %s", device.CPU, mlm.Float32)
	large := d.Automatic.Device + " in " + d.Automatic.Precision
	only := large == usual
	usual += fmt.Sprintf(", in %s if config.json has int8_exact", mlm.Int8)
	if only {
		return usual
	}
	return fmt.Sprintf("%s for models whose weights take %s or more in %s, %s for others", large,
		count.Bytes(d.Automatic.Least), mlm.Float32, usual)
}

// token says whether the hub gets the user's token.
func (d *diagnosis) token() string {
	switch {
	case d.Hub.Problem != "":
		return d.Hub.Problem
	case d.Hub.Token:
		return "with your token"
	}
	return "without a token"
}

// writeCache writes where the cache is and what its folders take.
func (d *diagnosis) writeCache(b *strings.Builder) {
	there := ""
	if _, err := os.Stat(d.Cache); err != nil {
		there = " (not there yet)"
	}
	fmt.Fprintf(b, "cache folder: %s%s\n", d.Cache, there)
	for _, name := range slices.Sorted(maps.Keys(d.CacheBytes)) {
		fmt.Fprintf(b, "  %-11s %s\n", name, count.Bytes(d.CacheBytes[name]))
	}
}

// integersAbout says in words what diagnosis.Integers says.
var integersAbout = map[string]string{
	"signed":   "signed weights",
	"unsigned": "unsigned weights, slower; with signed ones the sums of this processor saturate",
}

// cacheBytes are the sizes of the folders in dir, none if it is not there.
func cacheBytes(dir string) map[string]int64 {
	sizes := map[string]int64{}
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if e.IsDir() {
			sizes[e.Name()] = disk.Size(filepath.Join(dir, e.Name()))
		}
	}
	return sizes
}

// cpuFeatures lists what decides the speed of the runtime's matrix products.
func cpuFeatures() []string {
	var out []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"sse4.1", cpu.X86.HasSSE41}, {"avx", cpu.X86.HasAVX}, {"avx2", cpu.X86.HasAVX2}, {"fma",
			cpu.X86.HasFMA},
		{"avx512f", cpu.X86.HasAVX512F}, {"avx512vnni", cpu.X86.HasAVX512VNNI}, {"avx512bf16",
			cpu.X86.HasAVX512BF16},
		{"amx", cpu.X86.HasAMXTile}, {"asimd", cpu.ARM64.HasASIMD}, {"sve", cpu.ARM64.HasSVE},
	} {
		if f.has {
			out = append(out, f.name)
		}
	}
	if len(out) == 0 {
		out = []string{"no vector features known"}
	}
	return out
}

// timedText is what doctor fills to say where time goes.
const timedText = "The [MASK] sat on the [MASK] and [MASK]."

// timing is where the time of filling a text goes, in seconds.
type timing struct {
	Text    string  `json:"text"`
	Opening float64 `json:"opening_seconds"` // of the model
	Filling float64 `json:"filling_seconds"` // search and scores, with their rows
	Rows    int64   `json:"rows"`
	Runtime float64 `json:"rows_seconds"` // in the runtime, of all threads together
	Threads int     `json:"threads"`
}

// timeFill opens the default model as infill fill does and fills a text. The library is loaded.
func timeFill(ctx context.Context, library string) (t *timing, err error) {
	t = &timing{Text: timedText, Threads: min(runtime.GOMAXPROCS(0), mlm.MaxThreads)}
	began := time.Now()
	m, err := open.Model(ctx, "", mlm.Options{Threads: t.Threads, Forward: true, Runtime: library,
		Device: mlm.AutoDevice, Precision: mlm.Auto})
	if err != nil {
		return nil, err
	}
	e := infill.New(m)
	defer func() { err = errors.Join(err, e.Close()) }()
	t.Opening = time.Since(began).Seconds()
	began = time.Now()
	if _, err := e.FillText(ctx, timedText, infill.Options{}); err != nil {
		return nil, err
	}
	t.Filling = time.Since(began).Seconds()
	energies, conditionals, _ := m.Work()
	t.Rows, t.Runtime = energies.Rows+conditionals.Rows, m.Spent().Seconds()
	return t, nil
}

// String is the timing for people.
func (t *timing) String() string {
	all := float64(t.Threads)
	return fmt.Sprintf("%q on %s: opening %.2f s, %d rows %.2f s, search and scores %.2f s", t.Text,
		count.Of(t.Threads, "thread"), t.Opening, t.Rows, t.Runtime/all, t.Filling-t.Runtime/all)
}
