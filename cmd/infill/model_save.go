package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/console"
	"infill/infill/open"
	"infill/internal/count"
	"infill/internal/disk"
	"infill/mlm"
	"infill/models/weights"
)

const modelSaveDescription = "" +
	`For other programs, which cannot read a model that is part of this one: the folder has model.onnx
with its weights, vocab.txt and config.json. Of a model that is evaluated in 8 bits it has
model_int8.onnx, too, with the same scores. A folder that has files already is left alone.`

func modelSaveCommand(std console.IO) *cli.Command {
	return &cli.Command{
		Name:        "save",
		UsageText:   `infill model save default ./english`,
		Usage:       "write the files of a model to a new folder; prints its path",
		ArgsUsage:   "NAME DIR",
		Description: modelSaveDescription,
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return usagef("model save takes a model and a folder, got %s", count.Of(c.NArg(), "argument"))
			}
			dir := c.Args().Get(1)
			if dir == "" { // an unset variable, which is not the present folder
				return usagef("model save: the name of the folder is empty; give one that does not exist")
			}
			src, err := resolveModel(c.Args().Get(0), "")
			if err != nil {
				return err
			}
			if err := saveModel(c.Context, src, dir); err != nil {
				return fmt.Errorf("model save: %w", err)
			}
			return printText(std.Out, dir+"\n")
		},
	}
}

// saveModel writes the files of a model to a new folder.
func saveModel(ctx context.Context, s open.Source, dir string) error {
	if s.File != "" {
		return fmt.Errorf("%s is a file; give the folder of the model", filepath.Join(s.Dir, s.File))
	}
	if s.Part != "" {
		return saveBoth(ctx, s.Files(), dir)
	}
	if inside, err := below(s.Dir, dir); err != nil || inside {
		return cmp.Or(err, fmt.Errorf("%s is in the folder of the model; give one outside", dir))
	}
	files, done, err := openRoot(s.Dir)
	if err != nil {
		return err
	}
	defer done()
	return saveBoth(ctx, weights.Expand(files), dir)
}

// int8File is the name of a model in 8 bits that was saved.
const int8File = "model_int8.onnx"

// saveBoth saves a folder and the model in 8 bits, if the program evaluates that.
func saveBoth(ctx context.Context, from fs.FS, dir string) error {
	if err := saveFolder(from, dir); err != nil {
		return err
	}
	file, err := mlm.WholeInt8(ctx, from)
	if err != nil || file == nil {
		return err
	}
	return disk.Write(filepath.Join(dir, int8File), file)
}

// openRoot opens a folder. No link leads out of it. Those of a snapshot in Hugging Face's cache may
// lead to wherever its repository is.
func openRoot(dir string) (files fs.FS, done func(), err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, nil, err
	}
	base, below := disk.Repository(dir)
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, nil, err
	}
	files, err = fs.Sub(disk.RootFS(root), filepath.ToSlash(below))
	if err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	return files, func() { _ = root.Close() }, nil
}

// below says whether a path lies in a folder or is it. The end of the path need not exist.
func below(folder, path string) (bool, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return false, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return false, err
	}
	for ; ; path = filepath.Dir(path) {
		if disk.Same(folder, path) {
			return true, nil
		}
		if path == filepath.Dir(path) {
			return false, nil
		}
	}
}

// saveFolder writes the files of a folder to a new one, or to one that is empty, and in place of
// links what they lead to. What was not written whole does not have its name.
func saveFolder(from fs.FS, dir string) error {
	switch there, err := os.ReadDir(dir); {
	case err == nil && len(there) > 0:
		return fmt.Errorf("%s is not empty; give a folder that does not exist", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	n := 0
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(to, 0o777)
		}
		if info, err := fs.Stat(from, name); err != nil || !info.Mode().IsRegular() {
			return err
		}
		in, err := disk.OpenFS(from, name)
		if err != nil {
			return err
		}
		defer in.Close() //nolint:errcheck // opened for reading
		n++
		return disk.WriteFunc(to, func(out io.Writer) error {
			_, err := io.Copy(out, in)
			return err
		})
	})
	if err == nil && n == 0 {
		return errors.New("the folder of the model is empty")
	}
	return err
}
