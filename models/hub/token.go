package hub

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"infill/internal/disk"
)

// The variables of Hugging Face's own tools that are honoured.
const (
	envToken     = "HF_TOKEN"
	envTokenFile = "HF_TOKEN_PATH"
	envNoToken   = "HF_HUB_DISABLE_IMPLICIT_TOKEN"
	envHome      = "HF_HOME"
	envEndpoint  = "HF_ENDPOINT"
)

const tokenPlaces = "the variable " + envToken + ", or the file that hf auth login writes"

// maxToken bounds a token, in bytes.
const maxToken = 1000

// ForeignHub is the hub's address for Hugging Face's own tools: that of HF_ENDPOINT, or
// the usual hub.
func ForeignHub() string {
	return cmp.Or(strings.TrimRight(os.Getenv(envEndpoint), "/"), defaultHub)
}

// Token is the user's token for a hub, "" if there is none: that of HF_TOKEN, or of the file that
// Hugging Face's tools keep. Only the usual hub and the hub of HF_ENDPOINT may have it. A mirror
// that is named in another way may not. An error wraps errToken.
func Token(hub string) (string, error) {
	if !sameHost(hub, defaultHub) && !sameHost(hub, ForeignHub()) {
		return "", nil
	}
	token := strings.TrimSpace(os.Getenv(envToken))
	if token == "" && os.Getenv(envNoToken) == "" {
		data, err := disk.Read(tokenFile(), maxToken)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%w: the file of the token: %w", errToken, err)
		}
		token = strings.TrimSpace(string(data))
	}
	if len(token) > maxToken || strings.ContainsFunc(token, func(r rune) bool {
		return r <= ' ' || r > '~'
	}) {
		return "", fmt.Errorf("%w: it has characters that no token has; see %s", errToken, tokenPlaces)
	}
	return token, nil
}

// sameHost reports whether two addresses are of one server, its scheme and port included.
func sameHost(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	return err == nil && err2 == nil && u.Host != "" && u.Scheme == v.Scheme &&
		strings.EqualFold(u.Host, v.Host)
}

// tokenFile is where Hugging Face's tools keep the user's token.
func tokenFile() string {
	if s := os.Getenv(envTokenFile); s != "" {
		return s
	}
	if s := os.Getenv(envHome); s != "" {
		return filepath.Join(s, "token")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")),
		"huggingface", "token")
}
