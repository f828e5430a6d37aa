package host

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/nest"
	"github.com/weftgraph/weft/internal/stream/pipeline"
	"github.com/weftgraph/weft/internal/testing/device"
)

// keeping counts the windows without marks of a Keeper, and those that got marks.
type keeping struct {
	nest.Keeper
	g               *dynamic.Graph
	plainly         bool // the window has had no marks so far
	kept, remembers int
}

func (x *keeping) Keep(ctx context.Context) error {
	x.kept++
	x.plainly = true
	return x.Keeper.Keep(ctx)
}

// look is called while the window is open.
func (x *keeping) look() {
	if x.plainly && !x.g.Recording() {
		x.plainly = false
		x.remembers++
	}
}

func (x *keeping) Post(ctx context.Context, base uint64, events []dynamic.Event, tasks []nest.Task) error {
	x.look()
	defer x.look()
	return x.Keeper.Post(ctx, base, events, tasks)
}

func (x *keeping) Take(ctx context.Context, wait bool) (nest.Found, error) {
	x.look()
	defer x.look()
	return x.Keeper.Take(ctx, wait)
}

func (x *keeping) Settle() error {
	x.plainly = false
	return x.Keeper.Settle()
}

func (x *keeping) Forget() {
	x.plainly = false
	x.Keeper.Forget()
}

// TestDeviceKeeps: where a device finds all by itself, the host's windows have no marks. They get marks if the device's memory is full, or if it leaves matches to
// the cores. Patterns of which the cores read lists have windows with marks. Always the matches are those that the cores find.
func TestDeviceKeeps(t *testing.T) {
	const n = 80
	exact := []string{"MATCH (a)-->(b)-->(c)-->(a)", "MATCH (a:L0)-->(b:L1)-->(c:L0), (c)-->(a)", "MATCH (a)-->(b)<--(c:L0)"}
	for _, c := range []struct {
		name      string
		queries   []string
		counts    bool
		o         pipeline.Options
		kept      bool
		remembers bool
		sometimes bool // remembers depends on when the device gives memory back
	}{
		{name: "listed", queries: exact, kept: true},
		{name: "counted", queries: exact, counts: true, kept: true},
		{name: "memory", queries: exact, counts: true, o: pipeline.Options{Memory: 20 << 10}, kept: true, remembers: true, sometimes: true},
		{name: "left to the cores", queries: exact, o: pipeline.Options{Listed: 20}, kept: true, remembers: true},
		{name: "condition", queries: append([]string{"MATCH (a)-->(b)-->(c) WHERE id(a) < id(b) + 3"}, exact...)},
		{name: "a missing edge", queries: append([]string{"MATCH (a)-->(b)-->(c), NOT (a)-->(c)"}, exact...)},
		{name: "EXISTS", queries: append([]string{"MATCH (a)-->(b) WHERE EXISTS { (a)-->(c:L1) }"}, exact...)},
	} {
		for _, directed := range []bool{false, true} {
			run := func(t *testing.T, d *cuda.Device) (out []any, k *keeping, full uint64) {
				g := dynamic.New(directed, false)
				for v := range uint64(n) {
					if _, err := g.AddVertex(dynamic.Num(v), g.Class(fmt.Sprint("L", v%2))); err != nil {
						t.Fatal(err)
					}
				}
				o := Options{Workers: 2}
				var x *pipeline.Device
				if d != nil {
					po := c.o
					po.Flowing = pipeline.Flowing{Threads: 64, Blocks: 2, Window: 64, Wait: -1, Dog: 5 * time.Minute}
					var err error
					if x, err = pipeline.NewDevice(d, g, po); err != nil {
						t.Fatal(err)
					}
					k = &keeping{Keeper: x, g: g}
					o.Device = k
				}
				m := New(g, o)
				m.grain.run = 16
				m.SetSeq(0)
				defer func() {
					if x != nil {
						full = x.Totals().Full
					}
					if err := m.Close(); err != nil {
						t.Error(err)
					}
				}()
				for i, text := range c.queries {
					if !directed {
						text = strings.NewReplacer("-->", "--", "<--", "--").Replace(text)
					}
					if _, err := m.Add(fmt.Sprint(i), parse(t, text), nest.WatchOptions{CountsOnly: c.counts}); err != nil {
						t.Fatal(err)
					}
				}
				r := rand.New(rand.NewPCG(3, 4))
				for range 5 {
					var batch []stream.Update
					for range 200 {
						u := edge(stream.AddEdge, r.Uint64N(n), r.Uint64N(n))
						if r.IntN(3) == 0 {
							u.Op = stream.RemoveEdge
						}
						batch = append(batch, u)
					}
					found := &reader{g: g, sets: true}
					res, err := m.Apply(t.Context(), batch, found)
					if err != nil || res.Updates != len(batch) {
						t.Fatal(res.Updates, err)
					}
					slices.Sort(found.lines)
					out = append(out, found.lines, res.Counts)
				}
				m.Late()
				return append(out, g.NumEdges()), k, full
			}
			want, _, _ := run(t, nil)
			device.Each(t, func(t *testing.T, d *cuda.Device) {
				some := false
				for try := 0; try == 0 || c.sometimes && !some && try < 20; try++ {
					got, k, full := run(t, d)
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("%s, directed %v: the device finds\n%v\nand the cores\n%v", c.name, directed, got, want)
					}
					if k.kept > 0 != c.kept || k.remembers > 0 && !c.remembers {
						t.Errorf("%s, directed %v: %d windows without marks, of which %d got some", c.name, directed, k.kept, k.remembers)
					}
					some = some || k.remembers > 0
					if c.sometimes && full > 0 != (k.remembers > 0) {
						t.Errorf("%s, directed %v: the memory was full %d times, and %d windows got marks", c.name, directed, full, k.remembers)
					}
				}
				if some != c.remembers {
					t.Errorf("%s, directed %v: no window got marks", c.name, directed)
				}
			})
		}
	}
}
