package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/process"
	"github.com/weftgraph/weft/internal/vfs"
)

// Peer is another program. A file of peers describes it:
//
//	[{"name": "gapbs tc", "patterns": ["triangle"],
//	  "command": ["tc", "-f", "{graph}", "-n", "1"],
//	  "seconds": "Average Time: +([0-9.]+)", "count": "([0-9]+) triangles"}]
//
// {graph}, {pattern} and {query} are replaced for each case. seconds and count are regular expressions
// over the program's output, with one group each. Without seconds the time of the whole command
// is taken.
type Peer struct {
	Name     string            `json:"name"`
	Command  []string          `json:"command"`
	Patterns []string          `json:"patterns"` // empty: any; for bench join names of sets
	Input    string            `json:"input"`    // for bench join: the form of its files, of package exchange
	Graphs   map[string]string `json:"graphs"`   // weft's file → the peer's; absent: the same
	Seconds  string            `json:"seconds"`
	Scale    float64           `json:"scale"` // of the number that seconds finds, 0.001 for ms; 0: 1
	Count    string            `json:"count"`

	seconds, count *regexp.Regexp
}

// ReadPeers reads a file of peers from files.
func ReadPeers(files vfs.FS, path string) ([]Peer, error) {
	data, err := vfs.ReadFile(files, path)
	if err != nil {
		return nil, err
	}
	var peers []Peer
	if err := json.Unmarshal(data, &peers); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range peers {
		p := &peers[i]
		if p.Name == "" || len(p.Command) == 0 {
			return nil, fmt.Errorf("%s: peer %d needs a name and a command", path, i+1)
		}
		if p.seconds, err = compile(p.Seconds); err == nil {
			p.count, err = compile(p.Count)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, p.Name, err)
		}
		if p.Scale == 0 {
			p.Scale = 1
		}
	}
	return peers, nil
}

// compile returns nil for the empty expression.
func compile(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err == nil && re.NumSubexp() != 1 {
		err = fmt.Errorf("%q needs one group", text)
	}
	return re, err
}

// Plays reports whether the peer answers the pattern.
func (p *Peer) Plays(pattern string) bool {
	if len(p.Patterns) == 0 {
		return true
	}
	for _, x := range p.Patterns {
		if x == pattern {
			return true
		}
	}
	return false
}

// Contestant is the peer on one case. query is the file of the pattern, "" if there is none.
func (p *Peer) Contestant(graph, pattern, query string) Contestant {
	if g, ok := p.Graphs[graph]; ok {
		graph = g
	}
	replace := strings.NewReplacer("{graph}", graph, "{pattern}", pattern, "{query}", query)
	var args []string
	for _, a := range p.Command {
		args = append(args, replace.Replace(a))
	}
	return Contestant{p.Name, func(ctx context.Context) (Sample, error) {
		start := time.Now()
		out, err := process.Command(ctx, args[0], args[1:]...).CombinedOutput()
		took := time.Since(start)
		if err != nil && ctx.Err() != nil {
			return Sample{}, context.Cause(ctx)
		}
		if err != nil {
			return Sample{}, fmt.Errorf("%s: %w", args[0], err)
		}
		if p.seconds != nil {
			m := p.seconds.FindSubmatch(out)
			if m == nil {
				return Sample{}, fmt.Errorf("%s printed nothing like %q", args[0], p.Seconds)
			}
			x, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				return Sample{}, err
			}
			took = time.Duration(x * p.Scale * 1e9)
		}
		answer := ""
		if p.count != nil {
			if m := p.count.FindSubmatch(out); m != nil {
				answer = string(m[1])
			}
		}
		return Sample{Took: took, Answer: answer}, nil
	}}
}
