package serve

import (
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/vfs"
)

// Source says where a graph comes from.
type Source struct {
	Name    string
	Path    string
	Options []weft.Option // of reading the file
}

// Catalog has graphs by name. Safe for concurrent use.
//
// A graph is in use while a query has a Lease of it. Reload and Drop take the graph away from later queries at once, and the last query that
// uses it closes it.
type Catalog struct {
	rt     *weft.Runtime
	files  vfs.FS
	log    *slog.Logger
	folder string

	mu      sync.Mutex
	sources map[string]Source // that were named when the server started
	graphs  map[string]*entry
	loading map[string]bool
	version uint64
}

// entry is an open graph. Its counters are guarded by the catalog's lock.
type entry struct {
	Source
	graph   *weft.Graph
	version uint64
	loaded  time.Time
	file    fileState
	uses    int
	gone    bool // close it when uses is 0
	told    bool // that its file was replaced
}

// fileState tells files that were replaced from those that were not.
type fileState struct {
	size int64
	time time.Time
	info fs.FileInfo
}

// CatalogOptions say how a catalog works.
type CatalogOptions struct {
	Runtime *weft.Runtime
	Files   vfs.FS       // nil means those of the system
	Log     *slog.Logger // nil drops messages
	Folder  string       // a folder of graphs that may be added by their names; "" means none
}

// NewCatalog returns a catalog without graphs.
func NewCatalog(o CatalogOptions) *Catalog {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Catalog{rt: o.Runtime, files: vfs.Or(o.Files), log: o.Log, folder: o.Folder, sources: map[string]Source{}, graphs: map[string]*entry{}, loading: map[string]bool{}}
}

// CheckName returns an error unless a graph may have this name: it has no separator of paths.
func CheckName(s string) error {
	ok := s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= 100
	for i, c := range s {
		ok = ok && (unicode.IsLetter(c) || unicode.IsNumber(c) || c == '_' || i > 0 && strings.ContainsRune(".+ -", c))
	}
	if !ok {
		return errorf(BadRequest, "%q is not a name of a graph: want letters, digits, and _ . + - after the first", s)
	}
	return nil
}

// NameOf is the name of a graph without one: that of its file, without the folder and the extensions.
func NameOf(path string) string {
	base := filepath.Base(path)
	if i := strings.IndexByte(base, '.'); i > 0 {
		base = base[:i]
	}
	return base
}

// Open adds a graph and remembers its source, so that Add and Reload find it by name.
func (c *Catalog) Open(ctx context.Context, s Source) error {
	if err := CheckName(s.Name); err != nil {
		return err
	}
	c.mu.Lock()
	_, taken := c.sources[s.Name]
	if !taken {
		c.sources[s.Name] = s
	}
	c.mu.Unlock()
	if taken {
		return errorf(BadRequest, "two graphs have the name %s: give one of them another, as NAME=FILE", s.Name)
	}
	return c.load(ctx, s)
}

// Add opens a graph by its name: one that was dropped, or one of the folder. A graph that is open is an error.
func (c *Catalog) Add(ctx context.Context, name string) error {
	if c.open(name) {
		return errorf(Conflict, "the graph %s is open already: reload it to read its file again", name)
	}
	s, err := c.source(name)
	if err != nil {
		return err
	}
	return c.load(ctx, s)
}

// Reload reads a graph's file again. Queries that use the graph finish in the old one. If the file cannot be read, the old graph stays.
func (c *Catalog) Reload(ctx context.Context, name string) error {
	if !c.open(name) {
		return unknownGraph(name)
	}
	s, err := c.source(name)
	if err != nil {
		return err
	}
	return c.load(ctx, s)
}

// Drop takes a graph away. Queries that use it finish.
func (c *Catalog) Drop(name string) error {
	c.mu.Lock()
	e := c.graphs[name]
	delete(c.graphs, name)
	c.mu.Unlock()
	if e == nil {
		return unknownGraph(name)
	}
	c.retire(e)
	c.log.Info("graph dropped", "graph", name)
	return nil
}

// Close drops all graphs.
func (c *Catalog) Close() {
	c.mu.Lock()
	all := c.graphs
	c.graphs = map[string]*entry{}
	c.mu.Unlock()
	for _, e := range all {
		c.retire(e)
	}
}

func unknownGraph(name string) *Error { return errorf(UnknownGraph, "there is no graph %q", name) }

func (c *Catalog) open(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.graphs[name] != nil
}

// source finds where a graph of this name comes from.
func (c *Catalog) source(name string) (Source, error) {
	if err := CheckName(name); err != nil {
		return Source{}, err
	}
	c.mu.Lock()
	s, ok := c.sources[name]
	c.mu.Unlock()
	if ok {
		return s, nil
	}
	for _, file := range c.inFolder() {
		if NameOf(file) == name {
			return Source{Name: name, Path: filepath.Join(c.folder, file)}, nil
		}
	}
	return Source{}, unknownGraph(name)
}

// inFolder are the names of the folder's files.
func (c *Catalog) inFolder() (files []string) {
	if c.folder == "" {
		return nil
	}
	found, err := c.files.ReadDir(c.folder)
	if err != nil {
		c.log.Warn("the folder of graphs cannot be read", "error", err)
		return nil
	}
	for _, f := range found {
		if !f.IsDir() && CheckName(NameOf(f.Name())) == nil {
			files = append(files, f.Name())
		}
	}
	return files
}

// Available are the names of graphs that Add would find, in their order.
func (c *Catalog) Available() []string {
	var out []string
	for _, f := range c.inFolder() {
		out = append(out, NameOf(f))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.sources {
		out = append(out, name)
	}
	out = slices.DeleteFunc(out, func(s string) bool { return c.graphs[s] != nil })
	slices.Sort(out)
	return slices.Compact(out)
}

// load reads a graph and puts it in the place of the one that has its name.
func (c *Catalog) load(ctx context.Context, s Source) error {
	c.mu.Lock()
	busy := c.loading[s.Name]
	c.loading[s.Name] = true
	c.mu.Unlock()
	if busy {
		return errorf(Conflict, "the graph %s is being loaded by another request", s.Name)
	}
	defer func() {
		c.mu.Lock()
		delete(c.loading, s.Name)
		c.mu.Unlock()
	}()
	state := c.state(s.Path)
	g, err := c.rt.Open(vfs.With(ctx, c.files), s.Path, s.Options...)
	if err != nil {
		return err
	}
	e := &entry{Source: s, graph: g, loaded: time.Now(), file: state}
	c.mu.Lock()
	c.version++
	e.version = c.version
	old := c.graphs[s.Name]
	c.graphs[s.Name] = e
	c.mu.Unlock()
	if old != nil {
		c.retire(old)
	}
	c.log.Info("graph loaded", "graph", s.Name, "vertices", g.NumVertices(), "edges", g.NumEdges(), "seconds", g.LoadTime().Seconds())
	return nil
}

// retire closes a graph when nobody uses it.
func (c *Catalog) retire(e *entry) {
	c.mu.Lock()
	e.gone = true
	free := e.uses == 0
	c.mu.Unlock()
	if free {
		_ = e.graph.Close()
	}
}

// Lease is the use of a graph. The graph stays open until Release.
type Lease struct {
	Name    string
	Graph   *weft.Graph
	Version uint64 // another number for each load of any graph

	c    *Catalog
	e    *entry
	once sync.Once
}

// Acquire returns the use of the graph that has the name now.
func (c *Catalog) Acquire(name string) (*Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.graphs[name]
	if e == nil {
		return nil, unknownGraph(name)
	}
	e.uses++
	return &Lease{Name: name, Graph: e.graph, Version: e.version, c: c, e: e}, nil
}

// Release ends the use. The graph is closed if it was dropped and nobody else uses it. Releasing twice does nothing.
func (l *Lease) Release() {
	l.once.Do(func() {
		l.c.mu.Lock()
		l.e.uses--
		free := l.e.gone && l.e.uses == 0
		l.c.mu.Unlock()
		if free {
			_ = l.Graph.Close()
		}
	})
}

// GraphStatus describes an open graph.
type GraphStatus struct {
	Name         string    `json:"name"`
	Vertices     int       `json:"vertices"`
	Edges        uint64    `json:"edges"`
	Directed     bool      `json:"directed"`
	VertexLabels int       `json:"vertex_labels"`
	EdgeLabels   int       `json:"edge_labels"`
	Version      uint64    `json:"version"`
	Loaded       time.Time `json:"loaded"`
	LoadSeconds  float64   `json:"load_seconds"`
	Queries      int       `json:"queries"` // that use it now
	// Replaced says that the file is not the one that was read. Reload reads it.
	Replaced bool `json:"replaced"`
}

// List describes the open graphs, in the order of their names.
func (c *Catalog) List() []GraphStatus {
	c.mu.Lock()
	entries := make([]*entry, 0, len(c.graphs))
	for _, e := range c.graphs {
		entries = append(entries, e)
	}
	uses := map[*entry]int{}
	for _, e := range entries {
		uses[e] = e.uses
	}
	c.mu.Unlock()
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.Name, b.Name) })
	out := []GraphStatus{}
	for _, e := range entries {
		s := e.graph.Summary()
		out = append(out, GraphStatus{
			Name: e.Name, Vertices: s.Vertices, Edges: s.Edges, Directed: s.Directed, VertexLabels: s.VertexLabels, EdgeLabels: s.EdgeLabels,
			Version: e.version, Loaded: e.loaded, LoadSeconds: e.graph.LoadTime().Seconds(), Queries: uses[e], Replaced: c.replaced(e),
		})
	}
	return out
}

// Graph describes one open graph.
func (c *Catalog) Graph(name string) (GraphStatus, error) {
	for _, s := range c.List() {
		if s.Name == name {
			return s, nil
		}
	}
	return GraphStatus{}, unknownGraph(name)
}

// state is what a file looks like now; the zero value if it cannot be seen.
func (c *Catalog) state(path string) fileState {
	info, err := c.files.Stat(path)
	if err != nil {
		return fileState{}
	}
	return fileState{info.Size(), info.ModTime(), info}
}

// replaced reports whether the file of a graph is another one now, and logs the first time that it is.
func (c *Catalog) replaced(e *entry) bool {
	now := c.state(e.Path)
	if now.info != nil && e.file.info != nil && now.size == e.file.size && now.time.Equal(e.file.time) && os.SameFile(now.info, e.file.info) {
		return false
	}
	if now.info == nil && e.file.info == nil {
		return false
	}
	c.mu.Lock()
	first := !e.told
	e.told = true
	c.mu.Unlock()
	if first {
		c.log.Warn("the file of a graph was replaced: queries read the old one until the graph is reloaded", "graph", e.Name)
	}
	return true
}

// Attend looks at the files of the open graphs every interval until ctx ends, and logs those that were replaced.
func (c *Catalog) Attend(ctx context.Context, interval time.Duration) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			c.List()
		}
	}
}

// Names are the names of the open graphs.
func (c *Catalog) Names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.graphs))
}
