package kafka

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftgraph/weft/internal/watch"
)

// idHeader is the header of a record with the id of its message.
const idHeader = "weft-id"

// The bounds of a transaction. Its messages wait in memory until it is committed.
const (
	mostMessages = 1 << 14
	mostBytes    = 4 << 20
)

// lifetime is how long the transaction of a process that was killed hides later records from readers, unless the process is started again.
const lifetime = time.Minute

// sink sends messages to a partition, each of them once: readers of committed records see neither gaps nor repetitions. A message has an id,
// which begins with the name of the run that it is of, and a hyphen. It is not safe for concurrent use.
type sink struct {
	a     *address
	o     options
	lost  brokers
	ctx   context.Context
	run   string
	grace time.Duration // that a transaction under way has after the end of ctx
	c     *client
	begun int64  // the offset from which on there may be messages that are not known
	last  string // the id of the last message in the topic; "" if there is none of this run

	pending []message
	bytes   int
}

// message is a message that is not in the topic yet.
type message struct {
	id   string
	data []byte
}

// Publisher returns a sink for the topic of an address. note gets remarks about brokers that are lost and come back. The error is about a part of the
// address.
func Publisher(u *url.URL, note func(string)) (watch.Publisher, error) {
	a, err := parse(u, false)
	if err != nil {
		return nil, err
	}
	return newSink(a, options{note: note}), nil
}

func newSink(a *address, o options) *sink {
	return &sink{a: a, o: o, lost: brokers{note: o.note}, grace: 5 * time.Second}
}

// Begin connects to the topic, and ends transactions that a process with the same run has under way. It returns the id of the run's last message
// in the topic, or "". position is what Length was earlier in the run, and 0 at its beginning. All calls end soon after ctx. The error names the
// address.
func (s *sink) Begin(ctx context.Context, run string, position int64) (id string, err error) {
	s.ctx, s.run = ctx, run
	if err = s.connect(ctx); err == nil {
		if position == 0 { // the run begins
			s.begun, err = s.c.bound(ctx, last, false)
		} else {
			s.begun = position - 1
			s.last, err = s.look(ctx)
		}
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%v: %w", s.a, err)
	}
	return s.last, err
}

// connect makes a client. No transaction of the run is under way then, and that of another process fails.
func (s *sink) connect(ctx context.Context) error {
	c, err := dial(ctx, s.a, &s.o, &s.lost, kgo.TransactionalID("weft-"+s.run), kgo.TransactionTimeout(lifetime), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	within, cancel := c.patience(ctx)
	defer cancel()
	if _, _, err := c.ProducerID(within); err != nil {
		c.Close()
		return c.unanswered(ctx, err)
	}
	if s.c != nil {
		s.c.Close()
	}
	s.c = c
	return nil
}

// look finds the last message of the run among the committed records from s.begun on, and moves s.begun to the end.
func (s *sink) look(ctx context.Context) (id string, err error) {
	from, err := s.c.bound(ctx, first, false)
	if err != nil {
		return "", err
	}
	end, err := s.c.bound(ctx, last, false)
	if err != nil {
		return "", err
	}
	switch {
	case s.begun > end:
		return "", fmt.Errorf("the topic ends at offset %d, before the offset %d that was reached: changes are lost, or this is another topic", end, s.begun)
	case s.begun < from && s.o.note != nil:
		s.o.note(fmt.Sprintf("%v begins at offset %d now: changes that were written from offset %d on are not known, and come again", s.a, from, s.begun))
	}
	id = s.last
	at := max(from, s.begun)
	if at < end {
		r, err := openReader(ctx, s.a, &s.o, &s.lost)
		if err != nil {
			return "", err
		}
		defer r.Close()
		r.begin(at)
		for at < end {
			records, err := r.poll(ctx, at)
			if err != nil {
				return "", err
			}
			for _, rec := range records {
				at = rec.Offset + 1
				for _, h := range rec.Headers {
					if h.Key == idHeader && strings.HasPrefix(string(h.Value), s.run+"-") {
						id = string(h.Value)
					}
				}
			}
		}
	}
	s.begun = end
	return id, nil
}

// Length returns the number of the offset after all messages so far, from 1, for Begin.
func (s *sink) Length() int64 { return s.begun + 1 }

// Publish sends a message, at once or with others. It blocks while the brokers do not take what was sent before. data is the caller's again when
// Publish returns.
func (s *sink) Publish(id string, data []byte) error {
	s.pending = append(s.pending, message{id, slices.Clone(data)})
	s.bytes += len(id) + len(data)
	if len(s.pending) < mostMessages && s.bytes < mostBytes {
		return nil
	}
	return s.Flush()
}

// patientTries is the number of tries after which a topic that is missing was removed, and not left out by a broker that has just started.
const patientTries = 3

// errTaken is the error of a sink whose run another process goes on with.
var errTaken = errors.New("another process writes the changes of this watch")

// Flush commits all messages. It blocks until they are in the topic for good, also while no broker can be reached. An error is one that does not
// pass, or the cause of the end of the context.
func (s *sink) Flush() error {
	if len(s.pending) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(s.ctx))
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() {
		time.AfterFunc(s.grace, func() { cancel(context.Cause(s.ctx)) })
	})()
	err := s.transact(ctx)
	for tries := 0; err != nil; tries++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !passes(err) || errors.Is(err, errNoTopic) && tries > patientTries {
			return fmt.Errorf("%v: %w", s.a, err)
		}
		if tries == 0 && s.o.note != nil {
			s.o.note(fmt.Sprintf("%v: changes could not be written: %v; weft goes on trying", s.a, err))
		}
		if tries > 0 {
			if err := sleep(ctx, min(100*time.Millisecond<<min(tries, 6), 5*time.Second)); err != nil {
				return err
			}
		}
		if err = s.again(ctx); err == nil {
			err = s.transact(ctx)
		}
	}
	s.last = s.pending[len(s.pending)-1].id
	s.pending, s.bytes = s.pending[:0], 0
	return nil
}

// Sync is Flush: what is committed is durable, as far as the topic is.
func (s *sink) Sync() error { return s.Flush() }

// transact sends the messages in a transaction. After an error it is not known whether they are in the topic.
func (s *sink) transact(ctx context.Context) error {
	if len(s.pending) == 0 {
		return nil
	}
	if err := s.c.BeginTransaction(); err != nil {
		return err
	}
	var mu sync.Mutex
	var failed error
	end := int64(0)
	for i := range s.pending {
		m := &s.pending[i]
		s.c.Produce(ctx, &kgo.Record{
			Topic: s.a.topic, Partition: s.c.partition, Value: m.data, Headers: []kgo.RecordHeader{{Key: idHeader, Value: []byte(m.id)}},
		}, func(r *kgo.Record, err error) {
			mu.Lock()
			defer mu.Unlock()
			if failed == nil {
				failed = err
			}
			end = max(end, r.Offset+1)
		})
	}
	if err := s.c.Client.Flush(ctx); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if err := s.c.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return err
	}
	s.begun = end
	return nil
}

// again connects anew, and finds out which of the messages are in the topic.
func (s *sink) again(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	id, err := s.look(ctx)
	if err != nil {
		return err
	}
	if id == s.last {
		return nil
	}
	i := slices.IndexFunc(s.pending, func(m message) bool { return m.id == id })
	if i < 0 {
		return errTaken
	}
	s.last, s.pending = id, slices.Delete(s.pending, 0, i+1)
	return nil
}

// passes reports whether a transaction that failed may succeed anew.
func passes(err error) bool {
	var code *kerr.Error
	if !errors.As(err, &code) {
		return !errors.Is(err, errTaken) && !errors.Is(err, errGone)
	}
	switch code {
	case kerr.InvalidProducerEpoch, kerr.ProducerFenced, kerr.InvalidProducerIDMapping, kerr.UnknownProducerID, kerr.OutOfOrderSequenceNumber,
		kerr.InvalidTxnState, kerr.TransactionAbortable, kerr.OperationNotAttempted, kerr.TransactionCoordinatorFenced,
		kerr.UnknownServerError:
		return true
	}
	return code.Retriable
}

// Close closes the connections. Messages that are not committed are not in the topic.
func (s *sink) Close() error {
	if s.c == nil {
		return nil
	}
	if len(s.pending) > 0 { // a transaction may be under way, and would hide later records from readers
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.grace)
		defer cancel()
		if s.c.AbortBufferedRecords(ctx) == nil {
			_ = s.c.EndTransaction(ctx, kgo.TryAbort)
		}
	}
	s.c.Close()
	return nil
}
