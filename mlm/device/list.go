package device

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"infill/internal/ort"
)

// List are devices beside the [Processor], which is the first one of every list, in the order in
// which they are offered. cache is as for [Device].
type List []Device

func (l List) all() []Device { return slices.Concat([]Device{Processor{}}, l) }

// About lists the devices, whether they can be used or not.
func (l List) About(cache string) (out []About) {
	for _, d := range l.all() {
		out = append(out, d.About(cache))
	}
	return out
}

// Rounding lists the devices that are faster in half precision, whether they can be used or not.
func (l List) Rounding(cache string) []About {
	return slices.DeleteFunc(l.About(cache), func(a About) bool { return a.Rounding != Float16 })
}

// Runtime is the library that the runtime has to be for the device of that name, "" for any.
// Without a name it is what the first device needs that needs one: all others take it as well.
func (l List) Runtime(name, cache string) string {
	for _, d := range l {
		if name != "" && d.Name() != name {
			continue
		}
		if path := d.Runtime(cache); path != "" {
			return path
		}
	}
	return ""
}

// Find is the device of that name, "" for [CPU]. Errors wrap [ErrDevice], and
// [ort.ErrNotInstalled] where that helps, and name the devices that can be used. A device may turn
// out not to work only when the runtime is loaded.
func (l List) Find(name, cache string) (Device, About, error) {
	if name == "" {
		name = CPU
	}
	all := l.all()
	if i := slices.IndexFunc(all, func(d Device) bool { return d.Name() == name }); i >= 0 {
		if a := all[i].About(cache); a.Problem == "" {
			return all[i], a, nil
		}
	}
	why, missing := "", false
	var usable []string
	for _, a := range l.About(cache) {
		switch {
		case a.Problem == "":
			usable = append(usable, a.Name)
		case a.Name == name:
			why, missing = ": "+a.Problem, a.Missing
		}
	}
	err := fmt.Errorf("%w: %q%s; there is: %s", ErrDevice, name, why, strings.Join(usable, ", "))
	if missing {
		err = fmt.Errorf("%w; %s is %w", err, name, ort.ErrNotInstalled)
	}
	return nil, About{}, err
}

// An installable device is one whose files are fetched.
type installable interface {
	Install(ctx context.Context, o ort.InstallOptions) error
}

// Installable are the names of the devices that can be installed.
func (l List) Installable() (names []string) {
	for _, d := range l {
		if _, ok := d.(installable); ok {
			names = append(names, d.Name())
		}
	}
	return names
}

// Install installs the device of that name, which is one of [List.Installable].
func (l List) Install(ctx context.Context, name string, o ort.InstallOptions) error {
	for _, d := range l {
		if i, ok := d.(installable); ok && d.Name() == name {
			return i.Install(ctx, o)
		}
	}
	return fmt.Errorf("%w: %q cannot be installed", ErrDevice, name)
}
