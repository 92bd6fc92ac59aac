package main

import (
	"infill/internal/ort"
	"infill/mlm/device"
)

// The types in this file are the JSON of what doctor prints. The libraries have the same fields
// without names for JSON. A conversion of a whole struct stops compiling when its library type gets
// a field that has no name here.

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
	Name         string          `json:"name"`
	About        string          `json:"about"`
	Problem      string          `json:"problem,omitempty"`
	Missing      bool            `json:"missing,omitempty"`
	Identity     string          `json:"identity"`
	Rounding     device.Rounding `json:"rounding,omitempty"`
	Apart        int             `json:"-"`
	Tokens       int             `json:"-"`
	FixedWeights bool            `json:"-"`
	NoIntegers   bool            `json:"-"`
	Slow         bool            `json:"-"`
}

// automaticJSON is what mlm.Automatic says of models with weights of Least bytes or more.
type automaticJSON struct {
	Device    string `json:"device"`
	Precision string `json:"precision"`
	Least     int64  `json:"least_bytes"`
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
