package jsonwords

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestError(t *testing.T) {
	t.Parallel()
	type file struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
		Size   int     `json:"size"`
		Ratio  float64 `json:"ratio"`
		On     bool    `json:"on"`
		Parent *file   `json:"parent"`
	}
	for in, says := range map[string]string{
		`7`:                       "it is a number, want an object",
		`[]`:                      "it is an array, want an object",
		`{"models":[7]}`:          `"models" is a number, want an object`,
		`{"models":{}}`:           `"models" is an object, want a list`,
		`{"size":"x"}`:            `"size" is a text, want a whole number`,
		`{"size":1.5}`:            `"size" is the number 1.5, want a whole number`,
		`{"ratio":true}`:          `"ratio" is true or false, want a number`,
		`{"on":1}`:                `"on" is a number, want true or false`,
		`{"parent":[1]}`:          `"parent" is an array, want an object`,
		`{"size":`:                "it ends too early",
		``:                        "it ends too early",
		`{"size":1}}`:             "it is not JSON from byte 11 on",
		"{'size':1}":              "it is not JSON from byte 2 on",
		`{"models":[{"name":3}]}`: `"models.name" is a number, want a text`,
	} {
		err := json.Unmarshal([]byte(in), &file{})
		got := Error(err).Error()
		if got != says || strings.Contains(got, "Go ") {
			t.Errorf("%s: %s, want %s (%v)", in, got, says, err)
		}
	}
	if err := errors.New("other"); Error(err) != err || Error(nil) != nil {
		t.Error("another error changes")
	}
}
