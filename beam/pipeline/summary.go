package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// A Summary says what came of a job. Its numbers are read from the output files, because a runner's
// counters may count a chunk twice, or lose it.
type Summary struct {
	Input   string `json:"input"`
	Files   int    `json:"files"`
	Chunks  int    `json:"chunks"`
	Records int    `json:"records"` // those of lines that failed included
	Failed  int    `json:"failed"`
	Seed    uint64 `json:"seed"`
	Version string `json:"version"`
	// Settings are those that were chosen, by their names.
	Settings []Setting `json:"settings"`
}

// SummaryPath is where the summary of a job is.
func SummaryPath(output string) string { return output + ".json" }

// summarize writes the summary when all files are there.
func (j *Job) summarize(s beam.Scope, files ...beam.PCollection) {
	s = s.Scope("infill.Summary")
	// An input without lines gives no file. The first element is there in any case.
	files = append(files, beam.Create(s, File{}))
	fn := &summaryFn{Output: j.Output, Summary: Summary{Input: j.Source.Path, Seed: j.Settings.Seed,
		Version: j.Version, Settings: j.Settings.Chosen}}
	beam.ParDo0(s, fn, beam.GroupByKey(s, beam.AddFixedKey(s, beam.Flatten(s, files...))))
}

type summaryFn struct {
	Output  string
	Summary Summary
}

// ProcessElement counts and writes, last of all.
func (f *summaryFn) ProcessElement(ctx context.Context, _ int, next func(*File) bool) error {
	sum := f.Summary
	for {
		var file File
		if !next(&file) {
			break
		}
		switch {
		case file.Path == "":
		case strings.HasPrefix(file.Path, FailedPrefix(f.Output)+"-"):
			sum.Failed += file.Records
		default:
			sum.Files++
			sum.Chunks += file.Chunks
			sum.Records += file.Records
		}
	}
	text, err := json.MarshalIndent(sum, "", "  ")
	if err != nil {
		return err
	}
	path := SummaryPath(f.Output)
	if err := replace(ctx, path, append(text, '\n')); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// ReadSummary reads the summary of a job that is complete.
func ReadSummary(ctx context.Context, output string) (sum Summary, err error) {
	path := SummaryPath(output)
	files, err := filesystem.New(ctx, path)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	text, err := filesystem.Read(ctx, files, path)
	if err != nil {
		return sum, fmt.Errorf("the summary: %w", err)
	}
	if err := json.Unmarshal(text, &sum); err != nil {
		return sum, fmt.Errorf("%s: %w", path, err)
	}
	return sum, nil
}

func init() {
	register.DoFn3x1[context.Context, int, func(*File) bool, error](&summaryFn{})
	register.Iter1[File]()
}
