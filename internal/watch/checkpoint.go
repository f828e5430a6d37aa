package watch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/vfs"
)

// Checkpoint is how far a service came: all before it is done, and nothing after it.
type Checkpoint struct {
	// Of is what the service does. A checkpoint of another service is refused.
	Of Identity `json:"of"`
	// Texts are the queries of Of, in their order, if queries may come and go. Wanted are those that are to be the standing ones next, after Present
	// ones of the new ones at this update. nil means that no change was under way.
	Texts  []Text `json:"texts,omitempty"`
	Wanted []Text `json:"wanted"`
	// Run names the run: sinks tell its changes from those of others by it.
	Run string `json:"run"`
	Mark
	// Lengths are how much the sinks have.
	Lengths []int64 `json:"lengths"`
	// Counts are those of the queries, and Initial the numbers of their matches at the beginning, if they were asked for.
	Counts   []Counts         `json:"counts"`
	Initial  []engine.Uint128 `json:"initial,omitempty"`
	Outcomes stream.Outcomes  `json:"outcomes"`
	// Graph is the file of the graph after the last update of GraphAt. It is "" if there is none: updates are made from the first one on.
	Graph   string `json:"graph,omitempty"`
	GraphAt *Mark  `json:"graph_at,omitempty"`
	// Present says that the present matches of the beginning are in the output.
	Present bool `json:"present"`
	// At is the place of the last change. nil means that there was none.
	At *At `json:"at,omitempty"`
	// Seconds is the time that updates took so far.
	Seconds float64 `json:"seconds"`
}

// Mark is a place in a source, and what a service knows of all updates before it.
type Mark struct {
	// Seq is the number of the last update, Lines and Offset the position of the source after it, and Digest that of all updates so far.
	Seq    uint64 `json:"seq"`
	Lines  int64  `json:"lines"`
	Offset int64  `json:"offset"`
	Digest digest `json:"digest"`
	// Reader is the state of the source's reader.
	Reader stream.State `json:"reader"`
	// Now is the time of the window. nil means that there is none.
	Now *int64 `json:"now,omitempty"`
	// Mistakes are those of the source's text, and Refused those of updates that could not be made.
	Mistakes [stream.Kinds]uint64 `json:"mistakes"`
	Refused  [stream.Kinds]uint64 `json:"refused"`
}

// Identity is what must not change between a checkpoint and the service that continues.
type Identity struct {
	Graph   string   `json:"graph"`
	Queries []string `json:"queries"` // names, and behind ": " all that they mean
	Source  string   `json:"source"`
	Sinks   []string `json:"sinks"` // with their formats
	Options string   `json:"options"`
}

// differs names the first part in which two services differ, or returns "".
func (x *Identity) differs(y *Identity) string {
	switch {
	case x.Graph != y.Graph:
		return "the graph " + x.Graph
	case x.Source != y.Source:
		return "the source " + x.Source
	case !slices.Equal(x.Sinks, y.Sinks):
		return "the output " + strings.Join(x.Sinks, ", ")
	case x.Options != y.Options:
		return "the options " + changed(x.Options, y.Options)
	case len(x.Queries) != len(y.Queries):
		if len(x.Queries) == 1 {
			return "one query"
		}
		return strconv.Itoa(len(x.Queries)) + " queries"
	}
	for i, q := range x.Queries {
		if q != y.Queries[i] {
			name, _, _ := strings.Cut(q, ": ")
			return "the query " + name
		}
	}
	return ""
}

// changed returns those of the options x, with commas between them, that are others in y. An option is a name, a blank and a value, which may be empty.
func changed(x, y string) string {
	xs, ys := strings.Split(x, ", "), strings.Split(y, ", ")
	if len(xs) != len(ys) {
		return x
	}
	var out []string
	for i, option := range xs {
		switch name, unset := strings.CutSuffix(option, " "); {
		case option == ys[i]:
		case unset:
			out = append(out, "no "+name)
		default:
			out = append(out, option)
		}
	}
	return strings.Join(out, ", ")
}

// The files of a folder of state. The second is the checkpoint before the first, in case that is damaged.
const (
	latestName = "checkpoint"
	beforeName = "checkpoint.before"
	magic      = "weft watch checkpoint 3\n"
)

// ErrCheckpoint is wrapped by the error of a checkpoint that cannot be used.
var ErrCheckpoint = errors.New("checkpoint")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode writes a checkpoint: a line of magic, a line of JSON, and a line with the checksum of both.
func (c *Checkpoint) encode() ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	b := append([]byte(magic), text...)
	b = append(b, '\n')
	return fmt.Appendf(b, "%08x\n", crc32.Checksum(b, castagnoli)), nil
}

func decodeCheckpoint(b []byte) (*Checkpoint, error) {
	const sum = 9 // its line
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	switch {
	case !ok:
		return nil, errors.New("this is not a checkpoint of weft watch, or of another version of it")
	case len(rest) < sum:
		return nil, errors.New("it is cut short")
	}
	body := b[:len(b)-sum]
	if want := fmt.Sprintf("%08x\n", crc32.Checksum(body, castagnoli)); string(b[len(b)-sum:]) != want {
		return nil, errors.New("its checksum is wrong")
	}
	c := &Checkpoint{}
	if err := json.Unmarshal(body[len(magic):], c); err != nil {
		return nil, err
	}
	return c, nil
}

// State is a folder with the checkpoints of a service, and files of its graph.
type State struct {
	files   vfs.FS
	dir     string
	latest  *Checkpoint // nil: there is none
	note    string
	damaged bool // the latest file: it must not take the place of the one before it
}

// lockName is the file of a folder of state that is locked while a service uses the folder.
const lockName = "lock"

// LockState keeps other services from a folder of state, which it makes if it does not exist, until unlock is called or the process ends. The
// error wraps ErrCheckpoint if another service uses it.
func LockState(files vfs.FS, dir string) (unlock func(), err error) {
	if st, err := files.Stat(dir); err == nil && !st.IsDir() {
		return nil, fmt.Errorf("%s is a file; name a folder for the state", dir)
	}
	if err := files.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	unlock, err = disk.Lock(files, filepath.Join(dir, lockName))
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("%w in %s: %w", ErrCheckpoint, filepath.Clean(dir), disk.ErrLocked)
	}
	return unlock, err
}

// OpenState opens the state in a folder, which it makes if it does not exist. If there are checkpoints and none of them is whole, the error
// wraps ErrCheckpoint.
func OpenState(files vfs.FS, dir string) (*State, error) {
	if err := files.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	s := &State{files: files, dir: filepath.Clean(dir)}
	var damage error
	for _, name := range []string{latestName, beforeName} {
		path := filepath.Join(dir, name)
		b, err := vfs.ReadFile(s.files, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		c, err := decodeCheckpoint(b)
		if err == nil {
			if s.latest, s.damaged = c, damage != nil; s.damaged {
				s.note = fmt.Sprintf("%v; the checkpoint before it is used", damage)
			}
			return s, nil
		}
		if damage == nil {
			damage = fmt.Errorf("%s: %w", path, err)
		}
	}
	if damage != nil {
		return nil, fmt.Errorf("%w %w, and there is no other; remove the folder to begin anew", ErrCheckpoint, damage)
	}
	return s, nil
}

// Checkpoint returns the latest checkpoint that is whole, or nil if there was none.
func (s *State) Checkpoint() *Checkpoint { return s.latest }

// Graph returns the graph of the latest checkpoint, and the update after which it was. It returns nil if there is none. If its file cannot be
// used, note says why: all updates can be made anew instead.
func (s *State) Graph() (g *dynamic.Graph, seq uint64, note string) {
	if s.latest == nil || s.latest.Graph == "" {
		return nil, 0, ""
	}
	path := filepath.Join(s.dir, filepath.Base(s.latest.Graph))
	f, err := vfs.Open(s.files, path)
	if err == nil {
		g, err = dynamic.Read(bufio.NewReaderSize(f, 1<<18))
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		return nil, 0, fmt.Sprintf("%s: %v; all updates are made anew", path, pathless(err))
	}
	return g, s.latest.GraphAt.Seq, ""
}

// graphPrefix begins the names of files of the graph.
const graphPrefix = "graph-"

// saveGraph writes the graph after an update, for checkpoints to come, and returns the name of its file.
func (s *State) saveGraph(ctx context.Context, g *dynamic.Graph, seq uint64) (string, error) {
	name := graphPrefix + strconv.FormatUint(seq, 10)
	f, err := disk.Create(ctx, s.files, filepath.Join(s.dir, name))
	if err != nil {
		return "", err
	}
	if _, err := g.WriteTo(f); err != nil {
		f.Abort()
		return "", err
	}
	return name, f.Commit()
}

// Save makes c the latest checkpoint. At each moment the folder has a whole one. An error of the file system may leave the latest one as it
// was.
func (s *State) Save(ctx context.Context, c *Checkpoint) error {
	b, err := c.encode()
	if err != nil {
		return err
	}
	latest := filepath.Join(s.dir, latestName)
	f, err := disk.Create(ctx, s.files, latest)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		f.Abort()
		return err
	}
	if err := f.Settle(); err != nil {
		return err
	}
	if !s.damaged {
		if err := s.files.Rename(latest, filepath.Join(s.dir, beforeName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.Abort()
			return err
		}
	}
	if err := f.Commit(); err != nil {
		return err
	}
	s.damaged = false
	if s.latest != nil && s.latest.Graph != c.Graph {
		s.sweep(c.Graph, s.latest.Graph)
	}
	s.latest = c
	return nil
}

// sweep removes the files of graphs that no checkpoint names. One that cannot be removed stays, and does no harm.
func (s *State) sweep(keep ...string) {
	entries, err := s.files.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), graphPrefix) && !slices.Contains(keep, e.Name()) {
			_ = s.files.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}
