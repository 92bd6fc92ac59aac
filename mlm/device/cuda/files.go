package cuda

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"infill/internal/ort"
)

// Name is what a user writes.
const Name = "cuda"

// env is the environment variable that names the library of the runtime's build for CUDA, which has
// libonnxruntime_providers_cuda.so beside it. Without it the one in the cache is taken.
const env = "INFILL_CUDA"

const platform = "linux-amd64"

// build is the build of the runtime that is installed.
var build = ort.Wheel{
	Name: Name, Env: env, Version: ort.Version, Platform: platform, Size: "220 MB",
	Package: "onnxruntime-gpu", Tag: "manylinux_2_28_x86_64", Python: "3.12",
	SHA256: "b2b8d6afabf3c23c2c698639a16388816dc7298f388a9ddddf504b283990ea01",
	Folder: "onnxruntime", Library: "libonnxruntime.so." + ort.Version,
	Files: map[string]string{
		"capi/libonnxruntime.so." + ort.Version: "" +
			"184096f611d6cfff75f5d4cbaf01f76d736ab10d408d335fca0c85e5a79018db",
		"capi/libonnxruntime_providers_cuda.so": "", "capi/libonnxruntime_providers_shared.so": "",
		"LICENSE": "", "ThirdPartyNotices.txt": "",
	},
}

// A library of CUDA comes with a package of NVIDIA, which may have more that have to be loaded.
type library struct {
	ort.Wheel
	then []string
}

// nvidia is a package of NVIDIA with its first library. folder is where that lies.
func nvidia(name, version, tag, size, sum, folder, dist string, libraries ...string) *library {
	files := map[string]string{dist + "-" + version + ".dist-info/licenses/License.txt": ""}
	for _, l := range libraries {
		files["nvidia/"+folder+"/lib/"+l] = ""
	}
	return &library{Wheel: ort.Wheel{Name: name, Version: version, Platform: platform, Size: size,
		Package: name, Tag: tag, SHA256: sum, Library: libraries[0], Files: files}}
}

func (l *library) with(then ...string) *library {
	l.then = then
	return l
}

// libraries are in the order in which they are loaded: what a later one needs is there then, by its
// name. They come from CUDA 13.0, which the oldest driver knows.
var libraries = []*library{
	nvidia("nvidia-cuda-runtime", "13.0.96", "manylinux2014_x86_64", "2 MB",
		"7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
		"cu13", "nvidia_cuda_runtime", "libcudart.so.13"),
	nvidia("nvidia-cuda-nvrtc", "13.0.88", "manylinux2010_x86_64", "90 MB",
		"ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575",
		"cu13", "nvidia_cuda_nvrtc", "libnvrtc.so.13", "libnvrtc-builtins.so.13.0"),
	nvidia("nvidia-cublas", "13.1.0.3", "manylinux_2_27_x86_64", "423 MB",
		"ee8722c1f0145ab246bccb9e452153b5e0515fd094c3678df50b2a0888b8b171",
		"cu13", "nvidia_cublas", "libcublasLt.so.13", "libcublas.so.13").with("libcublas.so.13"),
	nvidia("nvidia-cufft", "12.0.0.61", "manylinux2014_x86_64", "214 MB",
		"6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3",
		"cu13", "nvidia_cufft", "libcufft.so.12"),
	nvidia("nvidia-curand", "10.4.0.35", "manylinux_2_27_x86_64", "60 MB",
		"1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc",
		"cu13", "nvidia_curand", "libcurand.so.10"),
	nvidia("nvidia-cudnn-cu13", "9.19.0.56", "manylinux_2_27_x86_64", "366 MB",
		"d20e1734305e9d68889a96e3f35094d733ff1f83932ebe462753973e53a572bf",
		"cudnn", "nvidia_cudnn_cu13", "libcudnn.so.9", "libcudnn_adv.so.9", "libcudnn_cnn.so.9",
		"libcudnn_engines_precompiled.so.9", "libcudnn_engines_runtime_compiled.so.9",
		"libcudnn_graph.so.9", "libcudnn_heuristic.so.9", "libcudnn_ops.so.9"),
}

// pythons are the folders of the installations of Python that a user may have put CUDA into.
func pythons() []string {
	out := []string{os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX")}
	if path, err := exec.LookPath("python3"); err == nil {
		out = append(out, filepath.Dir(filepath.Dir(path)))
		if real, err := filepath.EvalSymlinks(path); err == nil {
			out = append(out, filepath.Dir(filepath.Dir(real)))
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		out = append(out, filepath.Join(home, ".local"))
	}
	out = slices.DeleteFunc(out, func(dir string) bool { return !filepath.IsAbs(dir) })
	return append(out, "/usr/local", "/usr")
}

// find is the library's file, "" if there is none.
func (l *library) find(cache string) string {
	if path, _, err := l.Find(cache); err == nil {
		return path
	}
	for _, dir := range folders() {
		// The folder may be a pattern.
		found, err := filepath.Glob(filepath.Join(dir, l.Library))
		if err == nil && len(found) > 0 {
			return found[len(found)-1] // of several the newest
		}
	}
	return ""
}

// folders are those in which other programs keep CUDA's libraries, as patterns.
func folders() []string {
	out := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	for _, prefix := range pythons() {
		for _, packages := range []string{"site-packages", "dist-packages"} {
			out = append(out, filepath.Join(prefix, "lib", "python3*", packages, "nvidia", "*", "lib"))
		}
	}
	return append(out, "/usr/local/cuda/lib64", "/usr/local/cuda-13*/lib64", "/opt/cuda/lib64",
		"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib")
}
