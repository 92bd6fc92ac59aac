package hub

import (
	"errors"
	"net"
	"net/http"
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
		_, err := Cache{t.TempDir()}.Look(t.Context(), Repository{"o/n", "main"}, "", Options{Hub: address})
		if !errors.Is(err, ErrUsage) || strings.Contains(err.Error(), "secr") ||
			!strings.Contains(err.Error(), "HF_TOKEN") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if got := Redacted(DefaultHub); got != DefaultHub {
		t.Error(got)
	}
}

// A transport without a network.
type unplugged struct{}

func (unplugged) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

// Without a network a repository that has a short name is told of it.
func TestAlias(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"answerdotai/ModernBERT-base": "; the same model is known as modernbert-base",
		"answerdotai/ModernBERT":      "",
	} {
		_, err := Cache{t.TempDir()}.Look(t.Context(), Repository{id, "main"}, "",
			Options{Client: &http.Client{Transport: unplugged{}}})
		if !errors.Is(err, ErrNoNetwork) || !strings.HasSuffix(err.Error(), want) ||
			want == "" && strings.Contains(err.Error(), "known as") {
			t.Errorf("%s: %v", id, err)
		}
	}
}
