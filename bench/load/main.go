// Command load puts infill serve under load on this machine: cheap requests, clients that behave
// badly, and a signal to end in the middle of it all.
//
//	go build -o bin/infill ./cmd/infill && go run ./bench/load -n 100000
//	go run ./bench/load -share
//
// It starts the server itself, at a free port of 127.0.0.1, with a model of eighty words, so that
// the server and not the model is measured. It fails if a request stays without an answer, if an
// answer is none of those that are allowed, or if memory grows.
//
// With -share it compares the processor time of eight sentences that are asked for at the same time
// with that of the same eight in one batch file, on the program's model small.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	bin := flag.String("bin", "bin/infill", "the program")
	model := flag.String("model", "mlm/testdata/tiny-bert", "the model")
	n := flag.Int("n", 100_000, "cheap requests")
	clients := flag.Int("clients", 32, "clients at the same time")
	most := flag.Duration("for", 20*time.Minute, "time after which it gives up")
	shared := flag.Bool("share", false, "compare requests of one moment with a batch file")
	flag.Parse()
	ctx, stop := context.WithTimeout(context.Background(), *most)
	defer stop()
	err := error(nil)
	if *shared {
		err = share(ctx, *bin)
	} else {
		err = measure(ctx, *bin, *model, *n, *clients)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		stop()
		os.Exit(1)
	}
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

var ready = regexp.MustCompile(`ready at (http://[^/]+)/`)

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
			case strings.Contains(line, `msg=request route="POST /v1/fill"`):
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
