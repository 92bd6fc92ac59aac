package batch

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/infill/table"
)

// Whatever a table holds, its records are JSON, a line each, or the error says what is wrong with it.
func FuzzOpenFilled(f *testing.F) {
	f.Add("line,rank,filled,score,score_per_token,acceptance\n1,1,a dog .,-2.5,-1,0.5\n1,2,a cat .,-3,-1,0.5\n")
	f.Add("text,line,blanked,filled,fillings,error,error_message\n" +
		`x,1,a [MASK],a b,"[{""filled"":""a b"",""score"":-1},{""filled"":""a c""}]",,` + "\ny,2,,,,no_blank,none\n")
	f.Add("filled,fillings\na,\"[1\"\n")
	f.Add("filled,line\na,\n\nb\n")
	f.Add("variant,filled\n1,a\n")
	f.Add("line,variant,original,text,filled,score,error\n1,1,a,b,\"[\"\"b\"\"]\",-1,\n2,,,,,,empty\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenFilled(path, "")
		var records []byte
		if err == nil {
			records, err = io.ReadAll(r)
			if cerr := r.Close(); cerr != nil {
				t.Error(cerr)
			}
		}
		var row *jsonl.Error
		if err != nil && !errors.Is(err, table.ErrTable) && !errors.As(err, &row) {
			t.Errorf("%q: %v", text, err)
		}
		for line := range strings.Lines(string(records)) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%q: %q is not JSON", text, line)
			}
		}
	})
}
