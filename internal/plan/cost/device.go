package cost

import (
	"time"

	"github.com/weftgraph/weft/internal/plan"
)

// Times of engine join on a GPU, from searches on one NVIDIA H200 (docs/notes/2026-11-23-gpu-joins.md).
const (
	// phaseTime is the least time of a phase: the median of 42 queries of few rows on an H100 is 0.040 ms, and 0.020 ms were
	// measured on an H200.
	phaseTime = 30e-6
	// rowTime is the time of a row, in seconds. 196 million rows took 155 to 162 ms in GSI's order, and read few
	// elements besides.
	rowTime = 0.7e-9
	// elementTime is the time of a set element that is read besides, in seconds. After semijoins the same query had
	// 0.2 million rows and 18 million elements. Its five phases took 0.57 ms.
	elementTime = 1.6e-11
	// mergedTime is the time of a row that is merged, in seconds: it is written with its weight, read twice, and looked up in a hash
	// table and in the row that is found there. An estimate, by the memory that this reads and writes.
	mergedTime = 1.5e-9
)

// semijoinTime is the time of semijoins, and of the order that they lead to, for each list entry that
// Binding.SemijoinReads expects, in seconds. It was measured on the 16 cores of the same machine: planning took 1.4 ms
// more than with GSI's order in WN18RR, where the median is 74,000 entries, and 0.23 ms more in FB15k-237, where it
// is 11,500.
const semijoinTime = 19e-9

// OnGPU returns how long engine join is expected to take for a plan on a GPU, by the estimates of the plan's levels. Data is
// the part of it that depends on the numbers of rows and elements.
func OnGPU(pl *plan.Plan) (whole, data time.Duration) {
	visit := float64(VisitCost)
	if pl.Reduction != nil {
		visit = RowCost
	}
	phases := max(len(pl.Levels)-pl.Tail.K, 1)
	rows := pl.Rows()
	if merged := pl.MergedRows(); merged > 0 {
		data = seconds(merged * (rowTime + mergedTime))
		return data + seconds(float64(2*phases)*phaseTime), data // a merge behind each phase
	}
	data = seconds(rows*rowTime + max(pl.Work()-visit*rows, 0)*elementTime)
	return data + seconds(float64(phases)*phaseTime), data
}

// Elements returns how long engine join takes at most on a GPU for an expected number of set elements, as VisitCost
// counts them: as if all were visits of rows.
func Elements(n float64) time.Duration { return seconds(n / VisitCost * rowTime) }

// Semijoins returns how long semijoins that read that many list entries are expected to take.
func Semijoins(reads float64) time.Duration { return seconds(reads * semijoinTime) }

// seconds is a duration of at most 30 years.
func seconds(s float64) time.Duration { return time.Duration(min(s, 1e9) * 1e9) }
