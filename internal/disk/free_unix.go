//go:build linux || darwin

package disk

import "syscall"

// free is the number of bytes that this user can still write to the disk of a folder.
func free(dir string) (bytes uint64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true //nolint:unconvert // the types differ by system
}
