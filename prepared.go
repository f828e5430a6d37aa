package weft

import (
	"fmt"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/engine"
)

// prepared keeps the queries that a graph has counted last, ready to run: a query that
// is counted again is neither planned nor lowered nor compiled.
type prepared struct {
	mu   sync.Mutex
	last []keptJob // the most recently counted first
}

// keptJob is a job that nobody runs.
type keptJob struct {
	q    *Query
	with string // the settings that it was prepared under
	job  *job
}

// keptJobs is the number of queries that a graph keeps. A plan may have a bitmap of the
// graph's vertices for each of its vertices.
const keptJobs = 4

// take returns the job of q under the same settings and removes it, so that no two callers
// run it; nil where there is none, or where its GPUs are gone.
func (p *prepared) take(q *Query, s *settings) *job {
	if s.memory > 0 {
		return nil
	}
	with := s.preparing()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, k := range p.last {
		if k.q != q || k.with != with {
			continue
		}
		p.last = append(p.last[:i:i], p.last[i+1:]...)
		if k.job.choice.Stale() {
			return nil
		}
		j := *k.job
		j.s, j.start, j.spent, j.took, j.early, j.open = s, time.Now(), 0, 0, 0, 0
		return &j
	}
	return nil
}

// put keeps a job that has run. Under a budget of memory nothing is kept.
func (p *prepared) put(j *job) {
	if j.s.memory > 0 {
		return
	}
	kept := *j
	kept.s, kept.goal = nil, engine.Goal{} // what the caller has is not kept
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = append([]keptJob{{j.q, j.s.preparing(), &kept}}, p.last...)
	p.last = p.last[:min(len(p.last), keptJobs)]
}

// drop forgets all jobs.
func (p *prepared) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = nil
}

// preparing is a text that is the same for settings under which a query is prepared in the
// same way. What only a run needs is left out.
func (s *settings) preparing() string {
	k := *s
	k.limit, k.timeout, k.what, k.progress = 0, 0, 0, nil
	mode, induced := "", ""
	if k.mode != nil {
		mode = k.mode.String()
	}
	if k.induced != nil {
		induced = fmt.Sprint(*k.induced)
	}
	k.mode, k.induced = nil, nil
	return fmt.Sprintf("%s %s %#v", mode, induced, k)
}
