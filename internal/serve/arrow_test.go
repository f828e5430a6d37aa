package serve

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weftgraph/weft/internal/sink"
)

// TestArrowIncomplete: a stream of Arrow says at its end that rows are missing, of matches, programs, participations and orbits, and only then.
func TestArrowIncomplete(t *testing.T) {
	const emits = "def row(i):\n    emit(mk_tuple(val=[i, i]))\n    return 1\nreturn sum(apply(row, None, range(45)))\n"
	for _, test := range []struct {
		kind        Kind
		query       string
		limit, rows int64
		limits      Limits
		incomplete  bool
	}{
		{Match, "MATCH (a)--(b)--(c)--(a)", 0, 45, Limits{}, false}, {Match, "MATCH (a)--(b)--(c)--(a)", 3, 3, Limits{}, true},
		{Match, "MATCH (a)--(b)--(c)--(a)", 0, 7, Limits{Rows: 7}, true}, {Match, "MATCH (a)--(b) WHERE id(a) = 999", 0, 0, Limits{}, false},
		{Participation, "MATCH (a)--(b)--(c)--(a) RETURN participation(a)", 0, 34, Limits{}, false}, {Participation, "MATCH (a)--(b)--(c)--(a) RETURN participation(a)", 0, 7, Limits{Rows: 7}, true},
		{Participation, "MATCH (a)--(b)--(c)--(a) RETURN participation(a) LIMIT 5", 0, 5, Limits{}, false}, {Participation, "MATCH (a)--(b) RETURN participation(a) GROUP BY a.none", 0, 1, Limits{}, false},
		{Orbits, "", 0, 34, Limits{}, false}, {Orbits, "", 0, 7, Limits{Rows: 7}, true},
		{Matcha, emits, 0, 45, Limits{}, false}, {Matcha, emits, 3, 3, Limits{}, true},
	} {
		q := Request{Kind: test.kind, Graph: "karate", Query: test.query, Choices: Choices{Limit: test.limit}}
		if test.kind == Matcha {
			q = matcha(test.query, nil)
			q.Limit = test.limit
		}
		if test.kind == Orbits {
			q.K = 4
		}
		r := begin(t, programs(t, test.limits, "interp"), Anyone(), q)
		var out bytes.Buffer
		write := r.Write
		switch test.kind {
		case Matcha:
			write = r.WriteProgram
		case Orbits:
			write = r.WriteOrbits
		case Participation:
			write = r.WriteParticipation
		}
		if err := write(&out, "arrow"); err != nil {
			t.Fatal(err)
		}
		in, err := ipc.NewReader(&out)
		if err != nil {
			t.Fatal(err)
		}
		rows, last := int64(0), ""
		for in.Next() {
			last = ""
			if b, ok := in.RecordBatch().(arrow.RecordBatchWithMetadata); ok {
				m := b.Metadata()
				if i := m.FindKey(sink.IncompleteKey); i >= 0 {
					last = m.Values()[i]
				}
			}
			rows += in.RecordBatch().NumRows()
		}
		if in.Err() != nil || rows != test.rows || (last == "false") != test.incomplete || r.Summary().Complete == test.incomplete {
			t.Errorf("%s limit %d: %d rows, %q, %+v, %v", test.query, test.limit, rows, last, r.Summary(), in.Err())
		}
	}
}
