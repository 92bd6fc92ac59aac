package openvino

import "infill/internal/ort"

// Name is what a user writes.
const Name = "openvino"

// env is the environment variable that names the plug-in's library. Without it the library in the
// cache is taken.
const env = "INFILL_OPENVINO"

// library is the file that the runtime loads.
const library = "libonnxruntime_providers_openvino_plugin.so"

// Plugin is the release that is installed.
var Plugin = ort.Wheel{
	Name: Name, Env: env, Version: "1.8.1", Platform: "linux-amd64", Size: "53 MB",
	Package: "onnxruntime-ep-openvino", Tag: "manylinux_2_28_x86_64",
	SHA256: "3832643158c8c187fcab6db661cde2a8c06a2b3559d95d0f2411ac0e51c5e924",
	Folder: "onnxruntime_ep_openvino", Library: library, Files: files,
}

// files are kept of the package, with their SHA-256: the plug-in,
// OpenVINO with its part for processors and its threads, and the licences of all. What is for
// graphics cards is left out.
var files = map[string]string{
	"libonnxruntime_providers_openvino_plugin.so": "" +
		"99644306dea90173d2fac5e2ad8d10c9574ecf6e6e71ca30e426531abd5a717f",
	"libopenvino.so.2641": "" +
		"9b9a80ac1f18e07b13ed54459d9a865bcfe9dc170dbf8fe740c2974b85ecedc1",
	"libopenvino_intel_cpu_plugin.so": "" +
		"6599e3dd300d047b5ed72f8e48101c5f312c25321f35f57f803641ff8372900b",
	"libopenvino_onnx_frontend.so.2641": "" +
		"82d499f5b5e8514def7aaa1ecd5a9f570542d33ae9d00a0077f707cccd0e0192",
	"libopenvino_ir_frontend.so.2641": "" +
		"554e9fd3d4a0fbc587c14379464b2324e24b8ea736cfb749ad2cd9e74dfc09e0",
	"libtbb.so.12": "" +
		"ac9518497a4f2cb6729792730f145ee58367316031511923fef263c9ac81ca61",
	"libtbbmalloc.so.2": "" +
		"0cccbdb4783bf190da19b34540fb7f749b0955ec1982d7ac8e5f398365399895",
	"libtbbbind_2_5.so.3": "" +
		"179ebd1223abd20a461dc978f24090d7ef7c1308b8dff14e4adfe4a21d75543f",
	"libhwloc.so.15": "" +
		"e91be9f5bc1c87aadb08f2e19ebcb742979adda0a5434f72650a154e317e7fb1",
	"third-party-programs.txt": "" +
		"cf1dc931aee305019c370a5e6398040e43afa8e22664118710f8b0e13c02de0c",
}
