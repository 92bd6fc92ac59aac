package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks one byte far behind the end of any file: a lock of this system keeps
// everybody else from reading what it covers.
func tryLock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	at := &windows.Overlapped{OffsetHigh: 0x7fffffff}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlock(*os.File) {} // a child has no part in a lock

// SyncDir does nothing: the system has no such call.
func SyncDir(string) error { return nil }

// free is the number of bytes that this user can still write to the disk of a folder.
func free(dir string) (bytes uint64, ok bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil || windows.GetDiskFreeSpaceEx(name, &bytes, nil, nil) != nil {
		return 0, false
	}
	return bytes, true
}
