package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNoData marks a data set that is not in the folder of data sets. Its message says which
// script fetches it.
var ErrNoData = errors.New("the data set is not there")

// DataFolder is the folder of the data sets: explicit if it is given, else the folder
// experiments of the cache, where the scripts put them.
func DataFolder(explicit string) (string, error) {
	if explicit != "" {
		return filepath.Abs(explicit)
	}
	if cache := os.Getenv("INFILL_CACHE"); cache != "" {
		return filepath.Abs(filepath.Join(cache, "experiments"))
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "infill", "experiments"), nil
}

// DataFile is the path of a file of a data set. Script names the script that fetches it, such as
// lab/scripts/data-fashion-mnist.sh. The error of a missing file is ErrNoData.
func (o Options) DataFile(script string, parts ...string) (string, error) {
	dir, err := DataFolder(o.Data)
	if err != nil {
		return "", err
	}
	name := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %s; %s fetches it", ErrNoData, name, script)
	} else if err != nil {
		return "", err
	}
	return name, nil
}
