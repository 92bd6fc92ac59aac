package settings

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// A Shard is one of several parts of a file that separate processes work on. The zero value is the
// whole file.
type Shard struct {
	Index int `json:"index"` // from 0 to Of-1
	Of    int `json:"of"`    // the number of shards, 0 for the whole file
}

// maxShards bounds Shard.Of.
const maxShards = 1_000_000

// Whole reports whether the shard is the whole file, uncut.
func (s Shard) Whole() bool { return s == Shard{} }

// String is the shard as parseShard reads it: 3/8, and "" for the whole file.
func (s Shard) String() string {
	if s.Whole() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Check refuses a shard that is not one of a file. The error wraps [ErrSetting].
func (s Shard) Check() error {
	_, err := parseShard(s.String())
	return err
}

// parseShard reads I/N, shard I of N counted from 0. An empty text is the whole file. The error
// wraps [ErrSetting].
func parseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	index, of, cut := strings.Cut(text, "/")
	i, err := strconv.ParseUint(index, 10, 31)
	n, err2 := strconv.ParseUint(of, 10, 31)
	if !cut || err != nil || err2 != nil || n < 1 || n > maxShards || i >= n {
		return Shard{}, &Error{Name: "shard", Given: text, Want: wantShard}
	}
	return Shard{int(i), int(n)}, nil
}

// wantShard says the first and the last one, since others count from 1.
const wantShard = "I/N, shard I of N counted from 0: of eight, 0/8 is the first and 7/8 the last"

// shardValue is access to a shard.
func shardValue(p *Shard) *Value {
	set := func(text string) (err error) {
		s, err := parseShard(text)
		if err == nil {
			*p = s
		}
		return err
	}
	return &Value{
		Kind: reflect.String, want: wantShard, get: func() string { return p.String() }, set: set,
		setJSON: fromJSON(set),
	}
}

// UnmarshalJSON reads what a manifest has of a shard. It is one that parseShard could have
// returned.
func (s *Shard) UnmarshalJSON(b []byte) error {
	var is struct{ Index, Of int }
	if err := json.Unmarshal(b, &is); err != nil {
		return err
	}
	shard, err := parseShard(Shard(is).String())
	*s = shard
	return err
}
