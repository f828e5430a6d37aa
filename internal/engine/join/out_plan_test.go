package join

import "testing"

// TestPlanOut: what is on a device is within the limit at each limit, and with more memory segments have no less than half of what they had with less.
func TestPlanOut(t *testing.T) {
	for _, bytes := range []int64{5000, 3 << 20, 40 << 30} {
		for _, o := range []struct{ segments, held, batch int }{{}, {held: 2}, {held: 5}, {segments: 7}, {segments: 3, held: 4}, {batch: 40}} {
			x := &onGPU{prepared: &prepared{}}
			r := []*relation{{off: []uint64{0, 1}, size: bytes}, {off: []uint64{0, 1}, size: bytes / 3}}
			least := x.planOut(0, r, o.segments, o.held, o.batch).least
			before := int64(0)
			for limit := least; limit < 100<<30; limit += 1 + limit/3 {
				p := x.planOut(limit, r, o.segments, o.held, o.batch)
				used := p.fixed + int64(p.held)*p.room
				if !p.inPlace {
					used += subTables * p.subTable()
				}
				if used > limit || p.least != least || p.held < 2 || p.held > mostHeld || o.held > 0 && p.held != o.held || p.room < leastSegment || p.subRows < leastSubRows || p.subRows > mostSubRows {
					t.Fatalf("%d bytes, %+v, limit %d: %d are used: %+v", bytes, o, limit, used, p)
				}
				// Sub-tables take a fourth once there is room for them.
				if now := int64(p.held) * p.room; 4*now < 2*before {
					t.Errorf("%d bytes, %+v, limit %d: %d bytes of segments, %d with less", bytes, o, limit, now, before)
				} else {
					before = now
				}
			}
		}
	}
}
