package main

import (
	"infill/internal/ort"
	"infill/mlm"
	"infill/models/hub"
)

// The types in this file are the JSON of commands that print what a library found. The libraries
// have the same fields without names for JSON. A conversion of a whole struct stops compiling when
// its library type gets a field that has no name here.

// infoJSON is mlm.Info.
type infoJSON struct {
	File         string         `json:"file"`
	SHA256       string         `json:"sha256"`
	FileSHA256   string         `json:"file_sha256"`
	Architecture string         `json:"architecture"`
	Producer     string         `json:"producer"`
	Opset        int64          `json:"opset"`
	Inputs       []string       `json:"inputs"`
	Vocab        int            `json:"vocab"`
	Tokens       int            `json:"tokens"`
	Hidden       int            `json:"hidden"`
	MaxLength    int            `json:"max_length"`
	MaskID       int32          `json:"mask_id"`
	Mask         string         `json:"mask"`
	Known        string         `json:"known_vocabulary,omitempty"`
	Embedding    string         `json:"embedding"`
	Head         string         `json:"head"`
	Tied         bool           `json:"tied"`
	Parameters   int64          `json:"parameters"`
	Bytes        int64          `json:"bytes"`
	Ops          map[string]int `json:"ops"`
	Gradients    bool           `json:"gradients"`
	NoGradients  string         `json:"no_gradients,omitempty"`
	Warnings     []string       `json:"warnings,omitempty"`
	Adapted      []string       `json:"adapted,omitempty"`
	Unkept       string         `json:"unkept,omitempty"`
}

// recognisedJSON is what model info prints.
type recognisedJSON struct {
	infoJSON
	Problems []string `json:"problems,omitempty"`
}

func (r *recognised) wire() recognisedJSON {
	return recognisedJSON{infoJSON(r.Info), r.Problems}
}

// accuracyJSON is mlm.Accuracy.
type accuracyJSON struct {
	Masked     int     `json:"masked"`
	Top1       float64 `json:"top1"`
	Top5       float64 `json:"top5"`
	Perplexity float64 `json:"perplexity"`
}

// bandJSON is mlm.Band.
type bandJSON struct {
	FromRank int `json:"from_rank"`
	ToRank   int `json:"to_rank"`
	accuracyJSON
}

// evalJSON is what model eval prints.
type evalJSON struct {
	accuracyJSON
	Lines   int        `json:"lines"`
	Pieces  int        `json:"pieces"`
	TooLong int        `json:"too_long"`
	Empty   int        `json:"empty"`
	Bands   []bandJSON `json:"bands"`
}

func evalWire(r *mlm.EvalReport) evalJSON {
	w := evalJSON{accuracyJSON: accuracyJSON(r.Accuracy), Lines: r.Lines, Pieces: r.Pieces,
		TooLong: r.TooLong, Empty: r.Empty}
	w.Bands = wires(r.Bands, func(b mlm.Band) bandJSON {
		return bandJSON{b.FromRank, b.ToRank, accuracyJSON(b.Accuracy)}
	})
	return w
}

// gradientCheckJSON is what model check prints: mlm.CheckReport.
type gradientCheckJSON struct {
	Blanks         int     `json:"blanks"`
	Directions     int     `json:"directions"`
	LogProbError   float64 `json:"log_prob_error"`
	FirstTermError float64 `json:"first_term_error"`
	GradientError  float64 `json:"gradient_error"`
	GradientScale  float64 `json:"gradient_scale"`
	GradientRMS    float64 `json:"gradient_rms"`
	Tolerance      float64 `json:"tolerance"`
	RMSTolerance   float64 `json:"rms_tolerance,omitempty"`
	OK             bool    `json:"ok"`
}

// runtimeJSON is ort.Report.
type runtimeJSON struct {
	OK       bool       `json:"ok"`
	Problem  string     `json:"problem,omitempty"`
	Note     string     `json:"note,omitempty"`
	Path     string     `json:"path,omitempty"`
	Source   ort.Source `json:"source,omitempty"`
	Version  string     `json:"version,omitempty"`
	SHA256   string     `json:"sha256,omitempty"`
	Pinned   bool       `json:"pinned"`
	Size     int64      `json:"size,omitempty"`
	Loaded   bool       `json:"loaded"`
	Platform string     `json:"platform"`
	Cache    string     `json:"cache,omitempty"`
	Looked   []string   `json:"looked,omitempty"`
}

// deviceJSON is device.About.
type deviceJSON struct {
	Name         string `json:"name"`
	About        string `json:"about"`
	Problem      string `json:"problem,omitempty"`
	Missing      bool   `json:"missing,omitempty"`
	Identity     string `json:"identity"`
	BFloat16     bool   `json:"bfloat16,omitempty"`
	FixedWeights bool   `json:"-"`
	NoIntegers   bool   `json:"-"`
	Slow         bool   `json:"-"`
}

// automaticJSON is what mlm.Automatic says of models with weights of Least bytes or more.
type automaticJSON struct {
	Device    string `json:"device"`
	Precision string `json:"precision"`
	Least     int64  `json:"least_bytes"`
}

// fileCheckJSON is hub.Check.
type fileCheckJSON struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
	Want   string `json:"want,omitempty"`
	By     string `json:"by,omitempty"`
	Result string `json:"result"`
}

// verificationJSON is what model verify prints.
type verificationJSON struct {
	Model  string          `json:"model"`
	Folder string          `json:"folder,omitempty"`
	Files  []fileCheckJSON `json:"files"`
	OK     bool            `json:"ok"`
}

func (v *verification) wire() verificationJSON {
	return verificationJSON{v.Model, v.Folder, wires(v.Files, func(c hub.Check) fileCheckJSON {
		return fileCheckJSON(c)
	}), v.OK}
}

// wires converts every element. nil stays nil.
func wires[T, W any](list []T, one func(T) W) []W {
	if list == nil {
		return nil
	}
	out := make([]W, len(list))
	for i, v := range list {
		out[i] = one(v)
	}
	return out
}
