package torch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"infill/lab/internal/processor"
	"infill/models"
)

// setup makes what a measurement needs and is not there yet.
func (s *settings) setup(todo []cell) error {
	var err error
	if s.self, err = os.Executable(); err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	s.dir = filepath.Join(cache, "infill", "bench")
	if s.python == "" {
		s.python = filepath.Join(s.dir, "venv", "bin", "python")
		err := s.once("venv", []string{filepath.Join(s.scripts, "requirements.txt")},
			func(dir string) error {
				fmt.Fprintln(s.verbose, "installing PyTorch (some minutes, some GB)")
				return errors.Join(s.command("python3", "-m", "venv", "--clear", dir),
					s.command(s.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r",
						filepath.Join(s.scripts, "requirements.txt")))
			})
		if err != nil {
			return fmt.Errorf("%w; -python names an interpreter that has the packages already", err)
		}
	}
	if err := saveModel("small", filepath.Join(s.dir, "small")); err != nil {
		return err
	}
	if !slices.ContainsFunc(todo, func(c cell) bool { return c.Model == "base" }) {
		return nil
	}
	vocab := filepath.Join("models", "default", "vocab.txt")
	script := filepath.Join(s.scripts, "export.py")
	return s.once("base", []string{script, vocab}, func(dir string) error {
		fmt.Fprintln(s.verbose, "making the random model of BERT-base's size")
		return s.command(s.python, script, "--vocab", vocab, "--out", dir)
	})
}

// saveModel writes the files of a model of the program to a folder, in place of what is there, for
// programs in Python. These cannot read the form in which the program has the weights.
func saveModel(name, dir string) error {
	from, ok := models.Find(name)
	if !ok {
		return fmt.Errorf("the program has no model %q", name)
	}
	return errors.Join(os.RemoveAll(dir), os.CopyFS(dir, from))
}

// once makes a folder of the cache unless it was made from the same files.
func (s *settings) once(name string, from []string, do func(dir string) error) error {
	h := sha256.New()
	for _, f := range from {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		h.Write(data)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	dir := filepath.Join(s.dir, name)
	stamp := dir + ".sha256"
	if old, err := os.ReadFile(stamp); err == nil && string(old) == sum {
		return nil
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(s.dir, 0o755)); err != nil {
		return err
	}
	if err := do(dir); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(sum), 0o644)
}

// command runs a program that says nothing unless it fails.
func (s *settings) command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// describe finds out what the cell was measured on.
func (m *meter) describe() (machine, error) {
	d := machine{CPU: processor.Name(), Cores: runtime.NumCPU(),
		OS: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version()}
	var own struct{ ORT string }
	if err := m.workers[ours].ask(command{Do: "versions"}, &own); err != nil {
		return d, err
	}
	var v struct{ Torch, Transformers, BLAS string }
	if err := m.workers[straightforward].ask(command{Do: "versions"}, &v); err != nil {
		return d, err
	}
	d.ORT, d.Torch, d.Transformers, d.BLAS = own.ORT, v.Torch, v.Transformers, v.BLAS
	return d, nil
}

// describeModel reads the size of a model off its config.json.
func describeModel(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		return "", err
	}
	var c struct {
		Layers       int   `json:"num_hidden_layers"`
		Width        int   `json:"hidden_size"`
		Intermediate int   `json:"intermediate_size"`
		ByLayer      []int `json:"intermediate_sizes"`
		Pieces       int   `json:"vocab_size"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(dir, "config.json"), err)
	}
	inside := fmt.Sprint(c.Intermediate)
	if len(c.ByLayer) > 0 {
		inside = strings.Trim(strings.ReplaceAll(fmt.Sprint(c.ByLayer), " ", ", "), "[]")
	}
	return fmt.Sprintf("%d layers of width %d (%s inside), %d pieces", c.Layers, c.Width, inside,
		c.Pieces), nil
}
