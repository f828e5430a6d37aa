// Package bench is the harness behind `weft bench`: contestants that answer the
// same question take turns, so that their ratios come from one run, and each is
// summed up by its median and spread.
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
	// Run returns the time that counts and the answer.
	Run func(ctx context.Context) (took time.Duration, answer string, err error)
}

// Row is what was measured of one contestant.
type Row struct {
	Name                string
	Answer              string
	Err                 error
	Runs                int
	Median, Least, Most time.Duration
	// Ratio is Median over that of the first contestant; 0 where either failed.
	Ratio float64
	// Agrees says that the answer is that of the first contestant.
	Agrees bool
}

// Measure lets the contestants take turns: warmup rounds that do not count and
// then runs that do. One that fails drops out.
func Measure(ctx context.Context, all []Contestant, warmup, runs int) []Row {
	rows := make([]Row, len(all))
	times := make([][]time.Duration, len(all))
	for round := range warmup + runs {
		for i, c := range all {
			r := &rows[i]
			r.Name = c.Name
			if r.Err != nil {
				continue
			}
			took, answer, err := c.Run(ctx)
			if r.Answer == "" {
				r.Answer = answer
			}
			if r.Err = err; err == nil && round >= warmup {
				times[i] = append(times[i], took)
			}
		}
	}
	for i := range rows {
		rows[i].sum(times[i])
		rows[i].Agrees = rows[i].Answer == rows[0].Answer
		if rows[0].Median > 0 {
			rows[i].Ratio = float64(rows[i].Median) / float64(rows[0].Median)
		}
	}
	return rows
}

func (r *Row) sum(times []time.Duration) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	n := len(times)
	r.Runs, r.Least, r.Most = n, times[0], times[n-1]
	r.Median = (times[(n-1)/2] + times[n/2]) / 2
}
