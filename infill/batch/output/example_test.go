package output_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"infill/infill/batch"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/settings"
)

// Two shards are worked on, elsewhere by two processes, and joined to the output of the whole.
func ExampleJoin() {
	dir, err := os.MkdirTemp("", "shards")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "in.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o666); err != nil {
		log.Fatal(err)
	}
	capitals := func(shard settings.Shard, to string) error {
		in, err := input.Open(path, nil, input.Options{Shard: shard})
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		survey, err := in.Survey()
		if err != nil {
			return err
		}
		m := &output.Manifest{Version: "v1", Model: "capitals",
			Bytes: survey.Bytes, SHA256: survey.SHA256, Shard: shard}
		out, err := m.Open(to, in, output.Resume, output.Layout{})
		if err != nil {
			return err
		}
		job := batch.Job{Input: in, Output: out, Workers: 1, Total: survey.Records, MaxErrors: -1,
			Do: func(_ context.Context, it *input.Item) (batch.Record, error) {
				b, err := json.Marshal(map[string]any{"line": it.Line, "text": strings.ToUpper(it.Text)})
				return batch.Record{JSON: b}, err
			}}
		_, err = job.Run(context.Background())
		return err
	}
	for i := range 2 {
		to := filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", i))
		if err := capitals(settings.Shard{Index: i, Of: 2}, to); err != nil {
			log.Fatal(err)
		}
	}
	joined := filepath.Join(dir, "joined.jsonl")
	records, _, err := output.Join(context.Background(), joined, []string{dir}, output.Create)
	if err != nil {
		log.Fatal(err)
	}
	b, err := os.ReadFile(joined)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s%d records\n", b, records)
	// Output:
	// {"line":1,"text":"ONE"}
	// {"line":2,"text":"TWO"}
	// {"line":3,"text":"THREE"}
	// 3 records
}
