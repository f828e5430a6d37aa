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
	counts bool   // COUNTS of census.cuh
	rows   bool   // it makes matrices
	whole  bool   // each of several devices takes all roots
	blocks [2]int // of small and of large teams, for which a multiprocessor has registers
}

// passes are the passes of a census of k vertices, in their order.
func passes(k int) []pass {
	degrees := pass{name: fmt.Sprintf("degrees_%d", k), body: fmt.Sprintf("census_degrees<%d>", k), blocks: [2]int{4, 4}}
	all := []pass{
		{name: "triangles", body: "census_triangles<%s>", teams: true, whole: true, blocks: [2]int{10, 6}},
		degrees,
		{name: fmt.Sprintf("cycles_%d", k), body: fmt.Sprintf("census_cycles<%%s, %d>", k), teams: true, counts: true, blocks: [2]int{10 - k, 8 - k}},
		{name: fmt.Sprintf("cliques_%d", k), body: fmt.Sprintf("census_cliques<%%s, %d>", k), teams: true, rows: true, blocks: [2]int{11 - k, 8 - k}},
	}
	if k == 5 {
		all = append(all, pass{name: "pairs", body: "census_pairs<%s>", teams: true, counts: true, rows: true, blocks: [2]int{5, 4}})
	}
	return all
}

// size is a kind of team.
type size struct {
	kind     string
	suffix   string // of kernels' names
	threads  int    // of a block
	perBlock int    // teams
	table    bool   // a team knows vertices by a table in shared memory
	near     int    // words of rows there
}

// sizes are the kinds of teams. On an emulated device a barrier takes as long as a block has threads.
func sizes(emulated bool) [2]size {
	small := size{kind: "SmallTeam", suffix: "_small", threads: 128, table: true, near: 640} // a matrix of 96 neighbours, with tails
	large := size{kind: "LargeTeam", suffix: "_large", threads: 256, near: 4096}
	if emulated {
		small.threads, large.threads = 64, 64
	}
	small.perBlock, large.perBlock = small.threads/32, 1
	return [2]size{small, large}
}

// The bytes of struct CensusHead, and the slots and vertices of a table.
const (
	headBytes  = 80
	tableSlots = 512
	tableLimit = 320
)

// shared returns the bytes of shared memory of a block. Each team has `near` words of rows there.
func (s *size) shared(p *pass, near int) int {
	words := near
	if s.table {
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
	blocks := p.blocks[0]
	if !s.table {
		blocks = p.blocks[1]
	}
	return fmt.Sprintf("CENSUS_KERNEL(%s, %d, %d, %s)\n", p.kernel(s), s.threads, blocks, strings.ReplaceAll(p.body, "%s", s.kind))
}

// defines is the text before the kernels.
const defines = `#define CENSUS_HEAD %du
#define CENSUS_SLOTS %du
#define CENSUS_LIMIT %du
#define CENSUS_LARGE %d
#include "census/kernels.cuh"
`

// job is a census for the session, without what a run does.
func job(k int, emulated bool, program *kir.Program) *session.Job {
	all := sizes(emulated)
	j := &session.Job{
		Name: "census", Program: program, Chunk: 1, Place: session.Device, Parts: map[string]string{},
		Source: cuda.Source{Name: "census.cu", Text: fmt.Sprintf(defines, headBytes, tableSlots, tableLimit, all[1].threads)},
	}
	for size := 4; size <= 5; size++ {
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
