package native

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestTeam: jobs of any numbers of workers follow each other, and the jobs' workers run at the
// same time. do returns when all have ended. Members look for work or, with too few processors
// for that, sleep at once.
func TestTeam(t *testing.T) {
	for _, processors := range []int{1, 16} {
		team(t, processors)
	}
}

func team(t *testing.T, processors int) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	var team Team
	for round := range 300 {
		n := []int{1, 4, 2, 7, 3}[round%5]
		if round%50 == 49 {
			time.Sleep(2 * patience) // the members sleep
		}
		var met, ran atomic.Int32
		seen := make([]int, n)
		team.do(n, func(i int) {
			seen[i]++
			met.Add(1)
			for met.Load() < int32(n) { // nobody goes on alone
				time.Sleep(time.Microsecond)
			}
			ran.Add(1)
		})
		if int(ran.Load()) != n {
			t.Fatalf("%d of %d have ended", ran.Load(), n)
		}
		for i, k := range seen {
			if k != 1 {
				t.Fatalf("worker %d of %d ran %d times", i, n, k)
			}
		}
	}
	team.Close()
	if team.members != nil {
		t.Error("there are members")
	}
}
