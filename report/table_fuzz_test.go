package report_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/infill/table"
	"infill/report/measure"
	"infill/report/read"
)

// Whatever a table holds, it has sentences of one line, or the error says what is wrong with it.
func FuzzTable(f *testing.F) {
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
		r, err := measure.Eval(read.Files([]string{path}, nil), nil, measure.EvalOptions{})
		var row *jsonl.Error
		switch {
		case err == nil:
			if r.Files[0].N < 1 || r.Files[0].Format != "csv" {
				t.Errorf("%q: %+v", text, r.Files[0])
			}
		case !errors.Is(err, table.ErrTable) && !errors.As(err, &row) &&
			!errors.Is(err, read.ErrFormat) && !errors.Is(err, read.ErrNoSentences):
			t.Errorf("%q: %v", text, err)
		case !strings.Contains(err.Error(), path):
			t.Errorf("%q: %v does not name the file", text, err)
		}
	})
}
