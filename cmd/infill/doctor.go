package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/cpu"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/count"
	"infill/internal/disk"
	"infill/internal/ort"
	"infill/mlm"
	"infill/mlm/device"
	"infill/mlm/device/known"
	"infill/models"
	"infill/models/hub"
)

func doctorCommand(std stdio) *cli.Command {
	var install, force, asJSON bool
	var path string
	flags := []*option{
		boolFlag("install", "install ONNX Runtime into the cache if it is missing or damaged, "+
			"or with the name of a device: that", &install),
		boolFlag("force", "with --install: fetch it again even if it is there", &force),
		textFlag("ort", "`FILE` of ONNX Runtime's shared library, instead of searching for it", &path),
		boolFlag("json", "print one JSON object", &asJSON),
	}
	return &cli.Command{
		Name: "doctor",
		UsageText: `infill doctor
infill doctor --install`,
		ArgsUsage: "[" + strings.Join(known.Installable(), "|") + "]",
		Usage:     "what infill runs on: runtime library, processor, default model, cache folders",
		Flags:     join(ownEnv("install", flags, "force")),
		Action: func(c *cli.Context) error {
			what, names := c.Args().First(), known.Installable()
			if c.NArg() > 1 || what != "" && (!slices.Contains(names, what) || !install) {
				return usagef("doctor takes no argument but %s after --install, got %q",
					strings.Join(names, " or "), what)
			}
			if force && !install {
				return usagef("--force goes with --install")
			}
			if install && path != "" {
				return usagef("--install fills the cache; leave --ort out")
			}
			o := ort.InstallOptions{Force: force, Log: std.err}
			switch {
			case what != "":
				if err := known.Install(c.Context, what, o); err != nil {
					return err
				}
			case install:
				if _, err := ort.Install(c.Context, o); err != nil {
					return err
				}
			}
			return examine(c.Context, std, path, asJSON)
		},
	}
}

// A diagnosis is what doctor prints.
type diagnosis struct {
	Version string      `json:"version"`
	Go      string      `json:"go"`
	OS      string      `json:"os"`
	CPUs    int         `json:"cpus"`
	CPU     []string    `json:"cpu_features"`
	Runtime runtimeJSON `json:"runtime"`
	// Devices are what can evaluate models, and what is in the way of the others.
	Devices []deviceJSON `json:"devices"`
	// Automatic is where large models are opened, if neither that nor the precision is named.
	Automatic automaticJSON `json:"automatic"`
	// Integers says which weights 8-bit products have here: signed, or unsigned where the
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
	Unkept string `json:"unkept,omitempty"`
}

// examine loads the runtime and reports; a runtime that does not work is an
// error after the report, so that scripts notice.
func examine(ctx context.Context, std stdio, path string, asJSON bool) error {
	d := diagnosis{Version: version(), Go: runtime.Version(), OS: runtime.GOOS + "/" +
		runtime.GOARCH, CPUs: runtime.NumCPU(), CPU: cpuFeatures()}
	// What models find by themselves: a device may have a build of its own.
	file := path
	if file == "" && os.Getenv(ort.EnvLibrary) == "" {
		file = devices.Runtime("", "")
	}
	report, err := ort.Load(ort.FindOptions{Path: file})
	if err == nil {
		d.Integers, err = integers()
	}
	if err != nil {
		report.OK, report.Problem = false, message(err)
	}
	switch {
	case report.Source == ort.SourceGiven && path != "":
		report.Source = "flag"
	case report.Source == ort.SourceGiven:
		report.Source = "of a device"
	}
	d.Runtime = runtimeJSON(report)
	d.Devices = wires(devices.About(""), func(v device.About) deviceJSON { return deviceJSON(v) })
	chosen, precision := mlm.Automatic(mlm.LargeWeights, mlm.Options{Devices: devices, Forward: true})
	d.Automatic = automaticJSON{chosen, precision.String(), mlm.LargeWeights}
	cache, cerr := disk.CacheDir("")
	if cerr != nil {
		cache = cerr.Error()
	}
	d.Cache, d.CacheBytes = cache, cacheBytes(cache)
	d.Model.Name, d.Model.Source, d.Model.Bytes = settings.DefaultModel, "embedded in this "+
		"command", models.All()[0].Bytes()
	address := cmp.Or(os.Getenv(settings.EnvName("hub")), hub.ForeignHub())
	d.Hub.Address = hub.Redacted(address)
	token, terr := hub.Token(address)
	if d.Hub.Token = token != ""; terr != nil {
		d.Hub.Problem = terr.Error()
	}
	d.Unkept = mlm.Unkept(ctx, models.Default(), mlm.Options{})
	if asJSON {
		if werr := jsonl.Encode(std.out, d); werr != nil {
			return werr
		}
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "infill %s (%s, %s)\n", d.Version, d.Go, d.OS)
	fmt.Fprintf(&b, "processor: %s; %s\n", count.Of(d.CPUs, "thread"), strings.Join(d.CPU, " "))
	b.WriteString(report.String())
	for _, dev := range d.Devices {
		fmt.Fprintf(&b, "device: %s, %s%s\n", dev.Name, cmp.Or(dev.Problem, dev.About),
			map[bool]string{true: " (infill doctor --install " + dev.Name + ")"}[dev.Missing])
	}
	usual := fmt.Sprintf("%s in %s", device.CPU, mlm.Float32)
	if large := d.Automatic.Device + " in " + d.Automatic.Precision; large != usual {
		stored := map[bool]string{true: " and are stored in 4 or 8 bits"}[precision == mlm.Int8]
		usual = fmt.Sprintf("%s for models whose weights take %s or more in %s%s, %s for others",
			large, megabytes(d.Automatic.Least), mlm.Float32, stored, usual)
	}
	fmt.Fprintf(&b, "device %s: %s\n", mlm.AutoDevice, usual)
	if d.Integers != "" {
		fmt.Fprintf(&b, "8-bit products: %s\n", integersAbout[d.Integers])
	}
	fmt.Fprintf(&b, "default model: %s, %s, %s\n", d.Model.Name, d.Model.Source,
		megabytes(d.Model.Bytes))
	fmt.Fprintf(&b, "hub: %s, %s\n", printable(d.Hub.Address), printable(cmp.Or(d.Hub.Problem,
		map[bool]string{true: "with your token", false: "without a token"}[d.Hub.Token])))
	fmt.Fprintf(&b, "cache folder: %s%s\n", d.Cache, missing(d.Cache))
	for _, name := range slices.Sorted(maps.Keys(d.CacheBytes)) {
		fmt.Fprintf(&b, "  %-11s %s\n", name, megabytes(d.CacheBytes[name]))
	}
	if d.Unkept != "" {
		fmt.Fprintf(&b, "memory: %s\n", unkept(d.Unkept))
	}
	if _, werr := io.WriteString(std.out, b.String()); werr != nil {
		return werr
	}
	return err
}

const (
	signedWeights   = "signed"
	unsignedWeights = "unsigned"
)

// integersAbout says in words what diagnosis.Integers says.
var integersAbout = map[string]string{
	signedWeights:   "signed weights",
	unsignedWeights: "unsigned weights, slower; with signed ones the sums of this processor saturate",
}

// integers asks the runtime, which is loaded.
func integers() (string, error) {
	saturates, err := mlm.SaturatesIntegers()
	switch {
	case err != nil:
		return "", err
	case saturates:
		return unsignedWeights, nil
	}
	return signedWeights, nil
}

func missing(dir string) string {
	if _, err := os.Stat(dir); err != nil {
		return " (not there yet)"
	}
	return ""
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
