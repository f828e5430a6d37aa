package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/host"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/vfs"
)

// parse makes queries of a text.
func parse(t testing.TB, text string) (out []*Query) {
	t.Helper()
	if text == "" {
		return []*Query{}
	}
	qs, err := gql.ParseFile("q.weft", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range qs {
		x, err := NewQuery(q, q.Pattern, false)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// turn is a change of the queries after an update.
type turn struct {
	after   uint64
	queries string
}

// history is what a service with --present writes whose queries change at turns, the first of which are those of the beginning.
func history(t testing.TB, text string, turns []turn) string {
	t.Helper()
	var b bytes.Buffer
	g := dynamic.New(false, false)
	s := NewSet(g, host.New(g, host.Options{Workers: 1}), 0)
	out := newLines(&b, false)
	seq, file := uint64(0), open(t, text)
	for i := range turns {
		to := parse(t, turns[i].queries)
		wanted := Identities(to)
		for _, q := range slices.Clone(s.queries) {
			if q != nil && !slices.Contains(wanted, q.identity()) {
				if err := s.Drop(q.Name); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, q := range to {
			if slices.Contains(Identities(s.queries), q.identity()) {
				continue
			}
			if err := s.Add(q, false); err != nil {
				t.Fatal(err)
			}
			if q.Emit == gql.EmitRemoved {
				continue
			}
			if err := s.Present(t.Context(), len(s.queries)-1, seq, out.change); err != nil {
				t.Fatal(err)
			}
		}
		for i == len(turns)-1 || seq < turns[i+1].after {
			u := make([]stream.Update, 1)
			if err := file.Next(&u[0]); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Apply(t.Context(), seq, u, out.change); err != nil {
				t.Fatal(err)
			}
			seq++
		}
	}
	if err := out.flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// failing is a board that takes some messages, and then no more: what it has, it keeps, as when the process is killed.
type failing struct {
	*board
	left int
}

var errKilled = errors.New("killed")

func (b *failing) Publish(id string, data []byte) error {
	if b.left--; b.left < 0 {
		return errKilled
	}
	return b.board.Publish(id, data)
}

// resumed continues a service over a broker from a folder of state, as Follow does. The queries of begin are to be the standing ones, and later those
// that next returns, if it returns some. made gets the changes of the queries that were made, and not those of the run before that are made again.
func resumed(t *testing.T, text, dir string, b Publisher, batch int, begin string, next func() string, made func(turn)) error {
	t.Helper()
	var err error
	o := Options{Source: open(t, text), Sinks: []Sink{NewMessages(b, "board")}, Batch: batch, Snapshot: 30, Present: true, Every: 2 * time.Millisecond}
	if o.State, err = OpenState(vfs.OS{}, dir); err != nil {
		t.Fatal(err)
	}
	c := o.State.Checkpoint()
	first, to := c != nil, "" // begin is to be asked for; what was asked for
	o.Queries = func() []*Query {
		if to = next(); first {
			first, to = false, begin
		}
		if to == "" {
			return nil
		}
		return parse(t, to)
	}
	o.Note = func(s string) {
		var after uint64
		if i := strings.LastIndex(s, " after update "); to != "" && i >= 0 {
			_, _ = fmt.Sscan(s[i+len(" after update "):], &after)
			made(turn{after, to})
			to = ""
		}
	}
	standing := parse(t, begin)
	if c != nil {
		if standing, o.Wanted, err = c.Standing(standing); err != nil {
			t.Fatal(err)
		}
	}
	g, seq, _ := o.State.Graph()
	if g == nil {
		g = dynamic.New(false, false)
	}
	o.Set, o.From, o.Of.Queries = NewSet(g, host.New(g, host.Options{Workers: 1}), 0), seq, Identities(standing)
	for _, q := range standing {
		if err := o.Set.Add(q, false); err != nil {
			t.Fatal(err)
		}
	}
	_, err = Run(t.Context(), o)
	return err
}

// back makes the checkpoint before the latest one, if there is one.
func back(t *testing.T, dir string) {
	t.Helper()
	before := filepath.Join(dir, beforeName)
	if _, err := os.Stat(before); err == nil {
		if err := os.Rename(before, filepath.Join(dir, latestName)); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	triangles = "CREATE WATCH triangle AS MATCH (a)--(b)--(c)--(a)"
	wedges    = "CREATE WATCH wedge AS MATCH (a)--(b)-[e]-(c), NOT (a)--(c) RETURN b, e, a"
	squares   = "CREATE WATCH square AS MATCH (a)--(b)--(c)--(d)--(a)"
)

func none() string { return "" }

// TestChangedBehind: the broker has changes that come after the checkpoint, and the queries are others when the service continues. The new ones begin
// where the broker is, and no change of them is left out.
func TestChangedBehind(t *testing.T) {
	text := randomStream(7, 160)
	dir, b := filepath.Join(t.TempDir(), "state"), &board{}
	turns := []turn{{0, triangles}}
	made := func(x turn) { turns = append(turns, x) }
	first := func(n int) string { return strings.Join(strings.SplitAfter(text, "\n")[:n], "") }
	if err := resumed(t, first(40), dir, b, 8, triangles, none, made); err != nil {
		t.Fatal(err)
	}
	checkpoint, err := os.ReadFile(filepath.Join(dir, latestName))
	if err != nil {
		t.Fatal(err)
	}
	if err := resumed(t, first(120), dir, b, 8, triangles, none, made); err != nil {
		t.Fatal(err)
	}
	last := b.ids[len(b.ids)-1]
	if err := os.WriteFile(filepath.Join(dir, latestName), checkpoint, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := resumed(t, text, dir, b, 8, wedges, none, made); err != nil {
		t.Fatal(err)
	}
	var sent uint64
	if _, err := fmt.Sscanf(last[strings.IndexByte(last, '-'):], "-%d-", &sent); err != nil || len(turns) != 2 || turns[1].after < sent || sent <= 40 {
		t.Errorf("the queries change %v, and the broker had changes up to %s, %v", turns, last, err)
	}
	if got, want := b.text.String(), history(t, text, turns); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestChangedTwice: a service is killed while it writes the present matches of a new query, and the queries are others again when it continues. The
// broker has the matches of the query between once.
func TestChangedTwice(t *testing.T) {
	text := randomStream(3, 80)
	half := strings.Join(strings.SplitAfter(text, "\n")[:60], "")
	for kill := 0; ; kill++ {
		dir, b := filepath.Join(t.TempDir(), "state"), &board{}
		turns := []turn{{0, triangles}}
		made := func(x turn) { turns = append(turns, x) }
		if err := resumed(t, half, dir, b, 8, triangles, none, made); err != nil {
			t.Fatal(err)
		}
		err := resumed(t, half, dir, &failing{b, kill}, 8, wedges, none, made)
		if err == nil {
			if kill < 4 {
				t.Fatalf("%d matches", kill)
			}
			break
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(kill, err)
		}
		if kill%2 == 0 {
			back(t, dir) // the latest one is damaged
		}
		if err := resumed(t, text, dir, b, 8, squares, none, made); err != nil {
			t.Fatal(err)
		}
		if want := []turn{{0, triangles}, {60, wedges}, {60, squares}}; !slices.Equal(turns, want) {
			t.Fatalf("%v, want %v", turns, want)
		}
		if got, want := b.text.String(), history(t, text, turns); got != want {
			t.Fatalf("killed at %d: got\n%s\nwant\n%s", kill, got, want)
		}
	}
}

// TestChangedKilled: queries come and go at random, and the service is killed at random messages, with the latest checkpoint or the one before it.
func TestChangedKilled(t *testing.T) {
	seeds := uint64(12)
	if long.Asked() {
		seeds = 600
	}
	pool := []string{
		triangles, wedges, squares, squares + " EMIT REMOVED", triangles + " RETURN b, a", "CREATE WATCH edge AS MATCH (a)-[e]-(b) WHERE deg(a) > 2 RETURN a, e",
		"CREATE WATCH edge AS MATCH (a)--(b) WHERE EXISTS { (b)--(c), (c)--(a) }",
	}
	kills, changes := 0, 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 18))
		pick := func() string {
			var out, names []string
			for _, i := range r.Perm(len(pool))[:1+r.IntN(3)] {
				if name := strings.Fields(pool[i])[2]; !slices.Contains(names, name) {
					out, names = append(out, pool[i]), append(names, name)
				}
			}
			return strings.Join(out, ";\n")
		}
		text := randomStream(seed, 40+r.IntN(100))
		dir, b := filepath.Join(t.TempDir(), "state"), &board{}
		wanted := pick()
		turns := []turn{{0, wanted}}
		made := func(x turn) { turns = append(turns, x) }
		for run := 0; ; run++ {
			f := &failing{b, 1 << 30}
			if run < 12 {
				f.left = r.IntN(60)
			}
			err := resumed(t, text, dir, f, 1+r.IntN(12), wanted, func() string {
				if run < 12 && r.IntN(6) == 0 {
					return pick()
				}
				return ""
			}, made)
			if err == nil {
				break
			}
			if !errors.Is(err, errKilled) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			kills++
			if r.IntN(2) == 0 {
				back(t, dir)
			}
			if r.IntN(2) == 0 {
				wanted = pick()
			} else {
				wanted = turns[len(turns)-1].queries
			}
		}
		changes += len(turns) - 1
		if got, want := b.text.String(), history(t, text, turns); got != want {
			t.Fatalf("seed %d: %v: got\n%s\nwant\n%s", seed, turns, got, want)
		}
	}
	t.Logf("%d streams, %d kills, %d changes of the queries", seeds, kills, changes)
}

// TestChangedRefused: if one of the new queries is refused, all stay as they were, also the one whose name it was to take.
func TestChangedRefused(t *testing.T) {
	text := randomStream(5, 60)
	dir, b := filepath.Join(t.TempDir(), "state"), &board{}
	many := "CREATE WATCH triangle AS MATCH (a)" // 9! embeddings, which are more than are listed
	for i := range 9 {
		many += fmt.Sprintf(", (a)--(v%d)", i)
	}
	many += " RETURN v0"
	asked := 0
	if err := resumed(t, text, dir, b, 8, triangles, func() string {
		if asked++; asked == 3 {
			return many + ";\n" + squares
		}
		return ""
	}, func(x turn) { t.Errorf("changed: %v", x) }); err != nil {
		t.Fatal(err)
	}
	if got, want := b.text.String(), history(t, text, []turn{{0, triangles}}); got != want || asked < 4 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestChangedAgain: a service whose queries are given again, with named edges that come late in the pattern, does not change them.
func TestChangedAgain(t *testing.T) {
	text := randomStream(5, 60)
	dir, b := filepath.Join(t.TempDir(), "state"), &board{}
	var turns []turn
	asked := 0
	if err := resumed(t, text, dir, b, 8, triangles, func() string {
		asked++
		return triangles + ";\n" + wedges
	}, func(x turn) { turns = append(turns, x) }); err != nil {
		t.Fatal(err)
	}
	if len(turns) != 1 || asked < 4 {
		t.Errorf("asked %d times, and changed %v", asked, turns)
	}
}

// topic is a board that knows only the messages after the position from which it is asked, as topics of Kafka are read.
type topic struct{ *board }

func (b topic) Begin(_ context.Context, _ string, position int64) (string, error) {
	if position == 0 || int(position-1) == len(b.ids) {
		return "", nil
	}
	return b.ids[len(b.ids)-1], nil
}

func (b topic) Length() int64 { return int64(len(b.ids)) + 1 }

// TestTwiceBehind: a service ends again while it makes updates whose changes the broker has from before. Its checkpoint is then of the updates that it has
// made, and so is the position in the topic: the next service finds the changes that the broker has, and repeats none.
func TestTwiceBehind(t *testing.T) {
	text := randomStream(7, 160)
	first := func(n int) string { return strings.Join(strings.SplitAfter(text, "\n")[:n], "") }
	dir, b := filepath.Join(t.TempDir(), "state"), topic{&board{}}
	turns := []turn{{0, triangles}}
	run := func(text string) {
		t.Helper()
		if err := resumed(t, text, dir, b, 8, triangles, none, func(x turn) { turns = append(turns, x) }); err != nil {
			t.Fatal(err)
		}
	}
	run(first(40))
	checkpoint, err := os.ReadFile(filepath.Join(dir, latestName))
	if err != nil {
		t.Fatal(err)
	}
	run(first(120))
	if err := os.WriteFile(filepath.Join(dir, latestName), checkpoint, 0o600); err != nil { // it was killed before the next one
		t.Fatal(err)
	}
	sent := len(b.ids)
	run(first(60))
	if len(b.ids) != sent {
		t.Errorf("%d changes came again while the first updates were made again", len(b.ids)-sent)
	}
	run(text)
	if got, want := b.text.String(), history(t, text, turns); got != want || len(turns) != 1 {
		t.Errorf("%d changes, want %d; turns %v", strings.Count(got, "\n"), strings.Count(want, "\n"), turns)
	}
}
