package openvino

import (
	"encoding/json"
	"maps"
	"testing"

	"infill/mlm/device"
)

// What the plug-in is told: a precision always, as many streams as there are runs, and no cores.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		session device.Session
		want    map[string]string
	}{
		{device.Session{}, map[string]string{"INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": "1",
			"INFERENCE_NUM_THREADS": "1", "ENABLE_CPU_PINNING": "NO"}},
		{device.Session{Streams: 3, Rounded: true}, map[string]string{
			"INFERENCE_PRECISION_HINT": "bf16", "NUM_STREAMS": "3", "INFERENCE_NUM_THREADS": "3",
			"ENABLE_CPU_PINNING": "NO"}},
	} {
		got, err := options(c.session)
		var said map[string]map[string]string
		if err == nil {
			err = json.Unmarshal([]byte(got["load_config"]), &said)
		}
		if err != nil || len(got) != 1 || len(said) != 1 || !maps.Equal(said["CPU"], c.want) {
			t.Errorf("%v: %v, %v", c.session, got, err)
		}
	}
}

// A plug-in that is not installed says so, and opens no session.
func TestMissing(t *testing.T) {
	t.Setenv(env, "")
	cache := t.TempDir()
	a := Device{}.About(cache)
	if _, err := Plugin.Dir(cache); err == nil && !a.Missing || a.Problem == "" || a.Name != Name {
		t.Errorf("%+v", a)
	}
	if p, err := (Device{}).Provider(device.Session{CacheDir: cache}); err == nil || p != nil {
		t.Errorf("%+v, %v", p, err)
	}
}
