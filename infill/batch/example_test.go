package batch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"infill/infill/batch"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
)

// A job makes a record of every line and keeps their order, however many are in work. Here a record
// is the text in capitals.
func ExampleJob() {
	in, err := input.Open("-", strings.NewReader("one\ntwo\nthree\n"), input.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	job := batch.Job{
		Input: in, Output: output.Stream(os.Stdout), Workers: 2, Total: -1, MaxErrors: -1,
		Do: func(_ context.Context, it *input.Item) (batch.Record, error) {
			b, err := json.Marshal(map[string]any{"line": it.Line, "text": strings.ToUpper(it.Text)})
			return batch.Record{JSON: b}, err
		},
	}
	p, err := job.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Records, "records")
	// Output:
	// {"line":1,"text":"ONE"}
	// {"line":2,"text":"TWO"}
	// {"line":3,"text":"THREE"}
	// 3 records
}
