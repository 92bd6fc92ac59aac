package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"infill/infill/open"
	"infill/infill/settings"
	"infill/internal/disk"
	"infill/internal/ort"
	"infill/mlm"
)

// kept are models that stay open from one command to the next: tests run hundreds of commands, and
// most take less time than opening. Models of the program and of the repository's folders are kept.
// A command opens other folders, which a test may change, by itself, and any model in a test that
// has a cache or a runtime of its own.
type kept struct {
	root string // of the repository
	env  string
	mu   sync.Mutex
	of   map[string]*keptModel // by all that a model is opened with
}

type keptModel struct {
	once  sync.Once
	model *mlm.Model // nil before once, and if that failed
	large bool
	users int
}

// keepModels has commands of this process share their models.
func keepModels() {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		panic(err)
	}
	k := &kept{root: root + string(filepath.Separator), env: environment(), of: map[string]*keptModel{}}
	opening, closing = k.open, k.close
}

// environment is what decides where the runtime and the cache are.
func environment() string {
	var b strings.Builder
	for _, name := range []string{disk.EnvCache, ort.EnvLibrary, "XDG_CACHE_HOME", "HOME", "PATH"} {
		b.WriteString(os.Getenv(name) + "\n")
	}
	return b.String()
}

func (k *kept) open(src open.Source, ctx context.Context, o mlm.Options) (*mlm.Model, error) {
	dir, err := filepath.Abs(src.Dir)
	ours := src.Part != "" || strings.HasPrefix(dir, k.root)
	if err != nil || !ours || o.Profile != "" || ctx.Err() != nil || k.env != environment() {
		return src.Open(ctx, o)
	}
	with := o
	with.Devices = nil // all have the same
	key := fmt.Sprintf("%q %q %q %+v", src.Part, dir, src.File, with)
	k.mu.Lock()
	m := k.of[key]
	if m == nil {
		m = &keptModel{large: src.Part == settings.DefaultModel}
		if m.large {
			k.dropLarge()
		}
		k.of[key] = m
	}
	m.users++
	k.mu.Unlock()
	m.once.Do(func() {
		var model *mlm.Model
		model, err = src.Open(context.WithoutCancel(ctx), o)
		k.mu.Lock()
		defer k.mu.Unlock()
		if m.model = model; err != nil {
			delete(k.of, key)
		}
	})
	if m.model == nil && err == nil { // somebody else has the error
		return src.Open(ctx, o)
	}
	return m.model, err
}

// dropLarge closes large models that nobody uses, since each takes hundreds of megabytes.
func (k *kept) dropLarge() {
	for key, m := range k.of {
		if m.large && m.users == 0 {
			delete(k.of, key)
			_ = m.model.Close()
		}
	}
}

func (k *kept) close(model *mlm.Model) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, m := range k.of {
		if m.model == model {
			m.users--
			return nil
		}
	}
	return model.Close()
}
