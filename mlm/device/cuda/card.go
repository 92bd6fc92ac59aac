package cuda

import (
	"fmt"
	"strings"
)

// What the build of the runtime asks for.
const (
	leastCUDA       = 13000 // that the driver knows, 1000·major + 10·minor
	leastDriver     = "580"
	leastCapability = 75 // 10·major + minor
)

// A card is what the driver says of the first one.
type card struct {
	name, driver     string
	cuda, capability int
	memory           int64 // bytes
}

// problem says why a card or its driver is too old, "" if it is not.
func (c card) problem() string {
	switch {
	case c.cuda < leastCUDA:
		return fmt.Sprintf("the driver %sis for CUDA %d.%d, and 13.0 is needed: install driver %s or "+
			"later", c.driver+strings.Repeat(" ", min(1, len(c.driver))), c.cuda/1000, c.cuda%1000/10,
			leastDriver)
	case c.capability < leastCapability:
		return fmt.Sprintf("%s has compute capability %d.%d, and %d.%d is needed", c.name,
			c.capability/10, c.capability%10, leastCapability/10, leastCapability%10)
	}
	return ""
}

// String names the card, its memory and its driver.
func (c card) String() string {
	s := fmt.Sprintf("%s, %d MiB", c.name, c.memory>>20)
	if c.driver != "" {
		s += ", driver " + c.driver
	}
	return s
}
