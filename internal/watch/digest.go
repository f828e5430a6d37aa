package watch

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
)

// digest is a number for a sequence of updates: other updates, or another order, give another number. It is the same in each process.
type digest uint64

func (d *digest) mix(x uint64) {
	hi, lo := bits.Mul64(uint64(*d)^x, 0x9e3779b97f4a7c15)
	*d = digest(hi ^ lo ^ 0xd6e8feb86659fd93)
}

func (d *digest) text(s string) {
	d.mix(uint64(len(s)))
	for ; len(s) > 0; s = s[min(8, len(s)):] {
		x := uint64(0)
		for i := range min(8, len(s)) {
			x |= uint64(s[i]) << (8 * i)
		}
		d.mix(x)
	}
}

func (d *digest) id(id dynamic.ID) {
	if x, ok := id.Number(); ok {
		d.mix(x)
	} else {
		d.text(id.String())
	}
}

// add adds an update.
func (d *digest) add(u *stream.Update) {
	d.mix(uint64(u.Op))
	d.id(u.U)
	d.id(u.V)
	if u.Label != "" {
		d.text(u.Label)
	}
	for _, l := range u.Labels {
		d.text(l)
	}
	for _, p := range u.Properties {
		d.text(p.Name)
		d.text(p.Value.String())
	}
	if u.HasTime {
		d.mix(uint64(u.Time))
	}
}
