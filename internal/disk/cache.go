// Package disk has the rules for files of this module, each in one place: where the
// cache is, how a file is replaced, how a lock is taken, and how a file is opened that
// must be a regular one.
package disk

import (
	"fmt"
	"os"
	"path/filepath"
)

// EnvCache is the environment variable that names the cache folder.
const EnvCache = "INFILL_CACHE"

// CacheDir is the folder that holds everything this module caches: explicit if it is
// given, else the folder that [EnvCache] names, else os.UserCacheDir()/infill. The path
// is absolute. The folder is not created.
func CacheDir(explicit string) (string, error) {
	if explicit != "" {
		return filepath.Abs(explicit)
	}
	if env := os.Getenv(EnvCache); env != "" {
		return filepath.Abs(env)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w; set %s to a folder", err, EnvCache)
	}
	return filepath.Join(dir, "infill"), nil
}
