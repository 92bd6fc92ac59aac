package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"strings"

	"infill/beam/pipeline"
	"infill/infill/settings"
)

// options are the flags of the command. Those of settings come from the tables of package settings.
type options struct {
	set           *flag.FlagSet
	own           []string // names of flags that are not the SDK's, in the order of help
	envs          map[string]string
	chosen        []pipeline.Setting
	job           pipeline.Job
	file          settings.File
	okIfLinesFail bool
}

// fileSettings are the settings of files that this command has. Its output has one form.
var fileSettings = []string{"format", "text-field", "limit"}

func newOptions(set *flag.FlagSet) *options {
	o := &options{set: set, file: *settings.FileDefaults(), envs: map[string]string{}}
	o.job.ChunkLines, o.job.ShardLines = pipeline.DefaultChunkLines, pipeline.DefaultShardLines
	o.add("input", "file of texts or JSON lines, maybe compressed by gzip or zstd",
		settings.ValueOf(&o.job.Source.Path))
	o.add("output", "what names of output files begin with: PREFIX-00000.jsonl and so on",
		settings.ValueOf(&o.job.Output))
	o.add("force", "remove output of an earlier run", settings.ValueOf(&o.job.Force))
	o.add("ok-if-lines-fail", "exit code 0 although lines failed",
		settings.ValueOf(&o.okIfLinesFail))
	o.add("chunk-lines", "lines that are filled at a time, and again if a worker is lost",
		settings.WholeValue(&o.job.ChunkLines, 1, math.MaxInt32))
	o.add("shard-lines", "records of an output file; a worker holds them in memory",
		settings.WholeValue(&o.job.ShardLines, 1, math.MaxInt32))
	for _, s := range settings.FileTable() {
		for _, name := range fileSettings {
			if s.Name == name {
				o.add(s.Name, s.Doc, s.Value(&o.file))
			}
		}
	}
	addSettings(o, settings.FillTable(), settings.Defaults())
	addSettings(o, settings.ModelTable(), settings.ModelDefaults())
	return o
}

// addSettings adds the flags of a table. Each value is checked, and kept as it was given. The
// setting input is model-input here, as Beam's programs call their file so.
func addSettings[T any](o *options, table []*settings.Setting[T], v *T) {
	for _, s := range table {
		name := s.Name
		if o.set.Lookup(name) != nil {
			name = "model-" + name
		}
		o.add(name, s.Doc, &kept{Value: s.Value(v), name: s.Name, list: &o.chosen})
		o.envs[name] = s.Env()
	}
}

// docs are the texts of settings that mean something else here.
var docs = map[string]string{
	"format":     "of the input, text or jsonl; auto: by its name, or first bytes",
	"text-field": "the field of JSON lines that has the text",
	"model": "folder of an ONNX export, or its .onnx file, under the same path on every worker; " +
		"default: the one in the program",
	"ort": "ONNX Runtime's shared library on the workers, if not found by itself",
}

func (o *options) add(name, doc string, v flag.Value) {
	if own, ok := docs[name]; ok {
		doc = own
	}
	o.set.Var(v, name, doc)
	o.own = append(o.own, name)
}

// kept is a value whose texts are kept, too.
type kept struct {
	*settings.Value
	name string
	list *[]pipeline.Setting
}

// Set checks and keeps a text.
func (k *kept) Set(text string) error {
	if err := k.Value.Set(text); err != nil {
		return err
	}
	*k.list = append(*k.list, pipeline.Setting{Name: k.name, Text: text})
	return nil
}

// String is the value; package flag asks a zero value, too.
func (k *kept) String() string {
	if k == nil || k.Value == nil {
		return ""
	}
	return k.Value.String()
}

// IsBoolFlag says that the name alone means true.
func (k *kept) IsBoolFlag() bool { return k.Value != nil && k.Value.IsBoolFlag() }

// environment sets the settings that have a variable, as those of infill batch.
func (o *options) environment(get func(string) string) error {
	for _, name := range o.own {
		env, ok := o.envs[name]
		if !ok || get(env) == "" {
			continue
		}
		if err := o.set.Lookup(name).Value.Set(get(env)); err != nil {
			return fmt.Errorf("environment variable %s: %w", env, err)
		}
	}
	return nil
}

// finish puts what the flags say of files into the job.
func (o *options) finish() {
	src := &o.job.Source
	src.Format, src.TextField, src.Limit = o.file.Format, o.file.TextField, o.file.Limit
}

// beamFlags are the flags of the SDK that most runs need.
var beamFlags = []string{"runner", "endpoint", "environment_type", "environment_config",
	"worker_binary", "parallelism", "job_name", "async"}

// help prints the flags.
func (o *options) help(w io.Writer) {
	fmt.Fprint(w, `infill-beam --input FILE --output PREFIX [flags]

Fills a file on a runner of Apache Beam; without --runner in this process, on Prism.
`)
	o.list(w, "Flags", o.own)
	o.list(w, "Flags of Beam", beamFlags)
	fmt.Fprint(w, "\nBeam's SDK and its runners have more; they are in Beam's documentation.\n")
}

func (o *options) list(w io.Writer, title string, names []string) {
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, name := range names {
		f := o.set.Lookup(name)
		usage := strings.ReplaceAll(f.Usage, "\n", " ")
		if f.DefValue != "" && f.DefValue != "false" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(w, "  --%-22s %s\n", name, usage)
	}
}
