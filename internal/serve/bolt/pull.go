package bolt

import (
	"fmt"
	"time"
)

// pull sends rows, or drops them.
func (c *conn) pull(x any, discard bool) error {
	m, ok := x.(map[string]any)
	if !ok {
		return c.broken("PULL or DISCARD has no map")
	}
	n, ok := m["n"].(int64)
	if !ok || n < -1 || n == 0 {
		return c.broken("n of PULL or DISCARD is neither -1 nor a number above 0")
	}
	qid := int64(-1)
	if id, ok := m["qid"].(int64); ok {
		qid = id
	}
	if qid < 0 {
		qid = c.last
	}
	r := c.results[qid]
	if r == nil {
		return c.fail(&Error{Code: CodeInvalid, Message: fmt.Sprintf("there is no open result %d", qid)})
	}
	start := time.Now()
	if r.over {
		if r.err != nil {
			return c.fail(r.err)
		}
		delete(c.results, qid)
		return c.success(summary(r.summary, r, 0, c.minor)...)
	}
	ended := false
	if !discard || n > 0 {
		r.begun = true
		defer func() { r.asked = time.Now() }()
		columns := len(r.Columns())
		for i := int64(0); i != n; i++ {
			more, err := r.Next()
			if err != nil {
				if c.interrupted() {
					return c.ignored()
				}
				return c.fail(err)
			}
			if !more {
				ended = true
				break
			}
			r.rows++
			if discard {
				continue
			}
			if err := c.record(r, columns); err != nil {
				return err
			}
			if i&15 == 15 && c.context().Err() != nil { // rows that the search has already found
				if c.interrupted() {
					return c.ignored()
				}
				return c.fail(c.context().Err())
			}
		}
		if !ended {
			return c.success(entry{"has_more", true})
		}
	}
	var s Summary
	if ended {
		s = r.Summary()
	}
	r.close()
	delete(c.results, qid)
	return c.success(summary(s, r, time.Since(start), c.minor)...)
}

// record sends the current row. The columns of a row that panics are not sent.
func (c *conn) record(r *open, columns int) error {
	e := c.out.begin()
	whole := false
	defer func() {
		if !whole {
			c.out.abort()
		}
	}()
	e.Struct(msgRecord, 1)
	e.List(columns)
	r.Encode(e)
	whole = true
	return c.out.end()
}
