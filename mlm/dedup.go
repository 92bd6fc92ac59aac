package mlm

import (
	"encoding/binary"
	"slices"
)

// sharedContext is one masked text and the states that meet in it: those that
// agree on every blank but this one.
type sharedContext struct {
	blank int
	users []int // indices of states, ascending
}

// sameTarget reports whether all users ask for the same token.
func (c *sharedContext) sameTarget(states [][]int32) bool {
	want := states[c.users[0]][c.blank]
	return !slices.ContainsFunc(c.users, func(k int) bool { return states[k][c.blank] != want })
}

// contexts lists the distinct masked texts of the states, in the order in
// which they first occur: those of all blanks, or only blank masked[c] of
// state c, or of −1 the state itself. Identical rows are then evaluated once.
func contexts(s *Sentence, states [][]int32, masked []int) []*sharedContext {
	m := len(s.Blanks)
	var out []*sharedContext
	at := map[string]*sharedContext{}
	key := make([]byte, 0, 4*(m+1))
	add := func(c, blank int) {
		key = binary.LittleEndian.AppendUint32(key[:0], uint32(blank))
		for j, id := range states[c] {
			if j == blank {
				id = -1
			}
			key = binary.LittleEndian.AppendUint32(key, uint32(id))
		}
		ctx, ok := at[string(key)]
		if !ok {
			ctx = &sharedContext{blank: blank}
			at[string(key)] = ctx
			out = append(out, ctx)
		}
		ctx.users = append(ctx.users, c)
	}
	for c := range states {
		if masked != nil {
			add(c, masked[c])
			continue
		}
		for i := range m {
			add(c, i)
		}
	}
	return out
}
