package tokenize

import "sync"

const (
	cacheBytes = 16 << 20 // of both generations together
	// entryBytes is about what a map entry costs beside its key and pieces.
	entryBytes = 96
	pieceBytes = 12
)

// wordCache remembers the pieces of words. It holds at most a given number of
// bytes: a young generation fills, and when that is full it becomes the old one and
// the former old one is dropped; a word found in the old generation moves to the
// young one.
type wordCache struct {
	mu         sync.RWMutex
	young, old map[string][]piece
	size       int // bytes in young
	half       int // bytes of one generation
}

func newWordCache(bytes int) *wordCache {
	return &wordCache{half: bytes / 2, young: map[string][]piece{}}
}

// get returns the pieces of w; the caller must not change them.
func (c *wordCache) get(w []byte) ([]piece, bool) {
	c.mu.RLock()
	p, ok := c.young[string(w)]
	fresh := ok
	if !ok {
		p, ok = c.old[string(w)]
	}
	c.mu.RUnlock()
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.young[w]; ok {
		return
	}
	if c.size+cost > c.half {
		c.old, c.young, c.size = c.young, map[string][]piece{}, 0
	}
	c.young[w] = p
	c.size += cost
}
