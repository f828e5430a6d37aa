package graph

import "strconv"

// IDs maps internal vertex ids to the user's ids and back. Exactly one of the
// representations is in use: Identity, Num or Str.
type IDs struct {
	// Num[v] is the numeric id of internal vertex v; nil when ids are strings.
	Num []int64
	// Str holds string ids: the id of v is StrBytes[StrOff[v]:StrOff[v+1]].
	StrOff   []uint64
	StrBytes []byte

	lookup lazy[idLookup]
}

// Numeric reports whether the user's ids are numbers.
func (d *IDs) Numeric() bool { return d.StrOff == nil }

// Int returns the numeric id of v. Only for numeric ids.
func (d *IDs) Int(v uint32) int64 { return d.Num[v] }

// String returns the id of v as text.
func (d *IDs) String(v uint32) string { return string(d.Append(nil, v)) }

// Append appends the id of v as text to b.
func (d *IDs) Append(b []byte, v uint32) []byte {
	if d.StrOff != nil {
		return append(b, d.StrBytes[d.StrOff[v]:d.StrOff[v+1]]...)
	}
	return strconv.AppendInt(b, d.Num[v], 10)
}
