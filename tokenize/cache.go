package tokenize

import (
	"hash/maphash"
	"sync"
)

const (
	cacheShards = 16       // so that many goroutines seldom meet
	cacheBytes  = 16 << 20 // of all shards and both generations together
	// entryBytes is about what a map entry costs beside its key and pieces.
	entryBytes = 96
	pieceBytes = 12
)

// wordCache remembers the pieces of words. It holds at most a given number of
// bytes: each shard fills a young generation, and when that is full it becomes
// the old one and the former old one is dropped; a word found in the old
// generation moves to the young one.
type wordCache struct {
	seed   maphash.Seed
	half   int // bytes of one generation of one shard
	shards [cacheShards]cacheShard
}

type cacheShard struct {
	mu         sync.RWMutex
	young, old map[string][]piece
	size       int // bytes in young
}

func newWordCache(bytes int) *wordCache {
	c := &wordCache{seed: maphash.MakeSeed(), half: bytes / cacheShards / 2}
	for i := range c.shards {
		c.shards[i].young = make(map[string][]piece)
	}
	return c
}

// get returns the pieces of w; the caller must not change them.
func (c *wordCache) get(w []byte) ([]piece, bool) {
	s := &c.shards[maphash.Bytes(c.seed, w)%cacheShards]
	s.mu.RLock()
	p, ok := s.young[string(w)]
	fresh := ok
	if !ok {
		p, ok = s.old[string(w)]
	}
	s.mu.RUnlock()
	if ok && !fresh {
		c.put(string(w), p)
	}
	return p, ok
}

// maxCachedWord bounds the length, in bytes, of the words that are remembered.
const maxCachedWord = 256

// pieces appends the pieces of w, which cut finds if they are not remembered.
func (c *wordCache) pieces(out []piece, w []byte, cut func(w []byte) ([]piece, error)) ([]piece,
	error) {
	if known, ok := c.get(w); ok {
		return append(out, known...), nil
	}
	found, err := cut(w)
	if err != nil {
		return out, err
	}
	if len(w) <= maxCachedWord {
		c.put(string(w), found)
	}
	return append(out, found...), nil
}

// put stores the pieces of w; the caller must not change them afterwards.
func (c *wordCache) put(w string, p []piece) {
	cost := entryBytes + len(w) + pieceBytes*len(p)
	if cost > c.half {
		return
	}
	s := &c.shards[maphash.String(c.seed, w)%cacheShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.young[w]; ok {
		return
	}
	if s.size+cost > c.half {
		s.old, s.young, s.size = s.young, make(map[string][]piece), 0
	}
	s.young[w] = p
	s.size += cost
}
