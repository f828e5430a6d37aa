package census

import (
	"fmt"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
)

// pass is a kernel that goes over the vertices as roots.
type pass struct {
	kernel string
	body   string // the function of device code
	blocks int    // of a multiprocessor, for which registers are enough
	whole  bool   // each of several devices takes all roots
	loose  bool   // it needs no workspace
}

// passes are the passes of a census of k vertices, in their order.
func passes(k int) []pass {
	degrees := pass{kernel: fmt.Sprintf("census_degrees_%d", k), body: fmt.Sprintf("census_degrees<%d>", k), blocks: 4, loose: true}
	if k == 3 {
		return []pass{degrees, {kernel: "census_only_triangles", body: "census_only_triangles<CensusTeam>", blocks: 4}}
	}
	of := func(what string, blocks int) pass {
		return pass{kernel: fmt.Sprintf("census_%s_%d", what, k), body: fmt.Sprintf("census_%s<CensusTeam, %d>", what, k), blocks: blocks}
	}
	all := []pass{
		{kernel: "census_triangles", body: "census_triangles<CensusTeam>", blocks: 4, whole: true},
		degrees, of("cycles", 8-k), of("cliques", 8-k),
	}
	if k == 5 {
		all = append(all, pass{kernel: "census_pairs", body: "census_pairs<CensusTeam>", blocks: 4})
	}
	return all
}

// The threads of a team, on a GPU and on an emulated device, where a barrier takes as long as its threads are many.
const (
	teamThreads     = 256
	emulatedThreads = 64
)

// job is a census for the session, without what a run does.
func job(k, threads int, program *kir.Program) *session.Job {
	j := &session.Job{
		Name: "census", Program: program, Chunk: 1, Place: session.Device, Parts: map[string]string{},
		Source: cuda.Source{Name: "census.cu", Text: fmt.Sprintf("#define CENSUS_TEAM %d\n#include \"census/kernels.cuh\"\n", threads)},
	}
	for size := 3; size <= 5; size++ {
		for _, p := range passes(size) {
			j.Parts[p.kernel] = fmt.Sprintf("CENSUS_KERNEL(%s, %d, %s)\n", p.kernel, p.blocks, p.body)
		}
	}
	for _, p := range passes(k) {
		j.Needs = append(j.Needs, p.kernel)
	}
	return j
}
