package onnxgrad

import "slices"

// Call is what one call of a derived graph is given beside what the model itself takes. Its memory
// is used again from call to call. The zero value is ready. It serves one goroutine.
type Call struct {
	Rows, Length          int       // rows, and the positions of each
	Group                 int       // blanks of each chain, or with Options.Prompt of each row
	Blanks                []int64   // their positions
	Positions, Targets    []int64   // of each row: the position that is asked about, the token there
	Prompt                []float32 // with Options.Prompt: what stands at the blanks
	Conditional, Gradient bool      // what is wanted beside log f
	// IDs are input_ids, [rows, length]. The model's other inputs must depend on the place alone.
	// Counted comes from Derived.
	IDs, Counted []int64
	// Distinct is how many positions are computed before the first attention, once Input gave them.
	Distinct int

	alike alike
}

// Input is what the graph's input of a name takes, []int64, []float32 or []bool, and its shape.
// Inputs are asked for in their order. nil is for one of the model itself.
func (c *Call) Input(name string) (data any, shape []int64) {
	rows, group := int64(c.Rows), int64(c.Group)
	switch name {
	case inPositions:
		return c.Positions, []int64{rows}
	case inTargets:
		return c.Targets, []int64{rows}
	case inBlanks:
		return c.Blanks, []int64{int64(len(c.Blanks)) / group, group}
	case inPrompt:
		return c.Prompt, []int64{rows, group, int64(len(c.Prompt)) / (rows * group)}
	case inFirst: // before inNumbers
		c.alike.Find(c.Length, c.Counted, c.IDs)
		c.Distinct = len(c.alike.First)
		return c.alike.First, []int64{int64(c.Distinct)}
	case inNumbers:
		return c.alike.Numbers, []int64{rows, int64(c.Length)}
	case inConditional:
		return []bool{c.Conditional}, nil
	case inGradient:
		return []bool{c.Gradient}, nil
	}
	return nil, nil
}

// alike says which positions of a call are alike: what the inputs inFirst and inNumbers take.
type alike struct {
	// First lists the distinct positions in the order in which they first occur, as indices among
	// the rows · length positions of the call. U entries, at least two, so that products have
	// several rows: those with one are computed by another routine, to other last bits.
	First []int64
	// Numbers has for every position, [rows, length], the one in First that it is like.
	Numbers []int64

	known map[[2]int64]int64
}

// Find compares all positions of a call of rows of the given length. Those are alike that have the
// same token, the same place in their rows, and the same value in every one of the other inputs,
// which may be left out where they depend on the place alone. All slices are [rows, length]. If one
// of the tokens in counted, which is Derived.Counted, occurs, no two positions are alike.
func (a *alike) Find(length int, counted, ids []int64, others ...[]int64) {
	a.Numbers = slices.Grow(a.Numbers[:0], len(ids))[:len(ids)]
	if slices.ContainsFunc(counted, func(t int64) bool { return slices.Contains(ids, t) }) {
		a.First = a.First[:0]
		for i := range a.Numbers {
			a.Numbers[i] = int64(i)
			a.First = append(a.First, int64(i))
		}
	} else {
		a.clear()
		for i, id := range ids {
			if i >= length && id == ids[i-length] { // most are as in the row before
				a.Numbers[i] = a.Numbers[i-length]
				continue
			}
			a.number(i, id, int64(i%length))
		}
		for _, x := range others {
			a.clear()
			for i, v := range x {
				a.number(i, a.Numbers[i], v)
			}
		}
	}
	if len(a.First) == 1 {
		a.First = append(a.First, a.First[0])
	}
}

func (a *alike) clear() {
	if a.known == nil {
		a.known = map[[2]int64]int64{}
	}
	clear(a.known)
	a.First = a.First[:0]
}

// number gives position i the number of those that have the same two values.
func (a *alike) number(i int, x, y int64) {
	key := [2]int64{x, y}
	number, ok := a.known[key]
	if !ok {
		number = int64(len(a.First))
		a.known[key] = number
		a.First = append(a.First, int64(i))
	}
	a.Numbers[i] = number
}
