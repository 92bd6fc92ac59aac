// A plug-in of ONNX Runtime that loads OpenVINO's and tells it that the processor is Intel's. The
// plug-in offers itself on such processors alone, while OpenVINO computes on any x86-64 with AVX2.
// Tests build this, so that they can run on other processors. PLUGIN is the path of the real one.
#include <dlfcn.h>
#include <string.h>

#include "onnxruntime_c_api.h"

static const OrtApiBase* given;
static OrtApiBase base;

// The table of functions grows with every release of the runtime. Room for those that come after
// the ones of this header.
static union {
  OrtApi api;
  char room[sizeof(OrtApi) + 1024];
} table;

static uint32_t vendor_id(const OrtHardwareDevice* d) {
  (void)d;
  return 0x8086;
}

static const char* vendor(const OrtHardwareDevice* d) {
  (void)d;
  return "GenuineIntel";
}

static const OrtApi* get_api(uint32_t version) {
  const OrtApi* real = given->GetApi(version);
  if (!real) return real;
  memcpy(&table, real, sizeof table);
  table.api.HardwareDevice_VendorId = vendor_id;
  table.api.HardwareDevice_Vendor = vendor;
  return &table.api;
}

static void* symbol(const char* name) {
  static void* library;
  if (!library) library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : NULL;
}

OrtStatus* CreateEpFactories(const char* name, const OrtApiBase* b, const OrtLogger* log,
                             OrtEpFactory** out, size_t most, size_t* n) {
  OrtStatus* (*create)(const char*, const OrtApiBase*, const OrtLogger*, OrtEpFactory**, size_t,
                       size_t*) = symbol("CreateEpFactories");
  given = b;
  base = *b;
  base.GetApi = get_api;
  if (!create) return b->GetApi(ORT_API_VERSION)->CreateStatus(ORT_FAIL, "cannot load " PLUGIN);
  // The table that the first caller gave stays the plug-in's, here the one of Ort::detail::Global.
  // A test that asked what devices there are may have been the first.
  const OrtApi** kept = symbol("_ZZN3Ort6detail6Global3ApiEPK6OrtApiE3api");
  if (kept && *kept) *kept = get_api(ORT_API_VERSION);
  return create(name, &base, log, out, most, n);
}

OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  OrtStatus* (*release)(OrtEpFactory*) = symbol("ReleaseEpFactory");
  return release ? release(factory) : NULL;
}
