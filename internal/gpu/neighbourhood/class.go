package neighbourhood

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
)

// A class is the set of roots that one kernel of the local method searches. Their universe fits
// its rows, its memory and its team, and does not fit the next smaller class.
type class struct {
	universe int // positions, at most
	lanes    int // that hold a row together,
	words    int // and how many words of 32 bits each of them holds
	team     int // lanes that search a root together: a warp or a block
	threads  int // of a block
	slots    int // of the table of positions
	sieve    int // log2 of the bits of a sieve, which takes the table's place
	// keepsList: the universe's ids are copied to shared memory; global: rows are
	// in global memory.
	keepsList, global bool
	// kept is how many ids of the universe are copied to shared memory in programs that read lists by a cache: where a list lies in host
	// memory, each look at it is a trip over the bus.
	kept int
	// wedges is the number of outside vertices that the table of wedges holds. room is the
	// number of their rows that are made at a time. limit is the largest number of wedges of a
	// root of this class; 0 means unlimited.
	wedges, room, limit int
	// shares says that many teams may share the work below one root.
	shares bool
	// grain is how many candidates of level 2 a task has, besides one of level 1; 0: 32.
	grain int
	// part bounds the work below a root to this many times the average work of a warp; 0 means
	// no bound. Large graphs have enough work for all warps.
	part int
}

// insideClasses are the classes for plans without an outside vertex, the largest first. A row
// costs its words whatever it holds, so each class has twice or four times the row of the next.
// Up to 256 positions one lane holds a row, and every lane has a task.
var insideClasses = []class{
	{universe: 40000, lanes: 32, words: 40, team: 1024, threads: 1024, slots: 49152, global: true, shares: true},
	{universe: 16384, lanes: 32, words: 16, team: 1024, threads: 1024, slots: 32768, global: true, shares: true},
	{universe: 4096, lanes: 16, words: 8, team: 512, threads: 512, slots: 16384, keepsList: true, global: true, shares: true},
	{universe: 1024, lanes: 4, words: 8, team: 512, threads: 512, slots: 4096, keepsList: true, shares: true},
	{universe: 512, lanes: 2, words: 8, team: 256, threads: 256, slots: 2048, keepsList: true, shares: true},
	{universe: 256, lanes: 1, words: 8, team: 256, threads: 256, slots: 1024, keepsList: true},
	{universe: 128, lanes: 1, words: 4, team: 128, threads: 128, slots: 512, keepsList: true, part: 8},
	{universe: 64, lanes: 1, words: 2, team: 32, threads: 256, slots: 256, keepsList: true, part: 2},
}

// outsideClasses are the classes for plans with an outside vertex. They have less room for the
// matrix, because of the table of wedges.
var outsideClasses = []class{
	{universe: 16384, lanes: 32, words: 16, team: 1024, threads: 1024, slots: 32768, global: true, wedges: 8192, room: 512, shares: true},
	{universe: 4096, lanes: 16, words: 8, team: 512, threads: 512, slots: 8192, keepsList: true, global: true, wedges: 8192, room: 1024, shares: true},
	{universe: 1024, lanes: 4, words: 8, team: 512, threads: 512, slots: 4096, keepsList: true, wedges: 4096, room: 128, shares: true},
	{universe: 512, lanes: 2, words: 8, team: 256, threads: 256, slots: 2048, keepsList: true, wedges: 6144, room: 128, shares: true},
	{universe: 256, lanes: 1, words: 8, team: 256, threads: 256, slots: 1024, keepsList: true, wedges: 6144, room: 256},
	{universe: 128, lanes: 1, words: 4, team: 128, threads: 128, slots: 512, keepsList: true, wedges: 4096, room: 128, part: 8},
	{universe: 64, lanes: 1, words: 2, team: 32, threads: 256, slots: 256, keepsList: true, wedges: 512, room: 64, limit: 4096, part: 2},
}

// sizeClasses are the classes for plans that need only the number of neighbours that the root
// shares with an outside vertex. They have no matrix, and allow any universe. A root has the
// smallest table for its wedges, and as many lanes as the table is large, so that a
// multiprocessor always has many roots in progress.
var sizeClasses = []class{
	{universe: maxUniverse, lanes: 1, words: 1, team: 1024, threads: 1024, wedges: 27648},
	{universe: maxUniverse, lanes: 1, words: 1, team: 512, threads: 512, wedges: 13824, limit: 10368},
	{universe: maxUniverse, lanes: 1, words: 1, team: 256, threads: 256, wedges: 6912, limit: 5184},
	{universe: maxUniverse, lanes: 1, words: 1, team: 128, threads: 128, wedges: 3456, limit: 2592},
	{universe: maxUniverse, lanes: 1, words: 1, team: 64, threads: 64, wedges: 1728, limit: 1296},
	{universe: maxUniverse, lanes: 1, words: 1, team: 32, threads: 256, wedges: 768, limit: 576},
}

// innerClasses are for plans of which only the number of neighbours of the root
// and an inside vertex matters: a sieve has the universe.
var innerClasses = []class{
	{universe: maxUniverse, lanes: 1, words: 1, team: 1024, threads: 1024, sieve: 18, kept: 2048},
	{universe: maxUniverse, lanes: 1, words: 1, team: 256, threads: 256, sieve: 17, kept: 1024, limit: 1 << 18, part: 16},
	{universe: 256, lanes: 1, words: 1, team: 32, threads: 256, sieve: 13, kept: 256, limit: 1 << 12, part: 1},
}

// wholeClass is for the plans of innerClasses, on graphs without large universes:
// warps go over all vertices (neighbourhood/whole.cuh).
var wholeClass = class{universe: 256, lanes: 1, words: 1, team: 32, threads: 256, sieve: 14}

// maxUniverse allows any number of vertices, or any that an int holds.
const maxUniverse = math.MaxUint32 & math.MaxInt

// maxClasses is CLASSES of neighbourhood/roots.cuh.
const maxClasses = 16

// layout is where things lie in a team's shared memory, in bytes; neighbourhood/kernels.cuh has
// the same names. Programs that read lists by a cache take cached bytes, and others bytes.
type layout struct{ list, table, masks, rows, keys, ys, out, bytes, cached int }

// headBytes is the room of struct TeamHead.
const headBytes = 64

// layout of a class, for a plan with that many masks.
func (c *class) layout(masks int) (l layout) {
	at := headBytes
	take := func(bytes int) int {
		begin := at
		at += (bytes + 15) &^ 15
		return begin
	}
	stride := 4 * c.lanes * c.words
	if c.keepsList {
		l.list = take(4 * c.universe)
	}
	l.table = take(4 * c.tableWords())
	l.masks = take(masks * stride)
	if !c.global && c.slots > 0 {
		l.rows = take(c.universe * stride)
	}
	l.keys = take(8 * c.wedges)
	l.ys = take(4 * c.room)
	if !c.global {
		l.out = take(c.room * stride)
	}
	l.bytes = at
	take(4 * c.kept)
	l.cached = at
	return l
}

// shared is the bytes of a team's shared memory on a device of a run.
func (l *layout) shared(x *session.Exec) int {
	if x.Cached() {
		return l.cached
	}
	return l.bytes
}

// tableWords is the size of the table that finds positions, or members, of a universe.
func (c *class) tableWords() int {
	if c.sieve > 0 {
		return 1 << (c.sieve - 5)
	}
	return c.slots
}

// kernel is the name of the class's kernel, which tells it from the others of its plan.
func (c *class) kernel() string { return fmt.Sprintf("local_%d_%d", c.universe, c.team) }

// text is the class as a type of the kernels, and the kernel of that name, which calls search.
func (c *class) text(l layout, kernel, search string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "struct Class_%s {\n  using Row = Bits<%d, %d, %d>;\n", kernel, c.lanes, c.words, cmp.Or(c.grain, kir.RowPartBits))
	for _, m := range []struct {
		name string
		n    int
	}{
		{"universe", c.universe}, {"team", c.team}, {"slots", c.tableWords()}, {"sieve", c.sieve}, {"wedges", max(1, c.wedges)}, {"room", max(1, c.room)},
		{"list", l.list}, {"table", l.table}, {"masks", l.masks}, {"rows", l.rows}, {"keys", l.keys}, {"ys", l.ys}, {"out", l.out}, {"kept", c.kept}, {"copy", l.bytes},
	} {
		fmt.Fprintf(&b, "  static constexpr u32 %s = %du;\n", m.name, m.n)
	}
	fmt.Fprintf(&b, "#ifdef WEFT_CACHED\n  static constexpr u32 bytes = %du;\n#else\n  static constexpr u32 bytes = %du;\n#endif\n", l.cached, l.bytes)
	fmt.Fprintf(&b, "  static constexpr bool keeps_list = %v, global_rows = %v, shares = %v;\n};\n", c.keepsList, c.global, c.shares)
	fmt.Fprintf(&b, "WEFT_KERNEL(%s, LocalParams, LAUNCH_BOUNDS(%d, %d)) { %s<Class_%s>(p); }\n", kernel, c.threads, 1024/c.threads, search, kernel)
	return b.String()
}

// deepLevels is the number of walked levels from which a task's work varies as a power of its
// place. In a clique of 6 in a neighbourhood of 120 vertices that are nearly all joined, there
// is a hundred times as much work below a late pair as below an early one.
const deepLevels = 5

// deep is c for such plans. A lane's task is one pair, so that the lanes of a warp have similar
// work, and teams without a root help. Teams of one warp are left alone: they have roots with
// little work below, for which a task for every pair costs more than it evens out.
func (c class) deep() class {
	if c.lanes == 1 && c.team > 32 {
		c.grain, c.shares = 1, true
	}
	return c
}

// chooseClasses are the classes for roots with up to `most` neighbours on a device
// with so much shared memory a block. universes, if not empty, names those that
// may be used by their universes; table bounds the tables of wedges, 0: not.
func chooseClasses(all []class, most, shared, table int, universes []int, bytes func(*class) int) ([]class, error) {
	var out []class
	for _, c := range slices.Backward(all) {
		if table > 0 && c.wedges > 0 {
			c.wedges, c.room = min(c.wedges, table), min(c.room, table)
		}
		for bytes(&c)*(c.threads/c.team) > shared && c.wedges > 1024 {
			c.wedges /= 2
		}
		if len(universes) > 0 && c.universe < maxUniverse && !slices.Contains(universes, c.universe) || bytes(&c)*(c.threads/c.team) > shared {
			continue
		}
		if c.wedges > 0 {
			c.limit = min(c.limit, c.wedges*8)
		}
		out = append(out, c)
		if c.universe >= most && c.limit == 0 && c.part == 0 {
			break
		}
	}
	if n := len(out); n > 0 && out[n-1].universe >= most && out[n-1].limit == 0 {
		slices.Reverse(out)
		return out, nil
	}
	return nil, fmt.Errorf("%w: some vertex may have %d", ErrUniverse, most)
}
