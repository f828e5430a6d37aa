package search

import (
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
)

// kept has the queries that a graph has counted last, ready to run: a query that is counted again
// is neither planned nor lowered nor compiled.
type kept struct {
	mu   sync.Mutex
	last []keptJob // the most recently counted first
}

// keptJob is a job that nobody runs.
type keptJob struct {
	q    *gql.Query
	with string // the settings that it was prepared under
	job  *Job
}

// keptJobs is the number of queries that a graph keeps. A plan may have a bitmap of the
// graph's vertices for each of its vertices.
const keptJobs = 4

// take removes and returns the job of a query under the same settings, so that no two callers
// run it. It returns nil if there is none, or if its GPUs are gone.
func (k *kept) take(a Asked) *Job {
	if a.Settings.Memory > 0 {
		return nil
	}
	with := a.Settings.Preparing()
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, x := range k.last {
		if x.q != a.Query || x.with != with {
			continue
		}
		k.last = append(k.last[:i:i], k.last[i+1:]...)
		if x.job.choice.Stale() {
			return nil
		}
		j := *x.job
		j.Settings, j.start, j.spent, j.Took, j.early, j.open = a.Settings, time.Now(), 0, 0, 0, 0
		return &j
	}
	return nil
}

// put keeps a job that has run. Under a budget of memory nothing is kept.
func (k *kept) put(j *Job) {
	if j.Settings.Memory > 0 {
		return
	}
	x := *j
	x.Settings, x.goal = nil, engine.Goal{} // the caller's values are not kept
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = append([]keptJob{{j.Query, j.Settings.Preparing(), &x}}, k.last...)
	k.last = k.last[:min(len(k.last), keptJobs)]
}

// drop forgets all jobs.
func (k *kept) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = nil
}
