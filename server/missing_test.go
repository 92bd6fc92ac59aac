package server

import (
	"context"
	"errors"
	"net"
	"testing"
)

// What was forgotten panicked, in Serve in a goroutine, which ends the process.
func TestMissingArguments(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add("none", nil); !errors.Is(err, errMissing) {
		t.Errorf("no model: %v", err)
	}
	if err := s.Serve(t.Context(), nil, 0); !errors.Is(err, errMissing) {
		t.Errorf("no listener: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var none context.Context
	if err := s.Serve(none, l, 0); !errors.Is(err, errMissing) {
		t.Errorf("no context: %v", err)
	}
}
