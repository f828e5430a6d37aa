package graph

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/vfs"
)

// openBytes opens a copy of b that is aligned as a mapping is.
func openBytes(b []byte) (*Graph, error) {
	words := make([]uint64, len(b)/8+1)
	c := bigAsBytes(words)[:len(b)]
	copy(c, b)
	return open(context.Background(), &mapping{path: "test", data: c}, 0, true)
}

func fileBytes(t interface{ Fatal(...any) }, g *Graph) []byte {
	var b bytes.Buffer
	if err := g.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		g := m.build(t, 2, false)
		h, err := openBytes(fileBytes(t, g))
		if err != nil {
			t.Fatal(err)
		}
		m.check(t, h)
		if !slices.Equal(g.IDs.StrBytes, h.IDs.StrBytes) || !slices.Equal(g.In.Adj, h.In.Adj) {
			t.Fatal("arrays differ")
		}
		if d := cmp.Diff(g.Stats(), h.Stats()); d != "" {
			t.Fatal(d)
		}
		for v, at := range h.Above(func() []uint64 { t.Fatal("not found when it was verified"); return nil }) {
			below, _ := slices.BinarySearch(h.Out.List(uint32(v)), uint32(v))
			if at != h.Out.Off[v]+uint64(below) {
				t.Fatalf("list %d passes its vertex at %d, want %d after %d", v, at, below, h.Out.Off[v])
			}
		}
		if g.VertexProps != nil && !array.RecordEqual(g.VertexProps, h.VertexProps) {
			t.Fatal("properties differ")
		}
		h.Read.Notes = append(h.Read.Notes, "a remark")
		if a, b := checksum(t, g, 1), checksum(t, h, 3); a != b {
			t.Fatalf("checksums %x and %x", a, b)
		}
	})
}

func checksum(t interface{ Fatal(...any) }, g *Graph, threads int) uint64 {
	sum, err := g.Checksum(context.Background(), threads)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestChecksum: each part of the content counts.
func TestChecksum(t *testing.T) {
	seen := map[uint64]string{checksum(t, sample(t), 1): "the graph itself"}
	for what, change := range map[string]func(g *Graph){
		"a neighbour":      func(g *Graph) { g.Out.Adj[0]++ },
		"an id":            func(g *Graph) { g.IDs.Num[0]++ },
		"a vertex label":   func(g *Graph) { g.VertexLabels[0] += "x" },
		"a class":          func(g *Graph) { g.Classes[0].Labels = append([]uint32{0}, g.Classes[0].Labels...) },
		"an edge label":    func(g *Graph) { g.Edges.Label[1]++ },
		"its name":         func(g *Graph) { g.EdgeLabels[0] += "x" },
		"a time":           func(g *Graph) { g.Edges.Time[0]++ },
		"the unit of time": func(g *Graph) { g.Read.TimeUnit++ },
		"a property":       func(g *Graph) { g.Edges.Props = int64Record("p", []int64{1, 2, 3, 5}) },
		"its column":       func(g *Graph) { g.Edges.Props = int64Record("q", []int64{1, 2, 3, 4}) },
		"of a vertex":      func(g *Graph) { g.VertexProps = nil },
		"the direction":    func(g *Graph) { g.Directed = !g.Directed },
	} {
		g := sample(t)
		change(g)
		sum := checksum(t, g, 2)
		if other, ok := seen[sum]; ok {
			t.Errorf("%s has the checksum of %s", what, other)
		}
		seen[sum] = what
	}
}

func sample(t testing.TB) *Graph {
	b := NewBuilder(BuildOptions{})
	err := b.AddEdges(&EdgeChunk{
		Src: []uint64{1, 2, 3, 1}, Dst: []uint64{2, 3, 1, 4},
		Label: stringColumn([]string{"a", "b", "", "a"}), Time: []int64{5, 6, 7, 8},
		Props: int64Record("p", []int64{1, 2, 3, 4}),
	})
	if err != nil {
		t.Fatal(err)
	}
	err = b.AddVertices(&VertexChunk{ID: []uint64{1, 9}, Labels: [][]string{{"X", "Y"}, {"X"}}, Props: int64Record("w", []int64{1, 2})})
	if err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestFileFlips changes each byte of a small file: it must be reported, or be
// in the padding between sections.
func TestFileFlips(t *testing.T) {
	g := sample(t)
	b := fileBytes(t, g)
	used := make([]bool, len(b))
	h, err := openBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range headerBytes + entryBytes*len(h.file.secs) {
		used[i] = true
	}
	for _, s := range h.file.secs {
		for i := s.off; i < s.off+s.length; i++ {
			used[i] = true
		}
	}
	for i := range b {
		b[i] ^= 0x41
		_, err := openBytes(b)
		if used[i] != (err != nil) {
			t.Errorf("byte %d: %v", i, err)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotGraph) && !errors.Is(err, ErrVersion) {
			t.Errorf("byte %d: %v", i, err)
		}
		b[i] ^= 0x41
	}
	for i := range b {
		if _, err := openBytes(b[:i]); err == nil {
			t.Errorf("cut to %d bytes: no error", i)
		}
	}
	if _, err := openBytes(append(slices.Clone(b), 0)); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

// TestHostileFile has right checksums around wrong structures.
func TestHostileFile(t *testing.T) {
	for name, twist := range map[string]func(g *Graph){
		"neighbour out of range":   func(g *Graph) { g.Out.Adj[0] = 77 },
		"self-loop":                func(g *Graph) { g.Out.Adj[0] = 0 },
		"descending offsets":       func(g *Graph) { g.Out.Off[1], g.Out.Off[2] = g.Out.Off[2]+1, 0 },
		"asymmetric":               func(g *Graph) { g.Out.Adj[len(g.Out.Adj)-1]++ },
		"huge offset":              func(g *Graph) { g.Out.Off[1] = 1 << 60 },
		"first offset":             func(g *Graph) { g.Out.Off[0] = 1 },
		"last offset":              func(g *Graph) { g.Out.Off[len(g.Out.Off)-1]-- },
		"same id":                  func(g *Graph) { g.IDs.Num[0] = g.IDs.Num[1] },
		"negative id":              func(g *Graph) { g.IDs.Num[0] = -1 },
		"edge row":                 func(g *Graph) { g.Edges.Dst[0] = 99 },
		"edge source":              func(g *Graph) { g.Edges.Src[0]++ },
		"edge label":               func(g *Graph) { g.Edges.Label[1] = 17 },
		"edge offsets":             func(g *Graph) { g.Edges.Off[1] = 1 << 40 },
		"classes":                  func(g *Graph) { g.Classes[0].End++ },
		"class label":              func(g *Graph) { g.Classes[1].Labels = []uint32{9} },
		"columns of other lengths": func(g *Graph) { g.Edges.Time = g.Edges.Time[1:] },
		"property rows":            func(g *Graph) { g.VertexProps = g.VertexProps.NewSlice(0, 1) },
	} {
		g := sample(t)
		g.Stats()
		twist(g)
		_, err := openBytes(fileBytes(t, g))
		var c *CorruptError
		if !errors.As(err, &c) || c.Section == "" || !strings.Contains(err.Error(), "offset") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostileIDs has right checksums around wrong ids that are texts.
func TestHostileIDs(t *testing.T) {
	for name, twist := range map[string]func(g *Graph){
		"":                  func(g *Graph) {},
		"first offset":      func(g *Graph) { g.IDs.StrOff[0] = 1 },
		"last offset":       func(g *Graph) { g.IDs.StrOff[len(g.IDs.StrOff)-1]-- },
		"descending offset": func(g *Graph) { g.IDs.StrOff[1] = g.IDs.StrOff[2] + 1 },
		"same id":           func(g *Graph) { copy(g.IDs.StrBytes[:2], g.IDs.StrBytes[2:4]) },
	} {
		b := NewBuilder(BuildOptions{})
		if err := b.AddEdges(&EdgeChunk{SrcStr: stringColumn([]string{"aa", "bb"}), DstStr: stringColumn([]string{"bb", "cc"})}); err != nil {
			t.Fatal(err)
		}
		g, err := b.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		twist(g)
		if _, err := openBytes(fileBytes(t, g)); (err == nil) != (name == "") || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIsFile: a graph file is known by its whole mark.
func TestIsFile(t *testing.T) {
	for i := range len(fileMagic) {
		if IsFile([]byte(fileMagic)[:i:i]) {
			t.Errorf("%d bytes are enough", i)
		}
	}
	if !IsFile([]byte(fileMagic)) || !IsFile([]byte(fileMagic+"x")) || IsFile([]byte("x"+fileMagic)) {
		t.Error("a mark is not known")
	}
}

func TestWriteFile(t *testing.T) {
	g := sample(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "g.weft")
	if err := g.WriteFile(vfs.OS{}, name); err != nil {
		t.Fatal(err)
	}
	h, err := Open(t.Context(), name, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Verify(context.Background(), 2); err != nil {
		t.Fatal(err)
	}
	if h.NumEdges() != 4 || h.Edges.Props.NumRows() != 4 {
		t.Fatal(h.NumEdges())
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := g.WriteFile(vfs.OS{}, filepath.Join(dir, "no", "g.weft")); err == nil {
		t.Fatal("no error")
	}
	if err := g.Write(failing{}); err == nil {
		t.Fatal("no error")
	}
	if l, _ := os.ReadDir(dir); len(l) != 1 {
		t.Fatal(l)
	}
	text := filepath.Join(dir, "text")
	for _, s := range []string{"", "1 2\n", strings.Repeat("1 2\n", 99)} {
		if err := os.WriteFile(text, []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), text, OpenOptions{}); !errors.Is(err, ErrNotGraph) {
			t.Error(err)
		}
	}
	if _, err := Open(t.Context(), dir, OpenOptions{}); !errors.Is(err, ErrNotGraph) {
		t.Error(err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "absent"), OpenOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write(p []byte) (int, error) { return 0, errors.New("full") }

func FuzzOpen(f *testing.F) {
	f.Add(fileBytes(f, sample(f)))
	f.Add(fileBytes(f, FromEdges(3, [][2]uint32{{0, 1}}, true)))
	f.Add(fileBytes(f, FromEdges(0, nil, false)))
	f.Add([]byte(fileMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		// Right checksums let the fuzzer past them.
		if len(b) >= headerBytes && IsFile(b) {
			b = slices.Clone(b)
			repair(b)
		}
		g, err := openBytes(b)
		if err != nil {
			return
		}
		g.Any()
		g.Stats()
		// On one goroutine: what runs is the same each time, which the fuzzer
		// relies on where it looks for new behaviour.
		if _, _, _, err := g.Components(context.Background(), 1); err != nil {
			t.Fatal(err)
		}
		fileBytes(t, g)
	})
}
