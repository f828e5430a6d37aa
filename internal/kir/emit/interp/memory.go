package interp

import "github.com/weftgraph/weft/internal/kir"

// view is a view of memory, which ends where the view does.
func (c *compiler) view(x kir.Call) eval {
	array, at, n := c.expr(x.Args[0]), c.expr(x.Args[1]), c.expr(x.Args[2])
	size := uint64(1)
	if x.Fn != kir.IDs {
		size = 2
	}
	return func(f *frame) Value {
		from := at(f).N
		end := from + size*n(f).N
		return Value{List: array(f).List[from:end:end]}
	}
}

// item is element i of an array that is not of u32.
func (v Value) item(i uint64) Value {
	if v.Items != nil {
		return v.Items[i]
	}
	return Value{N: uint64(v.List[2*i]) | uint64(v.List[2*i+1])<<32}
}

// put stores element i.
func (v Value) put(i uint64, x Value) {
	if v.Items != nil {
		v.Items[i] = x
		return
	}
	v.List[2*i], v.List[2*i+1] = uint32(x.N), uint32(x.N>>32)
}
