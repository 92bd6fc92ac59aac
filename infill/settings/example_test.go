package settings_test

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"

	"infill/infill/settings"
	"infill/tokenize"
)

// A line of a file has settings of its own over those of the run. Its other fields are passed over.
func ExampleFilling_ForLine() {
	tok, err := tokenize.Load(os.DirFS("../../tokenize/testdata/uncased"))
	if err != nil {
		log.Fatal(err)
	}
	given := settings.Defaults()
	given.Options.Results.Top = 3
	run, err := given.Prepare(tok)
	if err != nil {
		log.Fatal(err)
	}
	var fields map[string]json.RawMessage
	line := `{"text": "The [MASK] sat.", "temperature": 0.5, "ban": ["dog"], "source": "zoo"}`
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		log.Fatal(err)
	}
	own, changed, err := run.ForLine(tok, maps.All(fields))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(changed, own.Options.Sampling.Temperature, own.Options.Words.Ban.Len(),
		own.Options.Results.Top)
	fmt.Println(run.Options.Sampling.Temperature, run.Options.Words.Ban == nil)

	fields["temperature"] = json.RawMessage("-1")
	_, _, err = run.ForLine(tok, maps.All(fields))
	fmt.Println(err)
	// Output:
	// true 0.5 1 3
	// 1 true
	// bad setting: "temperature" is -1, want a number from 1e-300 to 1e+300
}
