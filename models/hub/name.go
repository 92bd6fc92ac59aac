package hub

import (
	"regexp"
	"strings"
)

// A repo is a model repository of the hub at a revision.
type repo struct {
	ID       string // OWNER/NAME
	Revision string // a branch, a tag, a commit or refs/pr/N
}

// mainBranch is the revision of a repository that is named without one.
const mainBranch = "main"

var (
	repositoryName = regexp.MustCompile(
		`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9_][A-Za-z0-9._-]{0,95}$`)
	revisionName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$`)
)

func isRepository(id string) bool {
	return repositoryName.MatchString(id) && !strings.Contains(id, "..") && !strings.Contains(id, "--")
}

// IsRepository reports whether a text is OWNER/NAME or OWNER/NAME@REVISION.
func IsRepository(text string) bool {
	_, ok := parseRepo(text)
	return ok
}

// parseRepo reads what IsRepository describes.
func parseRepo(text string) (repo, bool) {
	id, revision, at := strings.Cut(text, "@")
	if !at {
		revision = mainBranch
	}
	return repo{id, revision}, isRepository(id) && revisionName.MatchString(revision) &&
		!strings.Contains(revision, "..") && !device.MatchString(revision)
}

func (r repo) String() string {
	if r.Revision == mainBranch {
		return r.ID
	}
	return r.ID + "@" + r.Revision
}
