package kafka

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftgraph/weft/internal/stream"
)

// topicLog reads the records of a partition in their order, those of committed transactions alone. A record's number is its offset. It is not safe
// for concurrent use.
type topicLog struct {
	ctx     context.Context
	a       *address
	o       options
	lost    brokers
	r       *reader
	at      int64 // the offset of the next record, or an earlier one
	end     int64 // the offset before which the log ends; -1: it does not
	begun   bool  // at is known to the reader
	records []*kgo.Record
}

// Log returns the log of the topic of an address. All its calls end with ctx. note gets remarks about brokers that are lost and come back. The error
// is about a part of the address.
func Log(ctx context.Context, u *url.URL, note func(string)) (stream.Log, error) {
	a, err := parse(u, true)
	if err != nil {
		return nil, err
	}
	return newLog(ctx, a, options{note: note}), nil
}

func newLog(ctx context.Context, a *address, o options) *topicLog {
	return &topicLog{ctx: ctx, a: a, o: o, end: -1, lost: brokers{note: o.note}}
}

// Begin connects to the topic, and makes the next record the one at an offset or, if that is 0, the first one. Those before the offset read were
// read once. The error is about the brokers, the topic, or records that are gone, and names the address.
func (l *topicLog) Begin(offset, read int64) (err error) {
	if l.r, err = openReader(l.ctx, l.a, &l.o, &l.lost); err == nil {
		err = l.bounds(offset, read)
	}
	return l.named(err)
}

// named adds the address to an error of the topic.
func (l *topicLog) named(err error) error {
	if err == nil || l.ctx.Err() != nil {
		return err
	}
	return &logError{fmt.Errorf("%v: %w", l.a, err)}
}

// logError is an error of a log. It wraps stream.ErrLog.
type logError struct{ err error }

func (e *logError) Error() string   { return e.err.Error() }
func (e *logError) Unwrap() []error { return []error{e.err, stream.ErrLog} }

// bounds finds where the log begins, and where it ends.
func (l *topicLog) bounds(offset, read int64) error {
	from, err := l.r.bound(l.ctx, first, false)
	if err != nil {
		return err
	}
	end, err := l.r.bound(l.ctx, last, false)
	if err != nil {
		return err
	}
	if l.a.now {
		if l.end, err = l.r.bound(l.ctx, last, true); err != nil {
			return err
		}
	}
	l.at = max(offset, l.a.begin)
	switch {
	case l.at < from && l.at > 0:
		return fmt.Errorf("%w: the topic begins with offset %d now, and the records from offset %d on are lost", errGone, from, l.at)
	case max(l.at, read) > end:
		return fmt.Errorf("%w: the topic ends at offset %d, before offset %d: records are lost, or this is another topic", errGone, end, max(l.at, read))
	case l.at < read && from >= read:
		return fmt.Errorf("%w: the topic begins with offset %d now, and the records before offset %d are to be read again", errGone, from, read)
	}
	l.at = max(l.at, from)
	return nil
}

// Next returns the value of the next record, and its offset. It blocks until the record is there, also while no broker can be reached. The error is
// io.EOF at the end, the cause of the context, or one after which records would be missing.
func (l *topicLog) Next() (offset int64, value []byte, err error) {
	for {
		if l.end >= 0 && l.at >= l.end {
			return 0, nil, io.EOF
		}
		if len(l.records) == 0 {
			if err := l.poll(); err != nil {
				return 0, nil, err
			}
			continue
		}
		r := l.records[0]
		l.records = l.records[1:]
		if l.end >= 0 && r.Offset >= l.end {
			return 0, nil, io.EOF
		}
		l.at = r.Offset + 1
		if !r.Attrs.IsControl() { // the end of a transaction
			return r.Offset, r.Value, nil
		}
	}
}

// poll waits for records.
func (l *topicLog) poll() (err error) {
	if !l.begun {
		l.begun = true
		l.r.begin(l.at)
	}
	l.records, err = l.r.poll(l.ctx, l.at)
	return l.named(err)
}

// Waiting reports whether there are records, so that Next does not wait for brokers. If these are ends of transactions, Next waits nevertheless.
func (l *topicLog) Waiting() bool {
	return len(l.records) > 0 || l.r != nil && l.r.BufferedFetchRecords() > 0
}

// Close closes the connections.
func (l *topicLog) Close() error {
	if l.r != nil {
		l.r.Close()
	}
	return nil
}
