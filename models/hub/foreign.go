package hub

import (
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
	envCache     = "HF_HUB_CACHE"
	envEndpoint  = "HF_ENDPOINT"
	envOffline   = "HF_HUB_OFFLINE"
)

const tokenPlaces = "the variable " + envToken + ", or the file that hf auth login writes"

// maxToken bounds a token, in bytes.
const maxToken = 1000

// ForeignHub is the hub's address for Hugging Face's own tools: that of HF_ENDPOINT, or
// [DefaultHub].
func ForeignHub() string {
	if s := strings.TrimRight(os.Getenv(envEndpoint), "/"); s != "" {
		return s
	}
	return DefaultHub
}

// ForeignOffline reports whether HF_HUB_OFFLINE forbids downloads.
func ForeignOffline() bool { return isTrue(os.Getenv(envOffline)) }

func isTrue(s string) bool {
	switch strings.ToUpper(s) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}

// Token is the user's token for a hub, "" if there is none: that of HF_TOKEN, or of the file that
// Hugging Face's tools keep. Only [DefaultHub] and the hub of HF_ENDPOINT may have it. A mirror
// that is named in another way may not. An error wraps errToken.
func Token(hub string) (string, error) {
	if !sameHost(hub, DefaultHub) && !sameHost(hub, ForeignHub()) {
		return "", nil
	}
	token, from := os.Getenv(envToken), envToken
	if strings.TrimSpace(token) == "" {
		if isTrue(os.Getenv(envNoToken)) {
			return "", nil
		}
		from = tokenFile()
		data, err := disk.Read(from, maxToken)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return "", nil
			}
			return "", fmt.Errorf("%w: the file of the token: %w", errToken, err)
		}
		token = string(data)
	}
	token = strings.TrimSpace(token)
	if len(token) > maxToken || strings.ContainsFunc(token, func(r rune) bool {
		return r <= ' ' || r > '~'
	}) {
		return "", fmt.Errorf("%w: %s has characters that no token has", errToken, from)
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

func tokenFile() string {
	if s := os.Getenv(envTokenFile); s != "" {
		return s
	}
	return filepath.Join(foreignHome(), "token")
}

func foreignHome() string {
	if s := os.Getenv(envHome); s != "" {
		return s
	}
	if s := os.Getenv("XDG_CACHE_HOME"); s != "" {
		return filepath.Join(s, "huggingface")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cache", "huggingface")
}

// foreignCache is the folder of Hugging Face's own cache.
func foreignCache() string {
	if s := os.Getenv(envCache); s != "" {
		return s
	}
	return filepath.Join(foreignHome(), "hub")
}

// foreign looks for a repository in Hugging Face's own cache. dir is the folder of its snapshot and
// export the ONNX file in it: the given one, or the best. They are "" if the cache has no snapshot
// of the revision with an export and its tokenizer. fast8 is [Options.Int8].
func foreign(r repo, file string, fast8 bool) (dir, export string) {
	base := filepath.Join(foreignCache(), "models--"+folderOf(r.ID))
	commit := r.Revision
	if data, err := disk.Read(filepath.Join(base, "refs", filepath.FromSlash(r.Revision)),
		100); err == nil {
		commit = strings.TrimSpace(string(data))
	}
	if !gitHash.MatchString(commit) {
		return "", ""
	}
	dir = filepath.Join(base, "snapshots", commit)
	var paths []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := os.Stat(p); err != nil || !info.Mode().IsRegular() {
			return nil // the blob of the link is gone
		}
		p, err = filepath.Rel(dir, p)
		paths = append(paths, filepath.ToSlash(p))
		return err
	})
	if err != nil {
		return "", ""
	}
	chosen, err := choose(paths, file, r.ID, fast8)
	if err != nil {
		return "", ""
	}
	return dir, chosen.export
}
