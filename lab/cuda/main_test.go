package cuda

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"infill/internal/ort/orttest"
)

// Against itself the processor has the same scores, the same bits in any company, and some speed.
func TestRehearsal(t *testing.T) {
	orttest.Load(t)
	data := filepath.Join(t.TempDir(), "texts.txt")
	const texts = "The old man sat down by the river.\nShe opened the door and went in.\n"
	if err := os.WriteFile(data, []byte(texts), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := Command(t.Context(), []string{"-device", "cpu", "-model", "../../models/small", "-rows", "3 9",
		"-seconds", "0.1", "-threads", "2", "-data", data}, nil, &out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for dec := json.NewDecoder(&out); dec.More(); {
		var line struct {
			What    string  `json:"what"`
			Speed   float64 `json:"rows_a_second"`
			Of      int     `json:"of"`
			Others  int     `json:"others"`
			Crowded int     `json:"crowded"`
			Rows    int     `json:"rows"`
			Most    float64 `json:"most_nats"`
			KL      float64 `json:"kl_mean"`
			Same    float64 `json:"same_top1"`
		}
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		seen[line.What]++
		switch {
		case line.Rows > 0 && (line.Rows != 2 || line.Most != 0 || line.KL != 0 || line.Same != 1),
			line.What == "neighbours" && (line.Of == 0 || line.Others+line.Crowded != 0),
			line.What == "rows" && !(line.Speed > 0):
			t.Errorf("%+v", line)
		}
	}
	if seen["rows"] != 4 || seen["scores"] != 6 || seen["neighbours"] != 2 {
		t.Error(seen)
	}
}

// The sums of a comparison, from rows whose distance is known.
func TestAdd(t *testing.T) {
	var d difference
	half, rest := float32(math.Log(.5)), float32(math.Log(.25))
	d.add([]float32{half, rest, rest}, []float32{rest, half, rest}, 0)
	if math.Abs(d.KL-.25*math.Log(2)) > 1e-6 || d.Same != 0 || d.CPUTop1 != 1 || d.Top1 != 0 ||
		math.Abs(d.Most-math.Log(2)) > 1e-6 {
		t.Errorf("%+v", d)
	}
}
