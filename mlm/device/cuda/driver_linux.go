package cuda

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// The driver is opened by hand: most machines have none. The signatures come from cuda.h and
// nvml.h.
typedef struct {
	int found, init, version, count, major, minor;
	size_t memory;
	char name[256], driver[96];
} infill_card;

static void infill_driver(const char *cuda, const char *nvml, infill_card *c) {
	memset(c, 0, sizeof *c);
	void *lib = dlopen(cuda, RTLD_NOW | RTLD_GLOBAL);
	if (!lib) return;
	int (*init)(unsigned) = (int (*)(unsigned))dlsym(lib, "cuInit");
	int (*version)(int *) = (int (*)(int *))dlsym(lib, "cuDriverGetVersion");
	int (*count)(int *) = (int (*)(int *))dlsym(lib, "cuDeviceGetCount");
	int (*name)(char *, int, int) = (int (*)(char *, int, int))dlsym(lib, "cuDeviceGetName");
	int (*memory)(size_t *, int) = (int (*)(size_t *, int))dlsym(lib, "cuDeviceTotalMem_v2");
	int (*attribute)(int *, int, int) = (int (*)(int *, int, int))dlsym(lib, "cuDeviceGetAttribute");
	if (!init || !version || !count || !name || !memory || !attribute) return;
	c->found = 1;
	version(&c->version);
	c->init = init(0);
	if (c->init || count(&c->count) || !c->count) return;
	name(c->name, sizeof c->name - 1, 0);
	memory(&c->memory, 0);
	attribute(&c->major, 75, 0); // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
	attribute(&c->minor, 76, 0); // and _MINOR
	void *ml = dlopen(nvml, RTLD_NOW | RTLD_LOCAL);
	if (!ml) return;
	int (*start)(void) = (int (*)(void))dlsym(ml, "nvmlInit_v2");
	int (*text)(char *, unsigned) = (int (*)(char *, unsigned))dlsym(ml, "nvmlSystemGetDriverVersion");
	if (start && text && !start()) text(c->driver, sizeof c->driver - 1);
}

static const char *infill_load(const char *path) {
	return dlopen(path, RTLD_NOW | RTLD_GLOBAL) ? NULL : dlerror();
}
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// names of the driver's libraries. Tests have others.
var driverLibrary, managementLibrary = "libcuda.so.1", "libnvidia-ml.so.1"

// driver asks the driver once.
var driver = sync.OnceValues(ask)

func ask() (card, error) {
	cuda, nvml := C.CString(driverLibrary), C.CString(managementLibrary)
	defer C.free(unsafe.Pointer(cuda))
	defer C.free(unsafe.Pointer(nvml))
	var c C.infill_card
	C.infill_driver(cuda, nvml, &c)
	switch {
	case c.found == 0:
		return card{}, errors.New("this machine has no driver of NVIDIA (" + driverLibrary + "); " +
			"install driver " + leastDriver + " or later")
	case c.version < leastCUDA: // which is why the rest may fail
		return card{cuda: int(c.version)}, nil
	case c.init != 0:
		return card{}, fmt.Errorf("the driver of NVIDIA finds no card that works: cuInit gives %d; see "+
			"what nvidia-smi says", c.init)
	case c.count == 0:
		return card{}, errors.New("the driver of NVIDIA finds no card; see what nvidia-smi says, and " +
			"CUDA_VISIBLE_DEVICES")
	}
	return card{name: C.GoString(&c.name[0]), driver: C.GoString(&c.driver[0]), cuda: int(c.version),
		capability: int(10*c.major + c.minor), memory: int64(c.memory)}, nil
}

// loading is one at a time: a library stays loaded to the end of the process.
var loading sync.Mutex

// load maps libraries so that others find them by their names.
func load(paths []string) error {
	loading.Lock()
	defer loading.Unlock()
	for _, p := range paths {
		path := C.CString(p)
		said := C.infill_load(path)
		C.free(unsafe.Pointer(path))
		if said != nil {
			return fmt.Errorf("%s cannot be loaded: %s; install cuda again", p, C.GoString(said))
		}
	}
	return nil
}
