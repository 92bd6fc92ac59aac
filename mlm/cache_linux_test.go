package mlm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"infill/models/weights"
)

// A cache on a disk that is full, or that cannot be written to, is no error, and
// leaves nothing half written; what a read-only one has is used.
func TestCacheDisk(t *testing.T) {
	t.Run("plain", func(t *testing.T) { cacheDisk(t, copyTiny(t), "", "") })
	t.Run("stored", func(t *testing.T) {
		cacheDisk(t, copyStored(t), "0 MB free", "read-only file system")
	})
}

// cacheDisk opens the model of a folder. full and closed are what a disk that is full, or cannot be
// written to, is to be told of.
func cacheDisk(t *testing.T, dir, full, closed string) {
	disk := t.TempDir()
	_, want := opened(t, dir, options{})
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
	says := func(want string) {
		t.Helper()
		o := cached(disk)
		m := openFolderAs(t, dir, o, false)
		if got := m.Info().Unkept; (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("says %q, want %q", got, want)
		}
		for _, fsys := range []fs.FS{m.from.FS, weights.Expand(os.DirFS(dir))} {
			if got := o.shelf().Unkept(t.Context(), fsys, o.File); got != m.Info().Unkept {
				t.Errorf("says %q without the model, with it %q", got, m.Info().Unkept)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	says(full)
	if list, _ := os.ReadDir(disk); full != "" && len(list) > 0 {
		t.Errorf("%v was written where there is visibly no room", list)
	}
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
	if err := mount(syscall.MS_REMOUNT|syscall.MS_RDONLY, "4m"); err != nil {
		t.Fatal(err)
	}
	says(closed)
	if err := mount(syscall.MS_REMOUNT, "4m"); err != nil {
		t.Fatal(err)
	}
	opened(t, dir, cached(disk))
	if err := mount(syscall.MS_REMOUNT|syscall.MS_RDONLY, "4m"); err != nil {
		t.Fatal(err)
	}
	says("")
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
