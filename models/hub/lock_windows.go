package hub

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock if no other process has it. The system gives it back when the process ends,
// however that comes about.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// syncDir does nothing: the system has no such call.
func syncDir(string) error { return nil }
