package settings

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"infill/mlm"
	"infill/tokenize"
)

// Model is which model is opened and how.
type Model struct {
	Name    string      // of the model, or its path
	Options mlm.Options // File is "" unless it is named apart from Name
}

// DefaultModel is the name of the model that is part of the module.
const DefaultModel = "default"

// ModelDefaults are the values of settings that nobody chose. Device and precision are left to
// [mlm.Open], which stays with the processor, and gradients to the engine. A caller that can do
// with scores of float32 and chains in another precision takes Unrounded back, and one that is sure
// to need gradients Forward. [Model.Used] notes what was chosen.
func ModelDefaults() *Model {
	threads := min(runtime.NumCPU(), mlm.MaxThreads)
	return &Model{Name: DefaultModel, Options: mlm.Options{Threads: threads,
		Device: mlm.AutoDevice, Precision: mlm.Auto, Unrounded: true, Forward: true}}
}

// Used notes the device and the precision that a model was opened with, for manifests.
func (v *Model) Used(m *mlm.Model) {
	v.Options.Device, v.Options.Precision = m.Device(), m.Precision()
}

// numbersValue is access to numbers by their names.
func numbersValue(p *map[string]float64) *Value {
	v := listValue(new([]string))
	v.want, v.wantJSON = "NAME=VALUE with a number", "an object of numbers"
	v.get = func() string {
		var list []string
		for _, name := range slices.Sorted(maps.Keys(*p)) {
			list = append(list, name+"="+strconv.FormatFloat((*p)[name], 'g', -1, 64))
		}
		return strings.Join(list, " ")
	}
	v.set = func(s string) error {
		name, text, _ := strings.Cut(s, "=")
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || name == "" {
			return errWant
		}
		*p = maps.Clone(*p)
		if *p == nil {
			*p = map[string]float64{}
		}
		(*p)[name] = x
		return nil
	}
	v.setJSON = fromJSON(func(all map[string]float64) error { *p = all; return nil })
	return v
}

// ModelTable lists the settings of a [Model] in the order of help and documents.
func ModelTable() Table[Model] { return slices.Clone(modelTable) }

var modelTable = Table[Model]{
	{
		Name: "model", Doc: "folder of an ONNX export, its .onnx file, or the name of a model",
		Arg: "MODEL", bind: func(v *Model) *Value { return textValue(&v.Name) },
	},
	{
		Name: "model-file", Arg: "FILE",
		Doc:  "of a folder with several exports the one to use, such as onnx/model_quantized.onnx",
		bind: func(v *Model) *Value { return textValue(&v.Options.File) },
	},
	{
		Name: "ort", Doc: "ONNX Runtime's shared library, if not found by itself", Arg: "FILE",
		bind: func(v *Model) *Value { return textValue(&v.Options.Runtime) },
	},
	{
		Name: "threads",
		Doc:  "sequences evaluated at the same time; results do not depend on it",
		bind: func(v *Model) *Value { return WholeValue(&v.Options.Threads, 1, mlm.MaxThreads) },
	},
	{
		Name: "batch-tokens",
		Doc: fmt.Sprintf("tokens per call of the runtime, 0: %d, fewer for large models; "+
			"results do not depend on it", mlm.DefaultBatchTokens),
		bind: func(v *Model) *Value { return WholeValue(&v.Options.BatchTokens, 0, mlm.MaxBatchTokens) },
	},
	{
		Name: "low-memory", Doc: "use less memory, somewhat slower", record: true,
		bind: func(v *Model) *Value { return boolValue(&v.Options.LowMemory) },
	},
	{
		Name: "precision", record: true,
		Doc: strings.Join(mlm.Auto.Names(), "|") + ": precision of the model; where a device " +
			"rounds, printed scores are " + mlm.Float32.String() + "; " + mlm.Int8.String() +
			" needs no device; " + mlm.Auto.String() + ": by device and model",
		bind: func(v *Model) *Value { return namedValue(&v.Options.Precision) },
	},
	{
		Name: "input", Arg: "NAME=VALUE", record: true,
		Doc:  "a number for an input of the graph that no text has, such as timesteps=0; repeatable",
		bind: func(v *Model) *Value { return numbersValue(&v.Options.Inputs) },
	},
	{
		Name: "typography", record: true,
		Doc: strings.Join(tokenize.OfModel.Names(), "|") + ": how curly quotes, dashes and their " +
			"like are shown to the model; " + tokenize.Straight.String() +
			": as plain marks; the text stays as it is",
		bind: func(v *Model) *Value { return namedValue(&v.Options.Typography) },
	},
	{
		Name: "device", Arg: "NAME", record: true,
		Doc: "what evaluates the model; " + mlm.AutoDevice + ": large models on a card or another " +
			"device that is installed, others on " + mlm.CPUDevice,
		bind: func(v *Model) *Value { return textValue(&v.Options.Device) },
	},
}
