package bench

import (
	"errors"
	"math"
	"testing"
	"time"
)

// TestSum: times are those of finished questions, ratios those of questions that the first
// contestant finished too, and a question has one winner at the most.
func TestSum(t *testing.T) {
	row := func(name string, ms int, answer string) Row {
		whole := time.Duration(ms) * time.Millisecond
		return Row{Name: name, Runs: 1, Whole: whole, Median: whole / 2, Answer: answer, Agrees: answer == "7", Bytes: 10}
	}
	late := func(name string) Row { return Row{Name: name, Err: errors.New("late")} }
	got := Sum([][]Row{
		{row("a", 4, "7"), row("b", 1, "7"), late("c")},
		{row("a", 2, "7"), row("b", 8, "8"), late("c")},
		{late("a"), row("b", 100, "7"), row("c", 100, "7")},
		{late("a"), late("b"), late("c")},
	})
	want := []Total{
		{Name: "a", Questions: 4, Finished: 2, Whole: 6 * time.Millisecond, Search: 3 * time.Millisecond, Wins: 1, Ratio: 1, MeanRatio: 1, Bytes: 20},
		{Name: "b", Questions: 4, Finished: 3, Differ: 1, Whole: 109 * time.Millisecond, Search: 109 * time.Millisecond / 2, Wins: 2, Ratio: 1.5, MeanRatio: 1, Bytes: 30},
		{Name: "c", Questions: 4, Finished: 1, Whole: 100 * time.Millisecond, Search: 50 * time.Millisecond, Bytes: 10},
	}
	means := []float64{math.Sqrt(8), math.Cbrt(800), 100}
	for i := range want {
		g, mean := got[i], float64(got[i].Mean)/1e6
		if math.Abs(mean-means[i]) > 1e-4 || math.Abs(g.MeanRatio-want[i].MeanRatio) > 1e-9 {
			t.Errorf("%s: means %v %v, want %v %v", g.Name, mean, g.MeanRatio, means[i], want[i].MeanRatio)
		}
		g.Mean, g.MeanRatio = 0, want[i].MeanRatio
		if g != want[i] {
			t.Errorf("%+v, want %+v", g, want[i])
		}
	}
	if Sum(nil) != nil {
		t.Error("a sum of nothing")
	}
}
