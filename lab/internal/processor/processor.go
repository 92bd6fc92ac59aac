// Package processor names the processor that figures were made on.
package processor

import (
	"os"
	"strings"

	"golang.org/x/sys/cpu"
)

// Name is the name of the processor as the kernel states it, and how wide it multiplies.
func Name() string {
	name, width := "unknown", ""
	data, _ := os.ReadFile("/proc/cpuinfo") // not on every system
	for l := range strings.Lines(string(data)) {
		if key, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(key) == "model name" {
			name = strings.TrimSpace(v)
			break
		}
	}
	switch x := cpu.X86; {
	case x.HasAMXTile:
		width = " with AMX"
	case x.HasAVX512VNNI:
		width = " with AVX-512 VNNI"
	case x.HasAVX512F:
		width = " with AVX-512"
	case x.HasAVX2:
		width = " with AVX2"
	}
	return name + width
}
