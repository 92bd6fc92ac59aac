package hub

import (
	"errors"
	"strings"
	"testing"
)

// No name and no password of an address is printed, also of one that is not valid.
func TestAddressWithPassword(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://user:secret@host/a":     "https://xxxxx@host/a",
		"http://secret@localhost:1":      "http://xxxxx@localhost:1",
		"https://user:sec%ret@host":      "https://xxxxx@host",
		"https://user:secr@secret@host":  "https://xxxxx@host",
		"user:secret@host":               "xxxxx@host",
		"https://user:x/secret@host.com": "https://xxxxx@host.com",
	} {
		if got := Redacted(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
		_, err := Cache{t.TempDir()}.Look(t.Context(), "o/n", "", Options{Hub: address})
		if !errors.Is(err, ErrUsage) || strings.Contains(err.Error(), "secr") ||
			!strings.Contains(err.Error(), "HF_TOKEN") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if got := Redacted(defaultHub); got != defaultHub {
		t.Error(got)
	}
}
