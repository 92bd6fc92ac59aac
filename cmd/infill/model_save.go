package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"infill/internal/count"
	"infill/internal/disk"
)

const modelSaveDescription = "" +
	`For other programs, which cannot read a model that is part of this one: the folder has model.onnx
with its weights, vocab.txt and config.json. A folder that has files already is left alone.`

func modelSaveCommand(std stdio) *cli.Command {
	return &cli.Command{
		Name:        "save",
		Usage:       "write the files of a model to a new folder; prints its path",
		ArgsUsage:   "NAME DIR",
		Description: modelSaveDescription,
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return usagef("model save takes a model and a folder, got %s", count.Of(c.NArg(), "argument"))
			}
			src, err := resolveModel(c.Args().Get(0))
			if err != nil {
				return err
			}
			dir := c.Args().Get(1)
			if err := saveFolder(src.files(), dir); err != nil {
				return fmt.Errorf("model save: %w", err)
			}
			_, err = fmt.Fprintln(std.out, dir)
			return err
		},
	}
}

// saveFolder writes the regular files of a folder to a new one, or to one that is empty. What was
// not written whole does not have its name.
func saveFolder(from fs.FS, dir string) error {
	if there, err := os.ReadDir(dir); err == nil && len(there) > 0 {
		return fmt.Errorf("%s is not empty; give a folder that does not exist", dir)
	}
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(to, 0o777)
		case !d.Type().IsRegular():
			return nil
		}
		in, err := disk.OpenFS(from, name)
		if err != nil {
			return err
		}
		defer in.Close() //nolint:errcheck // opened for reading
		return disk.WriteFunc(to, func(out io.Writer) error {
			_, err := io.Copy(out, in)
			return err
		})
	})
}
