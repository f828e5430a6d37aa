package census

import (
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
)

// pass goes over the vertices as roots. One kernel has small teams, and takes the roots around which there is little. The other has
// large teams, and takes the rest. A pass of degrees has one kernel, which needs no teams.
type pass struct {
	name   string
	body   string // the function of device code; %s is the kind of team
	teams  bool
	counts bool // COUNTS of census.cuh
	rows   bool // it makes matrices
	whole  bool // each of several devices takes all roots
}

// passes are the passes of a census of k vertices, in their order.
func passes(k int) []pass {
	degrees := pass{name: fmt.Sprintf("degrees_%d", k), body: fmt.Sprintf("census_degrees<%d>", k)}
	if k == 3 {
		return []pass{degrees, {name: "only_triangles", body: "census_only_triangles<%s>", teams: true}}
	}
	all := []pass{
		{name: "triangles", body: "census_triangles<%s>", teams: true, whole: true},
		degrees,
		{name: fmt.Sprintf("cycles_%d", k), body: fmt.Sprintf("census_cycles<%%s, %d>", k), teams: true, counts: true},
		{name: fmt.Sprintf("cliques_%d", k), body: fmt.Sprintf("census_cliques<%%s, %d>", k), teams: true, rows: true},
	}
	if k == 5 {
		all = append(all, pass{name: "pairs", body: "census_pairs<%s>", teams: true, counts: true, rows: true})
	}
	return all
}

// size is a kind of team.
type size struct {
	kind      string
	suffix    string // of kernels' names
	threads   int    // of a block
	small     bool
	perBlock  int // teams
	registers int // for so many blocks of a multiprocessor
	near      int // words of rows in shared memory
}

// sizes are the kinds of teams. On an emulated device a barrier takes as long as a block has threads.
func sizes(emulated bool) [2]size {
	small := size{kind: "SmallTeam", small: true, suffix: "_small", threads: 128, registers: 5, near: 640} // a matrix of 96 neighbours, with tails
	large := size{kind: "LargeTeam", suffix: "_large", threads: 256, registers: 3, near: 4096}
	if emulated {
		small.threads, large.threads = 64, 64
	}
	small.perBlock, large.perBlock = small.threads/32, 1
	return [2]size{small, large}
}

// The sizes of struct CensusHead and of tables: CENSUS_SLOTS, CENSUS_LIMIT.
const (
	headBytes  = 80
	tableSlots = 512
	tableLimit = 320
)

// shared is the bytes of shared memory of a block, with so many words of rows near each team.
func (s *size) shared(p *pass, near int) int {
	words := near
	if s.small {
		words += 2*(tableSlots+1) + tableLimit
		if p.counts {
			words += tableSlots + 1 + tableLimit
		}
	}
	return s.perBlock * (headBytes + 4*words)
}

// kernel is the name of a pass's kernel for a kind of team.
func (p *pass) kernel(s *size) string {
	if !p.teams {
		return "census_" + p.name
	}
	return "census_" + p.name + s.suffix
}

// text is that of the kernel.
func (p *pass) text(s *size) string {
	return fmt.Sprintf("CENSUS_KERNEL(%s, %d, %d, %s)\n", p.kernel(s), s.threads, s.registers, strings.ReplaceAll(p.body, "%s", s.kind))
}

// job is a census for the session, without what a run does.
func job(k int, emulated bool, program *kir.Program) *session.Job {
	all := sizes(emulated)
	j := &session.Job{
		Name: "census", Program: program, Chunk: 1, Place: session.Device, Parts: map[string]string{},
		Source: cuda.Source{Name: "census.cu", Text: fmt.Sprintf("#define CENSUS_LARGE %d\n#include \"census/kernels.cuh\"\n", all[1].threads)},
	}
	for size := 3; size <= 5; size++ {
		for _, p := range passes(size) {
			for i := range all {
				name := p.kernel(&all[i])
				if j.Parts[name] == "" {
					j.Parts[name] = p.text(&all[i])
				}
				if size == k {
					j.Needs = append(j.Needs, name)
				}
			}
		}
	}
	return j
}
