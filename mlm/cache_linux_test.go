package mlm

import (
	"errors"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// A cache on a disk that is full, or that cannot be written to, is no error, and
// leaves nothing half written; what a read-only one has is used.
func TestCacheDisk(t *testing.T) {
	t.Run("plain", func(t *testing.T) { cacheDisk(t, copyTiny(t)) })
	t.Run("stored", func(t *testing.T) { cacheDisk(t, copyStored(t)) })
}

func cacheDisk(t *testing.T, dir string) {
	disk := t.TempDir()
	_, want := opened(t, dir, Options{})
	mount := func(flags uintptr, size string) error {
		return syscall.Mount("tmpfs", disk, "tmpfs", flags, "size="+size)
	}
	if err := mount(0, "16k"); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("mounting needs more rights: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	for range 2 {
		if hit, got := opened(t, dir, cached(disk)); hit || !slices.Equal(got, want) {
			t.Errorf("full disk: from the cache %v, right %v", hit, slices.Equal(got, want))
		}
	}
	if n := len(entries(t, disk, graphSuffix)); n > 0 {
		t.Errorf("%d graphs on a disk of 16 KB", n)
	}
	if rest, _ := filepath.Glob(filepath.Join(disk, "graphs", ".infill-*.tmp")); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
	if err := mount(syscall.MS_REMOUNT, "4m"); err != nil {
		t.Fatal(err)
	}
	opened(t, dir, cached(disk))
	if err := mount(syscall.MS_REMOUNT|syscall.MS_RDONLY, "4m"); err != nil {
		t.Fatal(err)
	}
	if hit, got := opened(t, dir, cached(disk)); !hit || !slices.Equal(got, want) {
		t.Errorf("read-only: from the cache %v, right %v", hit, slices.Equal(got, want))
	}
	o := cached(disk)
	o.LowMemory = true
	opened(t, dir, o)
	if n := len(entries(t, disk, graphSuffix)); n != 1 {
		t.Errorf("%d graphs on a read-only disk", n)
	}
}
