package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed onnxruntime
var ofRuntime embed.FS

var isLicence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([._-].*)?$`)

// licences are the texts of all that is in an archive: of the program and its models, of ONNX
// Runtime, of Go and the modules that are linked in, and of Zig, whose C library is.
func licences(t target, z zig) ([]entry, error) {
	texts := map[string]string{ // name in the archive: path
		"LICENSE":                         "LICENSE",
		"licences/models/default/LICENSE": "models/default/LICENSE",
		"licences/models/small/README.md": "models/small/README.md",
	}
	if z.files != "" {
		texts["licences/zig/LICENSE"] = filepath.Join(z.files, "LICENSE")
		if t.goos == "windows" {
			texts["licences/mingw-w64/COPYING"] = filepath.Join(z.files, "lib/libc/mingw/COPYING")
		}
	}
	if err := ofModules(t, texts); err != nil {
		return nil, err
	}
	var all []entry
	for name, path := range texts {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name: name, data: data})
	}
	err := fs.WalkDir(ofRuntime, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := ofRuntime.ReadFile(path)
		all = append(all, entry{name: "licences/" + path, data: data})
		return err
	})
	return all, err
}

// ofModules adds the licences of Go, and of each module: those of the folders of the packages that
// are linked in, and of the folders above them.
func ofModules(t target, texts map[string]string) error {
	list := exec.Command(goCommand(), "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/infill")
	list.Env, list.Stderr = environment(t), os.Stderr
	out, err := list.Output()
	if err != nil {
		return err
	}
	root, err := exec.Command(goCommand(), "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	lines := strings.Fields(string(out))
	goRoot := strings.TrimSpace(string(root))
	lines = append(lines, "go", goRoot, goRoot)
	has := map[string]bool{}
	for row := range slices.Chunk(lines, 3) {
		module, top := row[0], row[1]
		for dir := row[2]; ; dir = filepath.Dir(dir) {
			found, err := os.ReadDir(dir)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(top, dir)
			if err != nil {
				return err
			}
			for _, f := range found {
				if f.Type().IsRegular() && isLicence.MatchString(f.Name()) {
					has[module] = true
					texts["licences/"+filepath.ToSlash(filepath.Join(module, rel, f.Name()))] =
						filepath.Join(dir, f.Name())
				}
			}
			if dir == top {
				break
			}
		}
	}
	var missing []error
	for row := range slices.Chunk(lines, 3) {
		if !has[row[0]] {
			missing = append(missing, fmt.Errorf("%s has no licence in %s", row[0], row[1]))
		}
	}
	return errors.Join(missing...)
}
