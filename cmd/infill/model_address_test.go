package main

import (
	"strings"
	"testing"
)

// A password in the hub's address is printed nowhere.
func TestHubPassword(t *testing.T) {
	tinyHub(t)
	const address = "http://user:secret@127.0.0.1:1"
	refused := func(args ...string) {
		t.Helper()
		r := infillRun("", append([]string{"model", "pull"}, args...)...)
		if r.code != exitUsage || strings.Contains(r.out+r.err, "secret") ||
			!strings.Contains(r.err, "put a token into HF_TOKEN") {
			t.Errorf("%q: exit %d: %s%s", args, r.code, r.out, r.err)
		}
	}
	refused("--hub", address, "o/tiny")
	refused("--hub", address, "roberta-base")
	for _, name := range []string{"INFILL_HUB", "HF_ENDPOINT"} {
		t.Setenv("INFILL_HUB", "")
		t.Setenv(name, address)
		refused("o/tiny")
		for _, args := range [][]string{{"doctor"}, {"doctor", "--json"}, {"model", "pull", "--help"}} {
			if r := infillRun("", args...); r.code != 0 || strings.Contains(r.out+r.err, "secret") ||
				!strings.Contains(r.out, "127.0.0.1") && name == "HF_ENDPOINT" {
				t.Errorf("%q: exit %d: %s%s", args, r.code, r.out, r.err)
			}
		}
	}
}

// Messages have the address that was asked, and advice that helps for the model.
func TestPullMessages(t *testing.T) {
	server := tinyHub(t)
	for _, c := range []struct {
		args          []string
		code          int
		says, saysNot string
	}{
		{[]string{"roberta-base"}, exitTrouble, "from " + server.URL + "/Xenova/roberta-base", "from " + "https://huggingface.co"},
		{[]string{"https://huggingface.co/foo/bar"}, exitUsage, "write foo/bar", "no folder"},
		{[]string{"https://huggingface.co/foo/bar/tree/main"}, exitUsage, "write foo/bar", "no folder"},
		{[]string{"https://huggingface.co/bar"}, exitUsage, "no folder", "write"},
		{[]string{"--offline", "roberta-base"}, exitTrouble, "pull roberta-base on a machine", "known as"},
		{[]string{"--offline", "foo/bar"}, exitTrouble, "copy its folder", "known as"},
	} {
		r := infillRun("", append([]string{"model", "pull"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.err, c.says) || strings.Contains(r.err, c.saysNot) {
			t.Errorf("%q: exit %d: %s%s", c.args, r.code, r.out, r.err)
		}
	}
}
