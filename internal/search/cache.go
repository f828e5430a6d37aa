package search

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
)

// cache has the queries that a graph has answered last, ready to run: a query that is asked again
// is neither planned nor lowered nor compiled.
type cache struct {
	most int // jobs
	mu   sync.Mutex
	last []cachedJob // the most recently run first
}

// cachedJob is a job that nobody runs.
type cachedJob struct {
	q       *gql.Query
	purpose purpose
	with    [sha256.Size]byte // the hash of the settings that it was prepared under
	job     *Job
}

// purpose is what a job was prepared for. Plans of one purpose do not suit another.
type purpose uint8

const (
	counting purpose = iota
	finding          // whether there is a match
	listingSubgraphs
	listingEmbeddings
)

// mostJobs is the number of queries that a graph of n vertices keeps. A plan may have a bitmap of the
// graph's vertices for each of its vertices, so that large graphs keep few.
func mostJobs(n int) int { return max(4, min(64, (64<<20)/(n/2+1))) }

// take removes and returns the job of a query for the same purpose under the same settings, so that no
// two callers run it. It returns nil if there is none, or if its GPUs are gone.
func (c *cache) take(a Question, to purpose) *Job {
	if a.Settings.Memory > 0 {
		return nil
	}
	with := sha256.Sum256([]byte(a.Settings.Preparing()))
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, x := range c.last {
		if x.q != a.Query || x.purpose != to || x.with != with {
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

// mostSettings is the number of bytes of settings, parameters above all, with which a job is kept. Its plan may have as many again.
const mostSettings = 64 << 10

// put keeps a job that has run. Under a budget of memory nothing is kept.
func (c *cache) put(j *Job, to purpose) {
	if j.Settings.Memory > 0 {
		return
	}
	with := j.Settings.Preparing()
	if len(with) > mostSettings {
		return
	}
	x := *j
	x.Settings, x.goal, x.notes = nil, engine.Goal{}, nil // the caller's values are not kept
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = append([]cachedJob{{j.Query, to, sha256.Sum256([]byte(with)), &x}}, c.last...)
	c.last = c.last[:min(len(c.last), c.most)]
}

// drop forgets all jobs.
func (c *cache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = nil
}
