package disk

import (
	"os"
	"path/filepath"
)

// Repository is the outermost folder that links in a model's folder may lead to, and dir
// below it. That is dir itself and ".", or a repository of Hugging Face's cache if dir is
// one of its snapshots, REPOSITORY/snapshots/REVISION, or a folder in one.
func Repository(dir string) (base, below string) {
	for snapshot := dir; ; {
		snapshots := filepath.Dir(snapshot)
		if snapshots == snapshot {
			return dir, "."
		}
		base := filepath.Dir(snapshots)
		if filepath.Base(snapshots) == "snapshots" {
			if info, err := os.Stat(filepath.Join(base, "blobs")); err == nil && info.IsDir() {
				if below, err := filepath.Rel(base, dir); err == nil {
					return base, below
				}
			}
		}
		snapshot = snapshots
	}
}
