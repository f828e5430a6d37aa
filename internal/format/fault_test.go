//go:build unix

package format

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/testing/errorfs"
)

// readFaults are the ways in which a reader's files fail.
var readFaults = map[string]errorfs.Fault{
	"any":    {Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
	"remain": {Kinds: errorfs.Read | errorfs.ReadAt, Err: syscall.EIO, Way: errorfs.Half, Stays: true},
	"files":  {Kinds: errorfs.Open | errorfs.Create, Err: syscall.EMFILE, Stays: true},
	"short":  {Kinds: errorfs.Read, Way: errorfs.Short},
	"shorts": {Kinds: errorfs.Read, Way: errorfs.Short, Stays: true},
	"ends":   {Kinds: errorfs.Read | errorfs.ReadAt, Way: errorfs.Ends},
}

// whole is all that a graph was read as.
func whole(g *graph.Graph) string { return dump(g) + fmt.Sprintf("%+v", g.Read) }

// faultInputs are files of every format, by name, in a folder, which is returned.
func faultInputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const table = "src,dst,label,time,note\n1,2,knows,10,a\n2,3,likes,20,b\n3,1,knows,30,\n3,4,likes,40,d\n"
	put("table.csv", []byte(table))
	put("bad.csv", []byte(table+"5,six\n"))
	put("vertices.csv", []byte("id,label,age\n1,Person,20\n2,Person,\n3,Dog,3\n4,Dog,4\n"))
	put("labels.txt", []byte("1 Person\n2 Person\n3 Dog\n4 Dog\n"))
	put("plain.txt", []byte("# a graph\n0 1\n1 2\n2 0\n2 3\n"))
	put("graph.gml", []byte("graph [\n  directed 1\n  node [ id 1 label \"a\" ]\n  node [ id 2 label \"b\" ]\n  edge [ source 1 target 2 weight 2.5 ]\n]\n"))
	put("pairs.txt", []byte("1 2 {'weight': 3}\n2 3 {'weight': 4}\n"))
	var large bytes.Buffer
	for i := range 3000 {
		fmt.Fprintf(&large, "%d %d %200d\n", i, (i*7919+1)%3000, i)
	}
	put("large.txt", large.Bytes())
	put("long.csv", fmt.Appendf(nil, "src,dst,note\n1,2,%0*d\n2,3,b\n", 2*blockSize, 7))
	if large.Len() < 2*blockSize {
		t.Fatal("large.txt is one block")
	}
	read := func(name string, o ReadOptions) *graph.Graph {
		g, err := Read(t.Context(), filepath.Join(dir, name), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	rich := read("table.csv", ReadOptions{Vertices: filepath.Join(dir, "vertices.csv")})
	plain := read("plain.txt", ReadOptions{})
	for name, g := range map[string]*graph.Graph{
		"graph.el": plain, "graph.wel": plain, "graph.mtx": plain, "graph.tve": plain, "graph.gmatch": plain, "graph.sg": plain, "graph.wsg": plain,
		"graph.parquet": rich, "graph.arrow": rich, "graph.arrows": rich, "graph.graphml": rich, "graph.weft": rich,
		"table.csv.zst": rich, "graph.weft.gz": rich, "graph.arrow.gz": rich, "graph.parquet.gz": rich, "graph.graphml.gz": rich, "graph.sg.gz": plain,
	} {
		if err := Write(t.Context(), filepath.Join(dir, name), g, WriteOptions{AllowLoss: true}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"vertices.parquet", "vertices.arrow"} {
		if err := Write(t.Context(), filepath.Join(dir, "edges.csv"), rich, WriteOptions{AllowLoss: true, Vertices: filepath.Join(dir, name)}); err != nil {
			t.Fatal(err)
		}
	}
	put("large.txt.gz", gz(large.String()))
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	put("large.txt.zst", z.EncodeAll(large.Bytes(), nil))
	return dir
}

// TestReadFaults: whichever operation fails, Read returns the graph of the file, or an error that wraps the failure
// and names the file; it leaves nothing open and no file.
func TestReadFaults(t *testing.T) {
	dir := faultInputs(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("WEFT_CACHE", "off")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	type input struct {
		name string
		o    ReadOptions
	}
	var inputs []input
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "vertices.") && !strings.HasPrefix(e.Name(), "labels.") {
			inputs = append(inputs, input{e.Name(), ReadOptions{Threads: 1}})
		}
	}
	for _, side := range []string{"vertices.csv", "vertices.parquet", "vertices.arrow"} {
		inputs = append(inputs, input{"table.csv", ReadOptions{Threads: 1, Vertices: filepath.Join(dir, side)}})
	}
	inputs = append(inputs,
		input{"table.csv", ReadOptions{Threads: 1, Labels: filepath.Join(dir, "labels.txt")}},
		input{"large.txt", ReadOptions{Threads: 2}},
		input{"large.txt.gz", ReadOptions{Threads: 2}},
		input{"graph.arrow", ReadOptions{Threads: 2}},
	)
	for _, in := range inputs {
		path := filepath.Join(dir, in.name)
		side := in.o.Vertices + in.o.Labels
		var want string
		usual := func() error {
			g, err := Read(t.Context(), path, in.o, nil)
			if err == nil {
				want = whole(g)
				_ = g.Close()
			}
			return err
		}()
		if (usual != nil) != (in.name == "bad.csv") {
			t.Errorf("%s: %v", in.name, usual)
			continue
		}
		for what, fault := range readFaults {
			if testing.Short() && what != "any" && what != "ends" {
				continue
			}
			t.Run(fmt.Sprintf("%s %s threads %d: %s", in.name, filepath.Base(side), in.o.Threads, what), func(t *testing.T) {
				n := errorfs.Each(t, fault, []string{dir, temp}, func(fsys *errorfs.FS) {
					o := in.o
					o.Files = fsys
					g, err := Read(t.Context(), path, o, nil)
					op, fired := fsys.Fired()
					switch {
					case err == nil:
						if got := whole(g); got != want {
							t.Errorf("%v: a wrong graph:\n%.300s\nwant\n%.300s", op, got, want)
						}
						_ = g.Close()
					case !fired && usual == nil:
						t.Error(err)
					case usual != nil && err.Error() == usual.Error():
					case fired && fault.Way == errorfs.Short:
						t.Errorf("%v: short reads are not errors: %v", op, err)
					case fault.Way != errorfs.Ends && usual == nil && !errors.As(err, new(*errorfs.Error)):
						t.Errorf("%v: the error does not wrap its cause: %v", op, err)
					}
					if err != nil && !strings.Contains(err.Error(), path) && (side == "" || !strings.Contains(err.Error(), side)) && !strings.Contains(err.Error(), temp) {
						t.Errorf("%v: the error names no file: %v", op, err)
					}
					if left, _ := os.ReadDir(temp); len(left) > 0 {
						t.Fatalf("%v: %s is left", op, left[0].Name())
					}
				})
				if n == 0 && (what == "any" || what == "files") {
					t.Error("nothing failed")
				}
			})
		}
	}
}

// writeFaults are the ways in which a writer's files fail. After a Remove that fails a file may be left, and after a
// List, Stat or Open of a folder the writer may go on.
var writeFaults = map[string]errorfs.Fault{
	"any":    {Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
	"full":   {Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half, Stays: true},
	"files":  {Kinds: errorfs.Open | errorfs.Create, Err: syscall.EMFILE, Stays: true},
	"sync":   {Kinds: errorfs.Sync, Err: syscall.EDQUOT, Stays: true},
	"close":  {Kinds: errorfs.Close, Err: syscall.EDQUOT, Stays: true},
	"rename": {Kinds: errorfs.Rename, Err: syscall.EXDEV},
	"stays":  {Kinds: errorfs.Rename, Err: syscall.EXDEV, Stays: true},
	"links":  {Kinds: errorfs.Link, Err: syscall.EPERM, Stays: true},
}

// TestWriteFaults: whichever operation fails, the files are there whole, or an error wraps the failure and names one
// of them. After an error the files from before are as they were, and there is no other.
func TestWriteFaults(t *testing.T) {
	in := faultInputs(t)
	read := func(name, vertices string) *graph.Graph {
		g, err := Read(t.Context(), filepath.Join(in, name), ReadOptions{Vertices: vertices}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	rich, plain := read("table.csv", filepath.Join(in, "vertices.csv")), read("plain.txt", "")
	large := read("large.txt", "")
	for _, c := range []struct {
		name, vertices string
		g              *graph.Graph
	}{
		{"g.weft", "", rich}, {"g.csv", "v.csv", rich}, {"g.tsv.gz", "v.tsv.zst", rich}, {"g.csv", "v.parquet", rich}, {"g.el", "", plain},
		{"g.wel", "", plain}, {"g.mtx", "", plain}, {"g.tve", "", plain}, {"g.gmatch", "", plain}, {"g.sg", "", plain}, {"g.wsg", "", plain},
		{"g.parquet", "v.parquet", rich}, {"g.arrow", "v.arrow", rich}, {"g.arrows", "", rich}, {"g.graphml", "", rich}, {"g.graphml.gz", "", rich},
		{"g.weft.zst", "", rich}, {"g.weft", "", large}, {"g.csv", "", large}, {"g.parquet", "", large}, {"g.arrow", "", large}, {"g.graphml", "", large},
	} {
		for what, fault := range writeFaults {
			if what != "any" && what != "full" && (testing.Short() || c.g == large) {
				continue
			}
			t.Run(fmt.Sprintf("%s %s %d edges: %s", c.name, c.vertices, c.g.NumEdges(), what), func(t *testing.T) {
				dir := t.TempDir()
				state := func() string { // of the folder
					entries, err := os.ReadDir(dir)
					if err != nil {
						t.Fatal(err)
					}
					var out strings.Builder
					for _, e := range entries {
						data, err := os.ReadFile(filepath.Join(dir, e.Name()))
						if err != nil {
							t.Fatal(err)
						}
						fmt.Fprintf(&out, "%s %x\n", e.Name(), sha256.Sum256(data))
					}
					return out.String()
				}
				o := WriteOptions{AllowLoss: true}
				if c.vertices != "" {
					o.Vertices = filepath.Join(dir, c.vertices)
				}
				path := filepath.Join(dir, c.name)
				if err := Write(t.Context(), path, c.g, o); err != nil {
					t.Fatal(err)
				}
				want := state()
				names := []string{path}
				if c.vertices != "" {
					names = append(names, o.Vertices)
				}
				for _, old := range []bool{false, true} {
					if !old && what != "any" {
						continue
					}
					n := errorfs.Each(t, fault, []string{dir}, func(fsys *errorfs.FS) {
						for _, name := range names {
							_ = os.Remove(name)
							if old {
								if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
									t.Fatal(err)
								}
							}
						}
						before := state()
						o := o
						o.Files = fsys
						err := Write(t.Context(), path, c.g, o)
						op, fired := fsys.Fired()
						after := state()
						switch {
						case err == nil && op.MustFail():
							t.Errorf("%v: success", op)
						case err == nil && after != want:
							t.Errorf("%v: success with\n%swant\n%s", op, after, want)
						case err != nil && !fired:
							t.Error(err)
						case err != nil && !errors.As(err, new(*errorfs.Error)):
							t.Errorf("%v: the error does not wrap its cause: %v", op, err)
						case err != nil && !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(err.Error(), name+": ") }):
							t.Errorf("%v: the error does not begin with a file's name: %v", op, err)
						case err != nil && after != before && !(what == "stays" && strings.HasPrefix(err.Error(), o.Vertices) && strings.Contains(err.Error(), "; and "+path+" is new already: ")):
							// A second name that the file system refuses can be undone, unless it refuses that as well.
							t.Errorf("%v: after the error the folder holds\n%sbefore\n%s", op, after, before)
						}
					})
					if n == 0 && (what != "links" || old && c.vertices != "") {
						t.Error("nothing failed")
					}
				}
			})
		}
	}
}
