package deploy

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"infill/internal/testmode"
)

// The service of the manifest is asked at the port where it listens, its probes pass without a key,
// and it ends well on SIGTERM.
func TestKubernetesService(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("kubernetes", "serve.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	manifest := string(b)
	all := func(pattern string) [][]string {
		return regexp.MustCompile(pattern).FindAllStringSubmatch(manifest, -1)
	}
	ports := all(`(?i)(?:port: |--addr=0\.0\.0\.0:)(\d+)`)
	for _, m := range ports {
		if m[1] != "8017" && m[0] != "port: 80" {
			t.Errorf("%s, the other ports are 8017", m[0])
		}
	}
	probes := all(`(\w+)Probe:\n +httpGet:\n +path: (\S+)\n`)
	if len(ports) != 6 || len(probes) != 2 {
		t.Fatalf("%d ports, probes %q", len(ports), probes)
	}
	infill, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	keys := []byte(strings.Repeat("k", 20))
	if err := os.WriteFile(filepath.Join(dir, "keys"), keys, 0o600); err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, a := range argsOf(t, manifest) {
		a = strings.Replace(a, "0.0.0.0:8017", "127.0.0.1:0", 1)
		args = append(args, strings.Replace(a, "/run/infill", dir, 1))
	}
	cmd := exec.Command(infill, append(args, "--model", tiny(t)[1])...)
	var log testmode.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }() // does nothing if it has ended
	ready := regexp.MustCompile(`ready at (http://[\d.:]+)/`)
	end := time.Now().Add(time.Minute)
	for ; !ready.MatchString(log.String()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(log.String())
		}
	}
	url := ready.FindStringSubmatch(log.String())[1]
	for path, want := range map[string]int{probes[0][2]: http.StatusOK, probes[1][2]: http.StatusOK,
		"/v1/models": http.StatusUnauthorized} {
		res, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s answers %d, want %d", path, res.StatusCode, want)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, log.String())
	}
}
