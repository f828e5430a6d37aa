package bench

import (
	"math"
	"time"
)

// Total sums up the rows of one contestant over several questions.
type Total struct {
	Name                string
	Questions, Finished int           // Finished: those with an answer and no error
	Differ              int           // finished ones whose answer is not that of the first contestant
	Whole, Search       time.Duration // sums over the finished ones
	Mean                time.Duration // geometric mean of the whole times of the finished ones
	Wins                int           // questions that no other contestant finished in less time
	// Ratio is Whole divided by that of the first contestant, over the questions that both
	// finished, and MeanRatio is the geometric mean of the ratios of these. Both are 0 if there
	// are none.
	Ratio, MeanRatio float64
	Bytes            uint64 // sum of Row.Bytes over the finished ones
}

func (r *Row) finished() bool { return r.Err == nil && r.Runs > 0 }

// Sum returns a Total for each contestant. Each question has a row for each contestant, in the
// same order.
func Sum(questions [][]Row) []Total {
	if len(questions) == 0 {
		return nil
	}
	all := make([]Total, len(questions[0]))
	type sums struct{ logs, mine, first, ratios, both float64 }
	parts := make([]sums, len(all))
	for _, rows := range questions {
		best := -1
		for i := range rows {
			r, t, s := &rows[i], &all[i], &parts[i]
			t.Name = r.Name
			t.Questions++
			if !r.finished() {
				continue
			}
			if best < 0 || r.Whole < rows[best].Whole {
				best = i
			}
			t.Finished++
			t.Whole += r.Whole
			t.Search += r.Median
			t.Bytes += r.Bytes
			if r.Answer != "" && !r.Agrees {
				t.Differ++
			}
			s.logs += logarithm(r.Whole)
			if first := &rows[0]; first.finished() {
				s.mine += float64(r.Whole)
				s.first += float64(first.Whole)
				s.ratios += logarithm(r.Whole) - logarithm(first.Whole)
				s.both++
			}
		}
		if best >= 0 {
			all[best].Wins++
		}
	}
	for i := range all {
		t, s := &all[i], &parts[i]
		if t.Finished > 0 {
			t.Mean = time.Duration(math.Exp(s.logs / float64(t.Finished)))
		}
		if s.first > 0 {
			t.Ratio = s.mine / s.first
			t.MeanRatio = math.Exp(s.ratios / s.both)
		}
	}
	return all
}

// logarithm is that of a time, which is a nanosecond at the least.
func logarithm(d time.Duration) float64 { return math.Log(float64(max(d, 1))) }
