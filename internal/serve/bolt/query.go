package bolt

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// transaction is what BEGIN has said.
type transaction struct {
	graph string
	time  time.Duration
	quiet bool
	begun time.Time
}

// extra reads the map of RUN and BEGIN.
func (c *conn) extra(x any) (graph string, limit time.Duration, quiet bool, err error) {
	m, ok := x.(map[string]any)
	if !ok {
		return "", 0, false, &Error{Code: CodeInvalid, Message: "RUN or BEGIN has no map"}
	}
	if who := text(m, "imp_user"); who != "" && who != c.user.Name() {
		return "", 0, false, &Error{Code: CodeForbidden, Message: "no user may act as another"}
	}
	if t, ok := m["tx_timeout"].(int64); ok {
		if t < 0 || t > int64(1<<62)/int64(time.Millisecond) {
			return "", 0, false, &Error{Code: CodeArgument, Message: "the time limit of the transaction is not a number of milliseconds from 0"}
		}
		limit = time.Duration(t) * time.Millisecond
	}
	graph, err = c.graph(text(m, "db"))
	return graph, limit, wantsQuiet(m, c.quiet), err
}

// wantsQuiet reports whether a map of HELLO, RUN or BEGIN turns off notifications. One that does not speak of them leaves them as they were.
func wantsQuiet(m map[string]any, was bool) bool {
	if least := text(m, "notifications_minimum_severity"); least != "" {
		return least == "OFF"
	}
	return was
}

// graph is the graph of a database's name; "" is the home database.
func (c *conn) graph(db string) (string, error) {
	all := c.user.Graphs()
	switch {
	case db == "" && len(all) > 0:
		return all[0], nil
	case db == "":
		return "", &Error{Code: CodeNoDatabase, Message: "the server has no graph that the user may read"}
	case db == systemDB, slices.Contains(all, db):
		return db, nil
	}
	return "", &Error{Code: CodeNoDatabase, Message: fmt.Sprintf("there is no database %q, or the user may not read it", cut(db, 100))}
}

func (c *conn) begin(x any) error {
	graph, limit, quiet, err := c.extra(x)
	if err != nil {
		return c.fail(err)
	}
	c.tx, c.last = &transaction{graph, limit, quiet, time.Now()}, -1
	if c.minor >= 8 {
		return c.success(entry{"db", graph})
	}
	return c.success()
}

// run begins a query.
func (c *conn) run(f []any) error {
	start := time.Now()
	query, ok := f[0].(string)
	params, is := f[1].(map[string]any)
	if !ok || !is {
		return c.broken("RUN has no text and no map of parameters")
	}
	var graph string
	var limit time.Duration
	var quiet bool
	if tx := c.tx; tx != nil {
		graph, quiet = tx.graph, tx.quiet
		if tx.time > 0 {
			limit = max(tx.time-time.Since(tx.begun), time.Nanosecond)
		}
		if len(c.results) >= mostResults {
			return c.fail(&Error{Code: CodeArgument, Message: fmt.Sprintf("the transaction has %d open results, and no more are taken", mostResults)})
		}
	} else {
		var err error
		if graph, limit, quiet, err = c.extra(f[2]); err != nil {
			return c.fail(err)
		}
	}
	if err := checkParams(params); err != nil {
		return c.fail(err)
	}
	ctx, stop := context.WithCancel(c.context())
	r, err := c.query(ctx, Query{graph, query, params, limit})
	if err != nil {
		stop()
		if c.interrupted() {
			return c.ignored()
		}
		return c.fail(err)
	}
	c.last++
	if c.tx == nil {
		c.last = 0
	}
	o := &open{Result: r, graph: graph, first: time.Now(), quiet: quiet, stop: stop, asked: time.Now()}
	c.results[c.last] = o
	meta := []entry{{"fields", r.Columns()}, {"t_first", o.first.Sub(start).Milliseconds()}}
	if c.tx != nil {
		meta = append(meta, entry{"qid", c.last})
	}
	if c.minor >= 8 {
		meta = append(meta, entry{"db", graph})
	}
	return c.success(meta...)
}

// mostResults is the number of results that may be open in a transaction.
const mostResults = 64

// query begins a query of the backend, or one of the procedures.
func (c *conn) query(ctx context.Context, q Query) (Result, error) {
	if r, ok, err := c.s.procedure(ctx, c.user, q); ok || err != nil {
		return r, err
	}
	if q.Graph == systemDB {
		return nil, &Error{Code: CodeNoDatabase, Message: "the database system has no graph: it answers SHOW and CALL"}
	}
	return c.user.Run(ctx, q)
}
