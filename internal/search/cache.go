package search

import (
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
)

// cache has the queries that a graph has counted last, ready to run: a query that is counted again
// is neither planned nor lowered nor compiled.
type cache struct {
	mu   sync.Mutex
	last []cachedJob // the most recently counted first
}

// cachedJob is a job that nobody runs.
type cachedJob struct {
	q    *gql.Query
	with string // the settings that it was prepared under
	job  *Job
}

// mostJobs is the number of queries that a graph keeps. A plan may have a bitmap of the
// graph's vertices for each of its vertices.
const mostJobs = 4

// take removes and returns the job of a query under the same settings, so that no two callers
// run it. It returns nil if there is none, or if its GPUs are gone.
func (c *cache) take(a Question) *Job {
	if a.Settings.Memory > 0 {
		return nil
	}
	with := a.Settings.Preparing()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, x := range c.last {
		if x.q != a.Query || x.with != with {
			continue
		}
		c.last = append(c.last[:i:i], c.last[i+1:]...)
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
func (c *cache) put(j *Job) {
	if j.Settings.Memory > 0 {
		return
	}
	x := *j
	x.Settings, x.goal = nil, engine.Goal{} // the caller's values are not kept
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = append([]cachedJob{{j.Query, j.Settings.Preparing(), &x}}, c.last...)
	c.last = c.last[:min(len(c.last), mostJobs)]
}

// drop forgets all jobs.
func (c *cache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = nil
}
