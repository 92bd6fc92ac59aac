package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/energies"
	"infill/infill/open"
	"infill/infill/settings"
	"infill/models/hub"
	"infill/server"
)

const serveDescription = "" +
	`Answers requests over HTTP with a model that stays open, and has a page for browsers at /.
POST /v1/fill takes a JSON line of infill batch and answers with its record, which for the same
seed is what infill fill --json prints.
SIGTERM or control-C: no new connections, running requests end, then exit.`

// A serveFlags are the flags of infill serve.
type serveFlags struct {
	modelFlags
	filling        settings.Fill // of requests that choose nothing else, and of the engine
	models         []string      // NAME=FOLDER
	parts          []string      // of the energy, without weights
	addr           string
	queue, work    int
	timeout, grace int // seconds
	keyFile        string
	origins        []string
	log, logFormat string
	check          bool
}

func (f *serveFlags) own() cmdline.Flags {
	usual := server.Options{}.Complete()
	f.addr, f.queue, f.work = "127.0.0.1:8017", usual.Queue, usual.Work
	f.timeout, f.grace = int(usual.Limit/time.Second), 30
	flags := cmdline.Flags{
		cmdline.Flag("addr", "`HOST:PORT` to listen at; a public one needs --api-key-file", &f.addr),
		cmdline.Whole("queue", "requests that wait for a place; more are refused", &f.queue, 1, 100_000),
		cmdline.Whole("timeout", "seconds that a request may take, with the wait", &f.timeout, 1, 86_400),
		cmdline.Whole("max-work", "chains × (steps + 1) × blanks of a text at most, and rows of a search",
			&f.work, 1, 1<<40),
		cmdline.Whole("grace", "seconds for running requests after SIGTERM", &f.grace, 1, 86_400),
		cmdline.Flag("api-key-file", "`FILE` of keys, one a line; a request must have one of them",
			&f.keyFile),
		cmdline.Flag("allow-origin", "`ORIGIN` of pages elsewhere that may ask, such as "+
			"https://example.org; repeatable", &f.origins),
		cmdline.Flag("energy", "open a `PART` that requests may add to the score, with weights of their "+
			"own; repeatable: "+openedForms(), &f.parts),
		cmdline.Word("log", "on standard error: requests|texts (and their texts)|none", &f.log,
			"requests", "texts", "none"),
		cmdline.Word("log-format", "of the log: text|json (an object a line)",
			&f.logFormat, "text", "json"),
	}
	check := cmdline.Flag("check",
		"ask the server at --addr whether it is ready, and exit: 0 if it is",
		&f.check)
	check.Env = "" // it is another command, not a choice that stays
	flags = append(flags, check)
	return flags.OwnEnv("serve", "queue", "timeout", "log", "log-format", "energy")
}

// openedForms are the ways to write a part that is opened before its weight is known.
func openedForms() string {
	var all []string
	for _, k := range energies.Kinds() {
		form := k.Form
		if k.Labelled {
			form += " (with all its labels)"
		}
		if k.Opened {
			all = append(all, form)
		}
	}
	return strings.Join(all, ", ")
}

func serveCommand(std console.IO) *cli.Command {
	f := &serveFlags{filling: *settings.Defaults()}
	models := cmdline.Flag("model", "`NAME=FOLDER` of a model, or what other commands take; "+
		"repeatable, the first is asked unless a request names another", &f.models)
	models.Env = "" // the variable is read below, for it would come on top of the flags
	own := cmdline.Settings(settings.FillTable().OfServer(), &f.filling, map[string]string{
		"memo": "MB to remember what each model says, 0: nothing is remembered; results do not " +
			"depend on it"})
	return &cli.Command{
		Name: "serve",
		UsageText: `infill serve
infill serve --model small --model bert=my-bert --addr 127.0.0.1:9000
infill serve --addr 0.0.0.0:8017 --api-key-file keys.txt`,
		Usage:       "answer requests over HTTP, with a page for browsers",
		ArgsUsage:   " ",
		Description: serveDescription,
		Flags: cmdline.Join(cmdline.Flags{models}.Under(modelGroup), own.Under(modelGroup),
			f.flags().Without("model", "model-file"), f.own().Under(servingGroup)),
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("infill serve takes no arguments; --addr HOST:PORT says where it listens")
			}
			if f.check {
				return checkServer(c.Context, f.addr)
			}
			log := f.logs(&std)
			return log.failed(f.run(c.Context, std, log))
		},
	}
}

func (f *serveFlags) run(ctx context.Context, std console.IO, log *serveLog) error {
	named, err := f.named()
	if err != nil {
		return err
	}
	for _, name := range f.parts {
		if spec, err := energies.Parse(name); err == nil {
			return usagef("--energy %s: a part is opened without a weight, as %s; requests give the weight",
				name, spec.Name())
		}
		if _, err := energies.ParseName(name); err != nil {
			return usagef("--energy: %v", err)
		}
	}
	opt, err := f.options(log.Logger)
	if err != nil {
		return err
	}
	s, err := server.New(opt)
	if err != nil {
		return usagef("--allow-origin: %v", err)
	}
	l, err := net.Listen("tcp", f.addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--addr %s: another program listens there (%w); end it, or give another port",
			f.addr, err)
	case err != nil:
		return fmt.Errorf("--addr %s: %w", f.addr, err)
	}
	begin()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	opened := make(chan *energies.Parts, 1)
	go func() {
		parts, err := f.load(ctx, std, s, named)
		opened <- parts
		if err != nil {
			stop(err)
			return
		}
		s.Ready()
		log.ready("http://"+l.Addr().String()+"/", named)
	}()
	err = s.Serve(ctx, l, time.Duration(f.grace)*time.Second)
	stop(nil)
	err = errors.Join(err, (<-opened).Close(), f.close())
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		return cause // a model or a part could not be opened
	}
	return err
}

// A namedModel is a model that requests can name.
type namedModel struct {
	name string
	from open.Source
}

// named finds the models of the flags.
func (f *serveFlags) named() ([]namedModel, error) {
	list := f.models
	if len(list) == 0 {
		list = []string{usualModel()}
	}
	var out []namedModel
	for _, text := range list {
		name, path, ok := strings.Cut(text, "=")
		if !ok {
			name, path = filepath.Base(text), text
			if hub.IsRepository(text) {
				name, _, _ = strings.Cut(name, "@")
			}
		}
		if name == "" || path == "" {
			return nil, usagef("--model %s: want NAME=FOLDER", text)
		}
		src, err := resolveModel(path, "")
		if err != nil {
			return nil, err
		}
		for _, other := range out {
			if other.name == name {
				return nil, usagef("--model: two models are called %q; name them: NAME=FOLDER", name)
			}
		}
		out = append(out, namedModel{name, src})
	}
	return out, nil
}

// load opens the parts of the energy and the models, each once, and gives them to the server. The
// parts are returned with an error too.
func (f *serveFlags) load(ctx context.Context, std console.IO, s *server.Server,
	named []namedModel) (*energies.Parts, error) {
	weighted := make([]string, len(f.parts)) // requests have weights of their own
	for i, name := range f.parts {
		weighted[i] = name + "=1"
	}
	f.asked = f.Options
	parts, err := energies.Open(ctx, weighted, f.secondModels())
	if err != nil {
		return nil, &settings.Error{Name: "energy", Err: err}
	}
	s.Steer(parts)
	for _, n := range named {
		m, err := f.once(ctx, n.from)
		if err != nil {
			return parts, fmt.Errorf("model %q: %w", n.name, err)
		}
		warn(std, m, false)
		if err := s.Add(n.name, m); err != nil {
			return parts, err
		}
	}
	return parts, nil
}

// options returns the server's options.
func (f *serveFlags) options(log *slog.Logger) (server.Options, error) {
	opt := server.Options{
		Places: f.Options.Threads, Queue: f.queue, Limit: time.Duration(f.timeout) * time.Second,
		Work: f.work, Origins: f.origins, Version: version(), LogTexts: f.log == "texts",
		Engine: f.filling.NewEngine,
	}
	if f.log != "none" {
		opt.Log = log
	}
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return opt, usagef("--addr %s: want HOST:PORT, such as 127.0.0.1:8017", f.addr)
	}
	if host != "" {
		opt.Hosts = []string{host}
	}
	if f.keyFile != "" {
		if opt.Keys, err = readKeys(f.keyFile); err != nil {
			return opt, err
		}
	}
	at, err := net.ResolveTCPAddr("tcp", f.addr)
	if err != nil {
		return opt, usagef("--addr %s: %v", f.addr, err)
	}
	if !at.IP.IsLoopback() && len(opt.Keys) == 0 {
		return opt, usagef("--addr %s can be reached from other machines; give --api-key-file FILE, "+
			"or listen at 127.0.0.1", f.addr)
	}
	return opt, nil
}

// minKey is the least length of a key, so that none is guessed.
const minKey = 16

// readKeys reads a file of keys, one a line. Empty lines and those that begin with # are passed
// over.
func readKeys(path string) (keys []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		key := strings.TrimSpace(lines.Text())
		switch {
		case key == "" || key[0] == '#':
		case len(key) < minKey || strings.ContainsAny(key, " \t"):
			return nil, usagef("%s: line %d: a key has at least %d characters and no spaces", path, n,
				minKey)
		default:
			keys = append(keys, key)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(keys) == 0 {
		return nil, usagef("%s has no key; write one of at least %d characters into it", path, minKey)
	}
	return keys, nil
}

// checkLimit is how long a server may take to say that it is ready.
const checkLimit = 5 * time.Second

// checkServer asks the server that listens at an address whether it takes requests. Where the
// address stands for all interfaces, Go dials this machine.
func checkServer(ctx context.Context, addr string) error {
	ctx, stop := context.WithTimeout(ctx, checkLimit)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/ready", nil)
	if err != nil {
		return usagef("--addr %s: want HOST:PORT, such as 127.0.0.1:8017", addr)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("--addr %s: no server answers: %w", addr, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<12))
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("--addr %s: the server is not ready: %s %s", addr, res.Status,
			strings.TrimSpace(string(body)))
	}
	return nil
}
