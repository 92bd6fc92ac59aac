//go:build unix

package batch

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other processes from writing the same output. The lock ends with
// the process, whatever ends it.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return nil // some file systems have no locks
}
