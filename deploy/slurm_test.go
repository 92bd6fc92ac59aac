package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// slurm are the commands of Slurm that the scripts use, as far as they use them. An option that
// they do not know is an error. State is kept in the folder that FAKE_SLURM names.
var slurm = map[string]func(args []string) error{
	"sbatch": sbatch, "srun": srun, "scontrol": scontrol,
}

// sbatch runs a job at once and waits for it, all tasks of an array at the same time. The first task
// is killed with its node, the second is told that its time is over, each once. A task that is
// queued again runs again.
func sbatch(args []string) error {
	state := os.Getenv("FAKE_SLURM")
	last := -1
	log := ""
	for len(args) > 0 && strings.HasPrefix(args[0], "--") {
		name, value, _ := strings.Cut(args[0], "=")
		args = args[1:]
		switch name {
		case "--parsable", "--kill-on-invalid-dep":
		case "--output":
			log = value
		case "--array":
			if _, err := fmt.Sscanf(value, "0-%d", &last); err != nil {
				return err
			}
		case "--dependency":
			if _, err := os.Stat(filepath.Join(state, "failed")); err == nil {
				return errors.New("the dependency is never satisfied")
			}
		default:
			return fmt.Errorf("unknown option %s", name)
		}
	}
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	for task := 0; task <= max(last, 0); task++ {
		wg.Go(func() {
			out := strings.NewReplacer("%A", "77", "%a", fmt.Sprint(task)).Replace(log)
			err := runTask(state, task, last >= 0, out, args)
			mu.Lock()
			errs = append(errs, err)
			mu.Unlock()
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil && last >= 0 {
		fmt.Fprintln(os.Stderr, err)
		if err := os.WriteFile(filepath.Join(state, "failed"), nil, 0o644); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	_, err := fmt.Println("77;cluster")
	return err
}

// runTask runs the script of a job until it is not queued again.
func runTask(state string, task int, array bool, log string, args []string) error {
	f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	pid := filepath.Join(state, fmt.Sprintf("step-%d", task))
	requeued := filepath.Join(state, fmt.Sprintf("77_%d", task))
	for try := 0; ; try++ {
		cmd := exec.Command("bash", args...)
		cmd.Stdout, cmd.Stderr = f, f
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Env = append(os.Environ(), "SLURM_CPUS_PER_TASK=1", "FAKE_STEP="+pid)
		if array {
			cmd.Env = append(cmd.Env, "SLURM_ARRAY_JOB_ID=77", fmt.Sprint("SLURM_ARRAY_TASK_ID=", task))
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait() // the state says what there is to know
			close(ended)
		}()
		lost := false
		if array && try == 0 && task < 2 && os.Getenv("FAKE_KILLS") != "" {
			// The script's arguments are its name, the number of shards, the input and the folder.
			out := filepath.Join(args[3], fmt.Sprintf("part-%06d.jsonl", task))
			done, err := kill(ended, out, 2, func() error {
				if task == 0 {
					lost = true
					return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				}
				var step int
				b, err := os.ReadFile(pid)
				if err == nil {
					_, err = fmt.Sscan(string(b), &step)
				}
				return errors.Join(err, syscall.Kill(step, syscall.SIGTERM))
			})
			if err != nil || !done {
				return fmt.Errorf("task %d was not killed at work: %v", task, err)
			}
		}
		<-ended
		again := os.Remove(requeued) == nil // scontrol has asked for it
		switch code := cmd.ProcessState.ExitCode(); {
		case lost || again:
			_, err := fmt.Fprintf(f, "fake: again after exit %d\n", code)
			if err != nil {
				return err
			}
		case code != 0:
			return fmt.Errorf("task %d: exit %d", task, code)
		default:
			return nil
		}
	}
}

// srun becomes the program, after it has written down its process.
func srun(args []string) error {
	for len(args) > 0 && strings.HasPrefix(args[0], "--") {
		if name, _, _ := strings.Cut(args[0], "="); name != "--ntasks" && name != "--cpus-per-task" {
			return fmt.Errorf("unknown option %s", name)
		}
		args = args[1:]
	}
	if err := os.WriteFile(os.Getenv("FAKE_STEP"), fmt.Append(nil, os.Getpid()), 0o644); err != nil {
		return err
	}
	return syscall.Exec(args[0], args, os.Environ())
}

// scontrol notes that a task is to be queued again.
func scontrol(args []string) error {
	if len(args) != 2 || args[0] != "requeue" {
		return fmt.Errorf("unknown request %q", args)
	}
	return os.WriteFile(filepath.Join(os.Getenv("FAKE_SLURM"), args[1]), nil, 0o644)
}

// submit runs the script of the user with the commands above.
func submit(t *testing.T, infill string, kills string, args ...string) (string, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path, state := t.TempDir(), t.TempDir()
	for name := range slurm {
		if err := os.Symlink(exe, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("slurm/submit.sh", args...)
	cmd.Env = append(os.Environ(), "PATH="+path+":"+os.Getenv("PATH"), "INFILL="+infill,
		"FAKE_SLURM="+state, "FAKE_KILLS="+kills)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The scripts fill a file with an array of tasks. One is killed with its node, one is stopped at
// the end of its time. The joined file is the same as from one process.
func TestSlurm(t *testing.T) {
	t.Parallel()
	flags := append(tiny(t), "--seed=3", "--top=2")
	infill, dir, want := setUp(t, 100, flags)
	in, joined := filepath.Join(dir, "in.txt"), filepath.Join(dir, "the filled.jsonl")
	out, err := submit(t, infill, "yes", append([]string{"4", in, joined}, flags...)...)
	if err != nil || !strings.Contains(out, "array 77 of 4 shards, then job 77 joins them") {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(joined)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the joined file is not that of one process (%v)", err)
	}
	for task, code := range []string{"-1", "130"} {
		log, err := os.ReadFile(filepath.Join(joined+".shards", fmt.Sprintf("77_%d.log", task)))
		if err != nil || !strings.Contains(string(log), "fake: again after exit "+code+"\n") {
			t.Errorf("task %d was not queued again after exit %s: %s, %v", task, code, log, err)
		}
	}
	// Another run in the same place is refused by each shard, and nothing is joined.
	if out, err := submit(t, infill, "", append([]string{"4", in, joined}, append(flags,
		"--seed=4")...)...); err == nil || !strings.Contains(out, "never satisfied") {
		t.Errorf("another seed: %v: %s", err, out)
	}
	if now, err := os.ReadFile(joined); err != nil || !bytes.Equal(now, want) {
		t.Errorf("another run changed the file (%v)", err)
	}
}

// Arguments that make no sense are refused before anything is queued.
func TestSubmitRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "in.txt")
	if err := os.WriteFile(in, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"SHARDS INPUT OUTPUT": {"4", in},
		"SHARDS is 0":         {"0", in, dir + "/out"},
		"SHARDS is four":      {"four", in, dir + "/out"},
		"is not a file":       {"4", dir + "/missing", dir + "/out"},
	} {
		if out, err := submit(t, "infill", "", args...); err == nil || !strings.Contains(out, want) {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
