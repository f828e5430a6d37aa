package main

import (
	"math"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/bench"
	"github.com/weftgraph/weft/internal/sink"
)

// benchMatchaRow is a row of the output.
type benchMatchaRow struct {
	graph, counts, program string
	on                     onTarget
	in                     map[string]any // of the program
	bench.Row
	// frontEnd is of the last run; first and again are of the compiler.
	frontEnd, first, again time.Duration
	partsGain              float64 // 0: none
	use                    weft.MatchaUse
	lanes                  weft.MatchaUse // of a run that counted them, which may have failed
	lanesErr               error
}

func writeBenchMatcha(out *output, to string, rows []*benchMatchaRow, cuda bool) error {
	ms := func(get func(*benchMatchaRow) time.Duration) func(int) any {
		return func(i int) any {
			if rows[i].Runs == 0 {
				return nil
			}
			return float64(get(rows[i]).Microseconds()) / 1000
		}
	}
	// ofProgram is a column that engines do not have.
	ofProgram := func(get func(*benchMatchaRow) time.Duration) func(int) any {
		return func(i int) any {
			if rows[i].program == "" {
				return nil
			}
			return ms(get)(i)
		}
	}
	ratio := func(get func(*benchMatchaRow) float64) func(int) any {
		return func(i int) any {
			if get(rows[i]) == 0 {
				return nil
			}
			return float64(int64(get(rows[i])*1000+0.5)) / 1000
		}
	}
	columns := []sink.Column{
		column("graph", sink.String, func(i int) any { return rows[i].graph }),
		column("counts", sink.String, func(i int) any { return rows[i].counts }),
		column("who", sink.String, func(i int) any { return rows[i].Name }),
		column("median_ms", sink.Float, ms(func(r *benchMatchaRow) time.Duration { return r.Median })),
		column("least_ms", sink.Float, ms(func(r *benchMatchaRow) time.Duration { return r.Least })),
		column("most_ms", sink.Float, ms(func(r *benchMatchaRow) time.Duration { return r.Most })),
		column("frontend_ms", sink.Float, ofProgram(func(r *benchMatchaRow) time.Duration { return r.Plan })),
		column("prepare_ms", sink.Float, ms(func(r *benchMatchaRow) time.Duration { return r.Prepare })),
		column("compile_ms", sink.Float, ofProgram(func(r *benchMatchaRow) time.Duration { return r.first })),
		column("again_ms", sink.Float, ofProgram(func(r *benchMatchaRow) time.Duration { return r.again })),
		column("ratio", sink.Float, ratio(func(r *benchMatchaRow) float64 { return r.Ratio })),
		column("parts_gain", sink.Float, ratio(func(r *benchMatchaRow) float64 { return r.partsGain })),
	}
	if cuda {
		columns = append(columns, useColumns(rows)...)
	}
	return writeRows(out, to, len(rows), append(columns,
		column("count", sink.Count, func(i int) any { return countIn(rows[i].Answer) }),
		column("note", sink.String, func(i int) any {
			switch r := rows[i]; {
			case r.Err != nil:
				return r.Err.Error()
			case !r.Agrees:
				return "COUNT DIFFERS"
			case r.lanesErr != nil:
				return "lanes not counted: " + r.lanesErr.Error()
			}
			return ""
		}),
	))
}

// useColumns say how programs used a device.
func useColumns(rows []*benchMatchaRow) []sink.Column {
	part := func(get func(*benchMatchaRow) float64) func(int) any {
		return func(i int) any {
			if x := get(rows[i]); x > 0 {
				return math.Round(x*1000) / 1000
			}
			return nil
		}
	}
	return []sink.Column{
		column("warps_fit", sink.Float, part(func(r *benchMatchaRow) float64 { return r.use.WarpsFit })),
		column("thefts", sink.Int, func(i int) any {
			if rows[i].use.Blocks == 0 {
				return nil
			}
			return int64(rows[i].use.Thefts)
		}),
		column("occupancy", sink.Float, part(func(r *benchMatchaRow) float64 { return r.lanes.Occupancy })),
		column("utilisation", sink.Float, part(func(r *benchMatchaRow) float64 { return r.lanes.Utilisation })),
	}
}
