//go:build !linux

package cuda

import "errors"

// card is what the driver says of the first card.
var errPlatform = errors.New("cuda is for linux-amd64")

func driver() (card, error) { return card{}, errPlatform }

func load([]string) error { return errPlatform }
