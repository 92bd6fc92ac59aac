package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"infill/infill/energies"
	"infill/infill/open"
	"infill/infill/records"
	"infill/infill/settings"
	"infill/internal/disk"
	"infill/mlm"
	"infill/models/hub"
)

// ErrModel is the kind of every error of a model that cannot be opened.
var ErrModel = errors.New("no usable model")

// shared has what the bundles of this process share. A model stays open until the process ends:
// nobody knows which bundle is the last.
var shared = struct {
	sync.Mutex
	models  map[string]*mlm.Model
	fillers map[string]*records.Filler
}{models: map[string]*mlm.Model{}, fillers: map[string]*records.Filler{}}

// Filler fills with these settings. All calls of a process with the same settings get the same, and
// those with the same settings of the model share the model. The error wraps [ErrModel], or it is
// one of [settings.Fill.Open].
func (s *Settings) Filler(ctx context.Context, version string) (*records.Filler, error) {
	shared.Lock() // while a model is opened, too: the others wait for it
	defer shared.Unlock()
	key := fmt.Sprintf("%q %s %q", version, s.key(func(Setting) bool { return true }), s.Allow)
	if f := shared.fillers[key]; f != nil {
		return f, nil
	}
	m, err := s.openModel(ctx)
	if err != nil {
		return nil, err
	}
	given, err := s.filling()
	if err != nil {
		return nil, err
	}
	how, err := s.model()
	if err != nil {
		return nil, err
	}
	parts := energies.Options{Options: how.Options}
	parts.Model = func(ctx context.Context, name string) (*mlm.Model, bool, error) {
		o := how.Options
		o.File = "" // of the first model
		m, err := openNamed(ctx, &settings.Model{Name: name, Options: o})
		return m, false, err
	}
	filling, engine, err := given.Open(ctx, m, parts)
	if err != nil {
		return nil, onWorker(err)
	}
	if len(filling.Unspelt) > 0 {
		log.Infof(ctx, "the model cannot spell %q, which it fills in nowhere", filling.Unspelt)
	}
	f := &records.Filler{Model: m, Engine: engine, Filling: filling, Version: version}
	shared.fillers[key] = f
	return f, nil
}

// onWorker adds the remedy to the error of a file that this worker lacks.
func onWorker(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	host, _ := os.Hostname()
	return fmt.Errorf("%w (on %s); a file that a setting names has to lie under the same path on "+
		"every worker", err, host)
}

// openModel opens the model, or returns it if this process has it open.
func (s *Settings) openModel(ctx context.Context) (*mlm.Model, error) {
	key := s.key(func(c Setting) bool { return settings.ModelTable().Find(c.Name) != nil })
	if m := shared.models[key]; m != nil {
		return m, nil
	}
	v, err := s.model()
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	m, err := openNamed(ctx, v)
	if err != nil {
		host, _ := os.Hostname()
		return nil, fmt.Errorf("%w on %s: %w", ErrModel, host, err)
	}
	warn(ctx, m.Info())
	log.Infof(ctx, "process %d opened the model in %v", os.Getpid(),
		time.Since(begun).Round(time.Millisecond))
	shared.models[key] = m
	return m, nil
}

// warn logs what makes results doubtful or workers slower.
func warn(ctx context.Context, info mlm.Info) {
	for _, w := range info.Warnings {
		log.Warn(ctx, w)
	}
	if info.Unkept != "" {
		log.Warnf(ctx, "every worker process unpacks the model's weights and holds them in memory, as "+
			"the cache cannot keep them: %s; let %s name a folder with room", info.Unkept, disk.EnvCache)
	}
}

// openNamed opens the model of the program, a folder, a file, or a pulled one.
func openNamed(ctx context.Context, v *settings.Model) (*mlm.Model, error) {
	m, err := open.Model(ctx, v.Name, v.Options)
	var pull *hub.PullError
	if errors.As(err, &pull) && !pull.Changed || errors.Is(err, hub.ErrUnknown) {
		return nil, fmt.Errorf("there is no folder %s, nor a pulled model; a model has to lie under the "+
			"same path on every worker: %w", v.Name, err)
	}
	return m, err
}
