// Package load puts infill serve under load on this machine: cheap requests, clients that behave
// badly, and a signal to end in the middle of it all.
//
//	go build -o bin/infill ./cmd/infill && bin/lab load -n 100000
//	bin/lab load -share
//
// It starts the server itself, at a free port of 127.0.0.1, with a model of eighty words, so that
// the server and not the model is measured. It fails if a request stays without an answer, if an
// answer is none of those that are allowed, or if memory grows.
//
// With -share it compares the processor time of eight sentences that are asked for at the same time
// with that of the same eight in one batch file, on the program's model small.
package load

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Command is the command load: args are its flags. The report goes to standard output.
func Command(ctx context.Context, args []string, _ io.Reader, _, errs io.Writer) error {
	fs := flag.NewFlagSet("load", flag.ContinueOnError)
	fs.SetOutput(errs)
	bin := fs.String("bin", "bin/infill", "the program")
	model := fs.String("model", "mlm/testdata/tiny-bert", "the model")
	n := fs.Int("n", 100_000, "cheap requests")
	clients := fs.Int("clients", 32, "clients at the same time")
	most := fs.Duration("for", 20*time.Minute, "time after which it gives up")
	shared := fs.Bool("share", false, "compare requests of one moment with a batch file")
	if err := fs.Parse(args); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, *most)
	defer stop()
	if *shared {
		return share(ctx, *bin)
	}
	return measure(ctx, *bin, *model, *n, *clients)
}

func measure(ctx context.Context, bin, model string, n, clients int) error {
	t, err := launch(ctx, bin, model)
	if err != nil {
		return err
	}
	report, err := load(ctx, t, n, clients)
	fmt.Print(report)
	return err
}

// A target is a server under load.
type target struct {
	url    string
	pid    int           // whose memory is looked at
	begun  *atomic.Int64 // requests that the server says it has answered
	finish func() error  // tells it to end, waits, and says whether it ended well
}

var (
	ready = regexp.MustCompile(`ready at (http://[^/]+)/`)
	// filled is the line of the log for a request.
	filled = regexp.MustCompile(`msg=request .*\bmethod=POST path=/v1/fill status=`)
)

// launch starts the program as a server.
func launch(ctx context.Context, bin, model string) (*target, error) {
	cmd := exec.CommandContext(ctx, bin, "serve", "--addr", "127.0.0.1:0", "--model", "m="+model,
		"--grace", "60", "--timeout", "600")
	errs, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &target{pid: cmd.Process.Pid, begun: &atomic.Int64{}}
	url, read := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(errs)
		for lines.Scan() {
			switch line := lines.Text(); {
			case ready.MatchString(line):
				url <- ready.FindStringSubmatch(line)[1]
			case filled.MatchString(line):
				t.begun.Add(1)
			case strings.Contains(line, "level=ERROR"):
				fmt.Println(line)
			}
		}
	}()
	t.finish = func() error {
		err := cmd.Process.Signal(syscall.SIGTERM)
		<-read
		return errors.Join(err, cmd.Wait())
	}
	select {
	case t.url = <-url:
		return t, nil
	case <-read:
		return nil, errors.Join(errors.New("the server did not start"), cmd.Wait())
	}
}
