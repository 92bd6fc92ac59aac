package main

import (
	"fmt"

	"infill/infill"
)

// protocol sets what the protocol's name says.
func protocol(name string, opt *infill.Options) error {
	switch name {
	case "A":
		return nil
	}
	return fmt.Errorf("-protocols %s: want A", name)
}
