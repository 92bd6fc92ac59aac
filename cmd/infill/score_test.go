package main

import (
	"maps"
	"testing"

	"infill/infill/settings"
	"infill/mlm"
)

// The manifest of a file of scores has what decides them. Settings that came after the first
// release are in it only when they are changed, so that older manifests stay valid.
func TestScoreManifest(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"candidates": "", "normalize": "none", "case": "auto", "long": "window", "low-memory": "false",
	}
	f := &scoreFlags{modelFlags: modelFlags{Model: *settings.ModelDefaults()}}
	f.Options.Device = mlm.CPUDevice                     // as it was opened
	f.Options.Precision, f.Options.Threads = mlm.Int8, 7 // decide no score
	got, err := f.recorded()
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	f.Options.Device, f.Options.LowMemory = "other", true
	want["device"], want["low-memory"] = "other", "true"
	if got, err = f.recorded(); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
