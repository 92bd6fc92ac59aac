package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// sentences are asked for at the same time.
var sentences = []string{
	"The old [MASK] sat down and closed his [MASK] for a moment.",
	"She opened the [MASK] and walked into the [MASK] room.",
	"The [MASK] barked at the [MASK] all night long.",
	"He put the [MASK] on the table and left the [MASK].",
	"They drove their [MASK] to the city to see the [MASK].",
	"A young [MASK] was reading a [MASK] under the tree.",
	"The train was [MASK] because of the heavy [MASK].",
	"My [MASK] likes to cook [MASK] on weekends.",
}

// steps is the number of steps of every chain.
const steps = 25

// mostShare is the greatest ratio of processor times that is allowed.
const mostShare = 1.3

// share compares processor times, three times each.
func share(ctx context.Context, bin string) error {
	t, err := launch(ctx, bin, "small")
	if err != nil {
		return err
	}
	var served, filed time.Duration
	const times = 3
	for seed := range times { // another one each time, so that nothing is known from before
		a, err := serve(ctx, t, seed)
		if err != nil {
			return errors.Join(err, t.finish())
		}
		whole, err := file(ctx, bin, seed, strings.Join(sentences, "\n")+"\n")
		if err != nil {
			return errors.Join(err, t.finish())
		}
		start, err := file(ctx, bin, seed, "The [MASK|cat] sat.\n") // hardly more than opening the model
		if err != nil {
			return errors.Join(err, t.finish())
		}
		fmt.Printf("served %.2f s, in a file %.2f s without %.2f s for the start\n", a.Seconds(),
			(whole - start).Seconds(), start.Seconds())
		served, filed = served+a, filed+whole-start
	}
	ratio := served.Seconds() / filed.Seconds()
	fmt.Printf("processor time of %d requests at once: %.2f times that of one file\n", len(sentences),
		ratio)
	if err := t.finish(); err != nil {
		return err
	}
	if ratio > mostShare {
		return fmt.Errorf("that is above %v", mostShare)
	}
	return nil
}

// serve is the processor time that the server takes for all sentences at the same time.
func serve(ctx context.Context, t *target, seed int) (time.Duration, error) {
	before, err := spent(t.pid)
	if err != nil {
		return 0, err
	}
	errs := make([]error, len(sentences))
	var group sync.WaitGroup
	for i, text := range sentences {
		group.Go(func() {
			body, err := json.Marshal(map[string]any{"text": text, "seed": seed, "steps": steps,
				"scoring": "pll"})
			if err != nil {
				errs[i] = err
				return
			}
			req, err := request(ctx, t.url, string(body))
			if err != nil {
				errs[i] = err
				return
			}
			res, err := http.DefaultClient.Do(req)
			if err == nil && res.StatusCode != http.StatusOK {
				err = errors.New(res.Status)
			}
			if err == nil {
				err = res.Body.Close()
			}
			errs[i] = err
		})
	}
	group.Wait()
	after, err := spent(t.pid)
	return after - before, errors.Join(append(errs, err)...)
}

// file is the processor time of a batch of lines, the start of the program included.
func file(ctx context.Context, bin string, seed int, text string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, bin, "batch", "-", "--model", "small", "--seed", fmt.Sprint(seed),
		"--steps", fmt.Sprint(steps), "--score", "pll", "--quiet")
	cmd.Stdin, cmd.Stderr = strings.NewReader(text), os.Stderr
	if _, err := cmd.Output(); err != nil {
		return 0, err
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// spent is the processor time of a process so far, on Linux.
func spent(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ") // the name before may have spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	var user, system int64
	if _, err := fmt.Sscan(fields[11], &user); err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(fields[12], &system); err != nil {
		return 0, err
	}
	const tick = 10 * time.Millisecond // of every Linux for users
	return time.Duration(user+system) * tick, nil
}
