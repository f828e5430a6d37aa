package explain

import "math/big"

// JSONCount is an exact count in JSON: a number up to 2^53, which every reader keeps
// exact, a string beyond, and null where there is none.
type JSONCount struct{ N *big.Int }

var maxJSONNumber = new(big.Int).Lsh(big.NewInt(1), 53)

// MarshalJSON writes the count.
func (c JSONCount) MarshalJSON() ([]byte, error) { return c.Append(nil), nil }

// Append appends the count to b.
func (c JSONCount) Append(b []byte) []byte {
	switch {
	case c.N == nil:
		return append(b, "null"...)
	case c.N.CmpAbs(maxJSONNumber) <= 0:
		return c.N.Append(b, 10)
	}
	return append(c.N.Append(append(b, '"'), 10), '"')
}
