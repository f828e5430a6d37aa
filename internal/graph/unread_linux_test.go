package graph

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/vfs"
)

// resident is how many bytes of mapped files the process has in memory.
func resident(t *testing.T) (bytes int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "RssFile:")
	if _, err := fmt.Sscan(rest, &bytes); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return bytes << 10
}

// TestUnread: lists that were copied need not be in memory twice, and are in the file still. Other memory stays as it is.
func TestUnread(t *testing.T) {
	const n, degree = 100_000, 16
	pairs := make([][2]uint32, 0, n*degree/2)
	for v := range uint32(n) {
		for k := range uint32(degree / 2) {
			pairs = append(pairs, [2]uint32{v, (v + k*k + 1) % n})
		}
	}
	g := FromEdges(n, pairs, false)
	defer g.Close()
	path := filepath.Join(t.TempDir(), "g.weft")
	if err := g.WriteFile(vfs.OS{}, path); err != nil {
		t.Fatal(err)
	}
	file, err := Open(t.Context(), path, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sum := func(g *Graph) (s uint64) {
		for _, v := range g.Out.Adj {
			s += uint64(v)
		}
		return s
	}
	raw := func(s []uint32) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), 4*len(s)) }
	want, lists := sum(file), int64(4*len(file.Out.Adj))
	before := resident(t)
	file.Unread(raw(file.Out.Adj))
	if freed := before - resident(t); freed < lists*9/10 {
		t.Errorf("%d bytes of lists, and %d less in memory", lists, freed)
	}
	if got := sum(file); got != want {
		t.Errorf("sum %d, want %d", got, want)
	}
	own := slices.Clone(file.Out.Adj)
	file.Unread(raw(own))
	g.Unread(raw(g.Out.Adj))
	if sum(g) != want || !slices.Equal(own, file.Out.Adj) {
		t.Error("other memory has changed")
	}
}
