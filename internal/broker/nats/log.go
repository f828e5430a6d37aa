package nats

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftgraph/weft/internal/stream"
)

// Log is a stream of JetStream, or the part of it with a subject. It is a stream.Log, whose numbers are the stream's sequence numbers.
type Log struct {
	at      address
	note    func(string)
	options []nats.Option
	ctx     context.Context // within which it is read
	cancel  context.CancelFunc
	nc      *nats.Conn
	stream  jetstream.Stream
	filter  string // "": all of the stream
	limited bool   // the stream deletes old messages
	created time.Time
	next    uint64 // the least number of the message that comes next

	ahead chan message
	done  chan struct{} // closed when nothing reads any more; nil: nothing does yet
}

// message is a message, or the error that ended them.
type message struct {
	number uint64
	data   []byte
	err    error
}

// waitingMessages is the number of messages that are read ahead, besides those that the client asks for together.
const waitingMessages = 256

// NewLog returns the log of an address. It connects when it begins. The error is about the address.
func NewLog(ctx context.Context, u *url.URL, note func(string)) (stream.Log, error) {
	at, err := parse(u)
	if err != nil {
		return nil, err
	}
	return newLog(ctx, at, note), nil
}

func newLog(ctx context.Context, at address, note func(string), options ...nats.Option) *Log {
	l := &Log{at: at, note: note, options: options, ahead: make(chan message, waitingMessages)}
	l.ctx, l.cancel = context.WithCancel(ctx)
	return l
}

func (l *Log) wrong(err error) error {
	return fmt.Errorf("%s: %w: %w", l.at.name, stream.ErrLog, err)
}

// Begin connects, and starts to read. Messages before number read were read once.
func (l *Log) Begin(number, read int64) error {
	var js jetstream.JetStream
	var err error
	if l.nc, js, err = connect(l.ctx, l.at, l.note, nil, l.options...); err != nil {
		return l.wrong(err)
	}
	if l.stream, l.filter, err = find(l.ctx, js, l.at.path); err != nil {
		return l.wrong(err)
	}
	l.next = uint64(number)
	l.created = l.stream.CachedInfo().Created
	c := l.stream.CachedInfo().Config
	l.limited = c.MaxAge > 0 || c.MaxMsgs > 0 || c.MaxBytes > 0 || c.MaxMsgsPerSubject > 0
	if err := l.check(); err != nil {
		return err
	}
	if read > number {
		if err := l.has(uint64(read) - 1); err != nil {
			return err
		}
	}
	l.done = make(chan struct{})
	go l.read()
	return nil
}

// gone is an error after which reading does not go on.
type gone struct{ error }

func (e gone) Unwrap() error { return e.error }

// check asks the broker whether the stream has all from l.next on.
func (l *Log) check() error {
	info, err := l.stream.Info(l.ctx)
	if err != nil {
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return gone{l.wrong(err)}
		}
		return l.wrong(err)
	}
	switch s := &info.State; {
	case !info.Created.Equal(l.created):
		return gone{l.wrong(errors.New("the stream was deleted, and another one has its name now"))}
	case l.next > 0 && s.FirstSeq > l.next:
		return gone{l.wrong(fmt.Errorf("the stream begins with message %d, and message %d comes next: messages were deleted before they were read", s.FirstSeq, l.next))}
	case s.LastSeq+1 < l.next:
		return gone{l.wrong(fmt.Errorf("the stream ends with message %d, and message %d was read: it is another stream now", s.LastSeq, l.next-1))}
	}
	return nil
}

// has asks the broker for a message that was read, and is to be read again. Without it a reader would wait for messages that come, or take others for
// those that were read.
func (l *Log) has(number uint64) error {
	_, err := l.stream.GetMsg(l.ctx, number)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = fmt.Errorf("message %d was read, and is to be read again, but the stream does not have it: it was purged, or is another stream now", number)
	}
	if err != nil {
		return l.wrong(err)
	}
	return nil
}

// read brings messages to l.ahead, over losses of the broker.
func (l *Log) read() {
	defer close(l.done)
	for attempt := 0; ; attempt++ {
		before := l.next
		err := l.check()
		if err == nil {
			err = l.follow()
		}
		if l.next > before {
			attempt = 0
		}
		var fatal gone
		if errors.As(err, &fatal) {
			l.put(message{err: fatal.error})
			return
		}
		if l.ctx.Err() != nil {
			return
		}
		if attempt == 3 && l.nc.IsConnected() {
			l.note(fmt.Sprintf("%s: %v; trying again", l.at.name, err))
		}
		if pause(l.ctx, attempt) != nil {
			return
		}
	}
}

// put gives a message to Next, and reports whether reading goes on.
func (l *Log) put(m message) bool {
	select {
	case l.ahead <- m:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// follow reads messages until there is an error.
func (l *Log) follow() error {
	c := jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(l.next, 1), InactiveThreshold: 30 * time.Second, MaxResetAttempts: 1,
	}
	if l.filter != "" {
		c.FilterSubjects = []string{l.filter}
	}
	consumer, err := l.stream.OrderedConsumer(l.ctx, c)
	if err != nil {
		return err
	}
	it, err := consumer.Messages(jetstream.PullExpiry(10*time.Second), jetstream.PullHeartbeat(time.Second), jetstream.WithMessagesErrOnMissingHeartbeat(true))
	if err != nil {
		return err
	}
	defer it.Stop()
	// If the stream is deleted and made anew, the client makes the consumer anew without a word. So its name is looked at, and the stream now and then.
	for name := ""; ; {
		if err := l.followFor(lookTime, it, &name); err != nil {
			return err
		}
		if err := l.check(); err != nil {
			return err
		}
	}
}

// followFor reads messages for a time. name is that of the consumer, and changes.
func (l *Log) followFor(d time.Duration, it jetstream.MessagesContext, name *string) error {
	wait, cancel := context.WithTimeout(l.ctx, d)
	defer cancel()
	for {
		m, err := it.Next(jetstream.NextContext(wait))
		switch {
		case err != nil && wait.Err() != nil && l.ctx.Err() == nil:
			return nil
		case err != nil:
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		seq := meta.Sequence.Stream
		gap := seq > l.next && l.next > 0 && (l.filter == "" || l.limited)
		if gap || meta.Consumer != *name {
			if err := l.check(); err != nil {
				return err
			}
			*name = meta.Consumer
		}
		if seq < l.next {
			continue
		}
		if !l.put(message{number: seq, data: m.Data()}) {
			return context.Cause(l.ctx)
		}
		l.next = seq + 1
	}
}

// Next returns the next message.
func (l *Log) Next() (int64, []byte, error) {
	select {
	case m := <-l.ahead:
		return int64(m.number), m.data, m.err
	case <-l.ctx.Done():
		return 0, nil, context.Cause(l.ctx)
	}
}

// Waiting reports whether a message was read ahead.
func (l *Log) Waiting() bool { return len(l.ahead) > 0 }

// Close ends reading.
func (l *Log) Close() error {
	l.cancel()
	if l.done != nil {
		<-l.done
	}
	if l.nc != nil {
		l.nc.Close()
	}
	return nil
}
