package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"infill/internal/ort"
)

// billTool reads the modules off a program and writes a CycloneDX bill of materials.
const billTool = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"

// bill is the bill of materials of an archive: the tool's, with ONNX Runtime and the models added,
// and without the hash of the tool, which depends on the machine.
func bill(program, version string, library ort.Report) ([]byte, error) {
	cmd := exec.Command(goCommand(), "run", billTool, "bin", "-json", "-std", "-licenses",
		"-assert-licenses", "-noserial", "-notimestamp", "-version", version, program)
	var out, log bytes.Buffer
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", billTool, err, log.String())
	}
	var doc map[string]any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", billTool, err)
	}
	meta, _ := doc["metadata"].(map[string]any)
	tools, _ := meta["tools"].([]any)
	for _, t := range tools {
		if t, ok := t.(map[string]any); ok {
			delete(t, "hashes")
		}
	}
	components, ok := doc["components"].([]any)
	if !ok {
		return nil, fmt.Errorf("%s found no modules in %s", billTool, program)
	}
	part := func(kind, name, version, licence, purl string) map[string]any {
		m := map[string]any{"type": kind, "name": name, "bom-ref": name, "version": version,
			"licenses": []any{map[string]any{"license": map[string]any{"id": licence}}}}
		if purl != "" {
			m["purl"] = purl
		}
		return m
	}
	runtime := part("library", "onnxruntime", library.Version, "MIT",
		"pkg:npm/onnxruntime-node@"+library.Version)
	runtime["hashes"] = []any{map[string]any{"alg": "SHA-256", "content": library.SHA256}}
	runtime["description"] = filepath.Base(library.Path) + " of the package"
	doc["components"] = append(components, runtime,
		part("machine-learning-model", "infill/models/default", version, "Apache-2.0", ""),
		part("machine-learning-model", "infill/models/small", version, "MIT", ""))
	text, err := json.MarshalIndent(doc, "", "  ")
	return append(text, '\n'), err
}
