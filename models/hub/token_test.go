package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"infill/models/hub/hubtest"
)

// clean is an environment without the variables of Hugging Face's tools, and with its own home.
func clean(t *testing.T) (home string) {
	t.Helper()
	for _, name := range []string{envToken, envTokenFile, envNoToken, envHome, envEndpoint,
		"XDG_CACHE_HOME"} {
		t.Setenv(name, "")
	}
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	return filepath.Join(home, ".cache", "huggingface")
}

// lieAt writes a file, with its folders.
func lieAt(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// The token goes to the hub, for what is private there, and to no store that it redirects to.
func TestTokenStaysAtTheHub(t *testing.T) {
	s, c, o := repository(t, exported())
	private := hubtest.Masked(exported())
	private.Private = true
	s.Put("o/n", private)
	o.Token = s.Token
	var said []string
	o.Log = func(line string) { said = append(said, line) }
	if _, _, err := pulled(t, c, "o/n", "", o); err != nil {
		t.Fatal(err)
	}
	hub, store := 0, 0
	for _, r := range s.Requests() {
		switch {
		case strings.HasPrefix(r.Path, "/store/"):
			if store++; r.Token != "" {
				t.Errorf("the store got the token: %+v", r)
			}
		case r.Token == "Bearer "+s.Token:
			hub++
		default:
			t.Errorf("the hub did not get the token: %+v", r)
		}
	}
	if hub != 6 || store != 3 {
		t.Errorf("%d requests to the hub, %d to the store", hub, store)
	}
	if err := filepath.WalkDir(c.Dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if strings.Contains(string(data), s.Token) || strings.Contains(string(data), "signature") {
			t.Errorf("%s has the token or a signature", p)
		}
		return err
	}); err != nil || strings.Contains(strings.Join(said, ""), s.Token) {
		t.Errorf("%v, %q", err, said)
	}
}

// Servers below the hub's name, on other ports and without TLS are others. Nothing goes by http.
func TestTokenAndRedirections(t *testing.T) {
	var mu sync.Mutex
	tokens := map[string]string{} // by host
	to := ""
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		tokens[r.Host] = r.Header.Get("Authorization")
		if r.Host == "hub.test" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		http.NotFound(w, r)
	}))
	defer s.Close()
	plain := httptest.NewServer(s.Config.Handler)
	defer plain.Close()
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a server of the test
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			at := s.Listener.Addr().String()
			if strings.HasSuffix(address, ":80") {
				at = plain.Listener.Addr().String()
			}
			return new(net.Dialer).DialContext(ctx, network, at)
		}}}
	_, c, o := repository(t, nil)
	o.Hub, o.client, o.Token, o.attempts = "https://hub.test", client, "hf_secret", 1
	for where, host := range map[string]string{
		"https://cdn.hub.test/x": "cdn.hub.test", "https://hub.test:8443/x": "hub.test:8443",
		"https://hub.test.evil.test/x": "hub.test.evil.test", "https://hub.test@evil.test/x": "evil.test",
		"http://hub.test/x": "", "http://127.0.0.1/x": "", "ftp://hub.test/x": "",
	} {
		to = where
		clear(tokens)
		_, _, err := pulled(t, c, "o/n", "", o)
		if !errors.Is(err, errFetch) || strings.Contains(err.Error(), "hf_secret") {
			t.Errorf("%s: %v", where, err)
		}
		got, asked := tokens[host]
		switch {
		case tokens["hub.test"] != "Bearer hf_secret":
			t.Errorf("%s: the hub got %q", where, tokens["hub.test"])
		case host == "" && (len(tokens) != 1 || !strings.Contains(err.Error(), "not https")):
			t.Errorf("%s was followed: %v, %v", where, tokens, err)
		case host != "" && (!asked || strings.Contains(got, "hf_secret")):
			t.Errorf("%s: %q got %q", where, host, got)
		}
	}
	to = "https://hub.test/again" // for ever
	if _, _, err := pulled(t, c, "o/n", "", o); !errors.Is(err, errFetch) ||
		!strings.Contains(err.Error(), "10 redirections") {
		t.Errorf("%v", err)
	}
}

// The token comes from the variable, else from the file, and goes only to the hub and HF_ENDPOINT.
func TestToken(t *testing.T) {
	home := clean(t)
	want := func(hub, token string) {
		t.Helper()
		if got, err := Token(hub); got != token || err != nil {
			t.Errorf("%s: %q, %v; want %q", hub, got, err, token)
		}
	}
	want(defaultHub, "")
	lieAt(t, filepath.Join(home, "token"), "hf_file\n")
	want(defaultHub, "hf_file")
	want("https://mirror.test", "")
	want("http://huggingface.co", "")
	t.Setenv(envNoToken, "1")
	want(defaultHub, "")
	t.Setenv(envToken, " hf_variable ")
	want(defaultHub, "hf_variable")
	t.Setenv(envEndpoint, "https://mirror.test/")
	want(ForeignHub(), "hf_variable")
	want("https://mirror.test.evil.test", "")
	t.Setenv(envToken, "")
	t.Setenv(envNoToken, "")
	t.Setenv(envHome, t.TempDir())
	want(defaultHub, "")
	t.Setenv(envHome, home)
	want(defaultHub, "hf_file")
	t.Setenv(envHome, "")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("USERPROFILE", t.TempDir())
	want(defaultHub, "")
	t.Setenv("XDG_CACHE_HOME", filepath.Dir(home))
	want(defaultHub, "hf_file")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv(envTokenFile, filepath.Join(home, "token"))
	want(defaultHub, "hf_file")
	for _, bad := range []string{"hf secret", "hf\r\nX: y", "hf_é", strings.Repeat("x", maxToken+1)} {
		t.Setenv(envToken, bad)
		if token, err := Token(defaultHub); token != "" || !errors.Is(err, errToken) ||
			strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %q, %v", bad, token, err)
		}
	}
	t.Setenv(envToken, "")
	t.Setenv(envTokenFile, home) // a folder
	if _, err := Token(defaultHub); !errors.Is(err, errToken) {
		t.Error(err)
	}
}

func TestForeignHub(t *testing.T) {
	clean(t)
	if ForeignHub() != defaultHub {
		t.Error(ForeignHub())
	}
	t.Setenv(envEndpoint, "https://mirror.test/")
	if ForeignHub() != "https://mirror.test" {
		t.Error(ForeignHub())
	}
}
