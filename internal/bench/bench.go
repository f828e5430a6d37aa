// Package bench measures contestants that answer the same question, for `weft bench`. The
// contestants take turns, so that their ratios come from one run. Each is summed up by its
// median and its spread.
//
// It knows times and counts. It must not know graphs or engines.
package bench

import (
	"context"
	"slices"
	"time"
)

// Contestant answers one question each time that Run is called.
type Contestant struct {
	Name string
	Run  func(ctx context.Context) (Sample, error)
}

// Sample is one run: the measured time, other times, and the answer.
type Sample struct {
	Took, Plan, Prepare time.Duration
	Answer              string
	Bytes               uint64 // of all intermediate results; 0: none, or not known
	Peak                uint64 // the most of them at a time
	Phases              string // that the search had, in words; "": not known
}

// Whole returns the sum of all three times.
func (s Sample) Whole() time.Duration { return s.Took + s.Plan + s.Prepare }

// Row has the measurements of one contestant.
type Row struct {
	Name                string
	Answer              string
	Err                 error
	Runs                int
	Median, Least, Most time.Duration
	Plan, Prepare       time.Duration // medians
	Whole               time.Duration // median of the sum of all three times
	Bytes, Peak         uint64        // the most of a run
	Phases              string        // of the last run
	// Ratio is Median divided by that of the first contestant; 0 if either failed.
	Ratio float64
	// Agrees says that the answer equals that of the first contestant that has one. A
	// contestant that failed may have no answer, or a part of it.
	Agrees bool
}

// Measure lets the contestants take turns: warmup rounds that do not count and
// then runs that do. One that fails drops out.
func Measure(ctx context.Context, all []Contestant, warmup, runs int) []Row {
	rows := make([]Row, len(all))
	samples := make([][]Sample, len(all))
	for round := range warmup + runs {
		for i, c := range all {
			r := &rows[i]
			r.Name = c.Name
			if r.Err != nil {
				continue
			}
			s, err := c.Run(ctx)
			if r.Answer == "" {
				r.Answer = s.Answer
			}
			if r.Err = err; err == nil && round >= warmup {
				samples[i] = append(samples[i], s)
			}
		}
	}
	first := max(0, slices.IndexFunc(rows, func(r Row) bool { return r.Err == nil && r.Answer != "" }))
	for i := range rows {
		rows[i].sum(samples[i])
		rows[i].Agrees = rows[i].Answer == rows[first].Answer
		if rows[0].Median > 0 {
			rows[i].Ratio = float64(rows[i].Median) / float64(rows[0].Median)
		}
	}
	return rows
}

func (r *Row) sum(samples []Sample) {
	if len(samples) == 0 {
		return
	}
	r.Runs = len(samples)
	r.Median, r.Least, r.Most = spread(samples, func(s Sample) time.Duration { return s.Took })
	r.Plan, _, _ = spread(samples, func(s Sample) time.Duration { return s.Plan })
	r.Prepare, _, _ = spread(samples, func(s Sample) time.Duration { return s.Prepare })
	r.Whole, _, _ = spread(samples, Sample.Whole)
	for _, s := range samples {
		r.Bytes, r.Peak, r.Phases = max(r.Bytes, s.Bytes), max(r.Peak, s.Peak), s.Phases
	}
}

func spread(samples []Sample, get func(Sample) time.Duration) (median, least, most time.Duration) {
	times := make([]time.Duration, len(samples))
	for i, s := range samples {
		times[i] = get(s)
	}
	slices.Sort(times)
	n := len(times)
	return (times[(n-1)/2] + times[n/2]) / 2, times[0], times[n-1]
}
