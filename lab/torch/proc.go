package torch

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// A worker is a process that answers commands, one JSON object a line.
type worker struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// start runs a worker and waits until it is ready.
func start(name string, argv ...string) (*worker, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	w := &worker{name, cmd, in, bufio.NewReaderSize(out, 1<<20)}
	var ready struct{ Ready bool }
	if err := w.read(&ready); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// ask sends a command and reads the answer into v.
func (w *worker) ask(c command, v any) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := w.in.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	return w.read(v)
}

func (w *worker) read(v any) error {
	line, err := w.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s ended early: %w", w.name, err)
	}
	var failed struct{ Error string }
	if err := json.Unmarshal(line, &failed); err != nil {
		return fmt.Errorf("%s answered %q: %w", w.name, line, err)
	}
	if failed.Error != "" {
		return fmt.Errorf("%s: %s", w.name, failed.Error)
	}
	return json.Unmarshal(line, v)
}

// close ends the worker.
func (w *worker) close() error {
	return errors.Join(w.in.Close(), w.cmd.Wait())
}
