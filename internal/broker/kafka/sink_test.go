package kafka

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// target reads the address of a sink.
func target(address string) (*address, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	return parse(u, false)
}

// begin makes a sink of a run, which goes on from a position.
func begin(t testing.TB, address, run string, position int64) (*sink, string) {
	t.Helper()
	a, err := target(address)
	if err != nil {
		t.Fatal(err)
	}
	s := newSink(a, options{})
	t.Cleanup(func() { _ = s.Close() })
	id, err := s.Begin(t.Context(), run, position)
	if err != nil {
		t.Fatal(err)
	}
	return s, id
}

// publish sends messages of a run with numbers from up to to.
func publish(t testing.TB, s *sink, run string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := s.Publish(fmt.Sprintf("%s-%d", run, i), fmt.Appendf(nil, "%s %d", run, i)); err != nil {
			t.Fatal(err)
		}
	}
}

// committed returns the values that a reader of committed records sees.
func committed(t testing.TB, address string) []string {
	t.Helper()
	return rest(t, mustOpen(t, address+"?end=now", 0))
}

func numbers(run string, from, to int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf("%s %d", run, i))
	}
	return all
}

// TestSink: messages come in their order when they are committed, also many, and a sink that begins again knows the last of them.
func TestSink(t *testing.T) {
	brokers := cluster(t)
	address := newTopic(t, brokers, 1)
	write(t, newClient(t, brokers), address, "other 0")
	s, id := begin(t, address, "r", 0)
	at := s.Length()
	if id != "" {
		t.Errorf("the last message of a new run is %s", id)
	}
	publish(t, s, "r", 0, 5)
	same(t, "before a commit", committed(t, address), []string{"other 0"})
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	many := mostMessages + 10
	publish(t, s, "r", 5, many)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	want := append([]string{"other 0"}, numbers("r", 0, many)...)
	same(t, "after commits", committed(t, address), want)

	// Another run, and a process that was killed in a transaction.
	other, _ := begin(t, address, "q", 0)
	publish(t, other, "q", 0, 3)
	if err := other.Flush(); err != nil {
		t.Fatal(err)
	}
	killed, _ := begin(t, address, "r", s.Length())
	if err := killed.c.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	write(t, killed.c.Client, address, "lost")
	for _, position := range []int64{s.Length(), at} {
		again, id := begin(t, address, "r", position)
		if want := fmt.Sprintf("r-%d", many-1); position == at && id != want || position != at && id != "" {
			t.Errorf("from %d the last message is %q", position, id)
		}
		if position == at {
			publish(t, again, "r", many, many+2)
			if err := again.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	same(t, "after a restart", committed(t, address), append(append(want, numbers("q", 0, 3)...), numbers("r", many, many+2)...))
}

// TestSinkUncertain: a commit whose answer is an error, whether it was made or not, is neither lost nor repeated.
func TestSinkUncertain(t *testing.T) {
	for _, err := range []*kerr.Error{kerr.UnknownServerError, kerr.RequestTimedOut, kerr.InvalidProducerEpoch, kerr.ProducerFenced, kerr.InvalidTxnState, kerr.NotCoordinator} {
		c := fake(t)
		address := newTopic(t, strings.Join(c.ListenAddrs(), ","), 1)
		s, _ := begin(t, address, "r", 0)
		for i := range 4 {
			c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.EndTxn}, TopLevel: true, Err: err})
			publish(t, s, "r", 3*i, 3*i+3)
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		same(t, err.Message, committed(t, address), numbers("r", 0, 12))
	}
}

// TestSinkCut: a connection that is cut before or after any request of a transaction leaves no message out, and repeats none.
func TestSinkCut(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.Produce, kmsg.EndTxn, kmsg.AddPartitionsToTxn, kmsg.InitProducerID} {
		c := fake(t)
		address := newTopic(t, strings.Join(c.ListenAddrs(), ","), 1)
		s, _ := begin(t, address, "r", 0)
		cut := 0
		for i := range 4 {
			c.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
				cut++
				return nil, errors.New("cut"), true
			})
			publish(t, s, "r", 3*i, 3*i+3)
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		same(t, key.Name(), committed(t, address), numbers("r", 0, 12))
		if cut == 0 && key != kmsg.AddPartitionsToTxn && key != kmsg.InitProducerID {
			t.Errorf("%s: no connection was cut", key.Name())
		}
	}
}

// TestSinkSlow: while brokers take nothing, a sink takes no more than a transaction has.
func TestSinkSlow(t *testing.T) {
	c := fake(t)
	address := newTopic(t, strings.Join(c.ListenAddrs(), ","), 1)
	s, _ := begin(t, address, "r", 0)
	came, release := make(chan struct{}), make(chan struct{})
	var first sync.Once
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		first.Do(func() { close(came) })
		<-release
		return nil, nil, false
	})
	var taken atomic.Int64
	done := make(chan error)
	go func() {
		for i := range 2*mostMessages + 5 {
			if err := s.Publish(fmt.Sprintf("r-%d", i), fmt.Appendf(nil, "r %d", i)); err != nil {
				done <- err
				return
			}
			taken.Add(1)
		}
		done <- s.Flush()
	}()
	<-came
	if n := taken.Load(); n != mostMessages-1 {
		t.Errorf("%d messages were taken, and a transaction has %d", n, mostMessages)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	same(t, "the topic", committed(t, address), numbers("r", 0, 2*mostMessages+5))
}

// TestSinkTaken: a process whose run another goes on with ends with an error, and changes nothing.
func TestSinkTaken(t *testing.T) {
	address := newTopic(t, cluster(t), 1)
	s, _ := begin(t, address, "r", 0)
	publish(t, s, "r", 0, 3)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	other, _ := begin(t, address, "r", s.Length())
	publish(t, other, "r", 3, 5)
	if err := other.Flush(); err != nil {
		t.Fatal(err)
	}
	publish(t, s, "r", 10, 12)
	if err := s.Flush(); !errors.Is(err, errTaken) {
		t.Errorf("the error is %v", err)
	}
	_ = s.Close()
	same(t, "the topic", committed(t, address), numbers("r", 0, 5))
}

// notes are the remarks of a source or a sink.
type notes struct {
	mu    sync.Mutex
	texts []string
	more  chan struct{}
}

func (n *notes) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, text)
	select {
	case n.more <- struct{}{}:
	default:
	}
}

// wait waits for a remark.
func (n *notes) wait(t testing.TB, part string) {
	t.Helper()
	for {
		n.mu.Lock()
		all := strings.Join(n.texts, "\n")
		n.mu.Unlock()
		if strings.Contains(all, part) {
			return
		}
		select {
		case <-n.more:
		case <-t.Context().Done():
			t.Fatalf("%q was not said, but %s", part, all)
		}
	}
}

// restartable is a fake cluster that can stop, and be there again with its records.
type restartable struct {
	t    testing.TB
	dir  string
	port int
	c    *kfake.Cluster
}

func newRestartable(t testing.TB) *restartable {
	r := &restartable{t: t, dir: t.TempDir()}
	r.start()
	if _, err := fmt.Sscanf(r.c.ListenAddrs()[0], "127.0.0.1:%d", &r.port); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.c.Close() })
	return r
}

func (r *restartable) start() {
	r.t.Helper()
	c, err := kfake.NewCluster(kfake.Ports(r.port), kfake.DataDir(r.dir))
	for err != nil && r.port > 0 && r.t.Context().Err() == nil { // the port is still being left
		time.Sleep(10 * time.Millisecond)
		c, err = kfake.NewCluster(kfake.Ports(r.port), kfake.DataDir(r.dir))
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.c = c
}

// TestLost: while the broker is away, a source waits and a sink holds what it has. Both go on when it is back.
func TestLost(t *testing.T) {
	r := newRestartable(t)
	brokers := r.c.ListenAddrs()[0]
	in, out := newTopic(t, brokers, 1), newTopic(t, brokers, 1)
	said := &notes{more: make(chan struct{}, 1)}
	src, err := open(t, t.Context(), in, 0, options{note: said.add})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := target(out)
	s := newSink(a, options{note: said.add})
	defer s.Close()
	if _, err := s.Begin(t.Context(), "r", 0); err != nil {
		t.Fatal(err)
	}
	values := make(chan string)
	go func() {
		defer close(values)
		for {
			_, value, err := src.Next()
			if err != nil {
				return
			}
			select {
			case values <- string(value):
			case <-t.Context().Done():
				return
			}
		}
	}()
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for i := range rounds {
		write(t, newClient(t, brokers), in, fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i))
		for _, x := range "ab" {
			if got := <-values; got != fmt.Sprintf("%c%d", x, i) {
				t.Fatal(got)
			}
		}
		publish(t, s, "r", 4*i, 4*i+2)
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		r.c.Close()
		publish(t, s, "r", 4*i+2, 4*i+4)
		done := make(chan error)
		go func() { done <- s.Flush() }()
		said.wait(t, "cannot be reached")
		r.start()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		said.wait(t, "can be reached again")
		said.mu.Lock()
		said.texts = nil
		said.mu.Unlock()
	}
	same(t, "the topic", committed(t, out), numbers("r", 0, 4*rounds))
}

// TestSinkEnds: a sink that waits for a lost broker ends with its context, and closes.
func TestSinkEnds(t *testing.T) {
	r := newRestartable(t)
	a, _ := target(newTopic(t, r.c.ListenAddrs()[0], 1))
	ctx, cancel := context.WithCancelCause(t.Context())
	said := &notes{more: make(chan struct{}, 1)}
	s := newSink(a, options{note: said.add})
	s.grace = time.Millisecond
	if _, err := s.Begin(ctx, "r", 0); err != nil {
		t.Fatal(err)
	}
	r.c.Close()
	publish(t, s, "r", 0, 2)
	done := make(chan error)
	go func() { done <- s.Flush() }()
	said.wait(t, "cannot be reached")
	enough := errors.New("enough")
	cancel(enough)
	if err := <-done; !errors.Is(err, enough) {
		t.Errorf("the error is %v", err)
	}
	_ = s.Close()
	r.start()
}

// TestSinkRefused: errors that do not pass end a sink at once.
func TestSinkRefused(t *testing.T) {
	brokers := cluster(t)
	a, _ := target(Scheme + "://" + brokers + "/absent")
	if _, err := newSink(a, options{}).Begin(t.Context(), "r", 0); !errors.Is(err, errNoTopic) {
		t.Errorf("an absent topic: %v", err)
	}
	a, _ = target("kafka://127.0.0.1:1/t")
	if _, err := newSink(a, options{patience: 2 * time.Second}).Begin(t.Context(), "r", 0); err == nil || !strings.Contains(err.Error(), "no broker answered") {
		t.Errorf("an absent broker: %v", err)
	}
	address := newTopic(t, brokers, 1)
	s, _ := begin(t, address, "r", 0)
	if err := s.Publish("r-1", make([]byte, 2<<20)); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); !errors.Is(err, kerr.MessageTooLarge) {
		t.Errorf("a large message: %v", err)
	}
	short, _ := target(address)
	if _, err := newSink(short, options{}).Begin(t.Context(), "r", 100); err == nil || !strings.Contains(err.Error(), "ends at offset 0, before the offset 99") {
		t.Errorf("a topic that is shorter than it was: %v", err)
	}
}

// TestRemoved: a topic that is removed is an error of those that read and write it.
func TestRemoved(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a client takes seconds to believe it")
	}
	brokers := cluster(t)
	address := newTopic(t, brokers, 1)
	s, _ := begin(t, address, "r", 0)
	publish(t, s, "r", 0, 1)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, address, 0)
	if _, value, err := l.Next(); err != nil || string(value) != "r 0" {
		t.Fatalf("%s, %v", value, err)
	}
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = &s.a.topic
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Topics, req.TopicNames, req.TimeoutMillis = append(req.Topics, topic), []string{s.a.topic}, 60000
	if _, err := req.RequestWith(t.Context(), newClient(t, brokers)); err != nil {
		t.Fatal(err)
	}
	publish(t, s, "r", 1, 2)
	if err := s.Flush(); !errors.Is(err, errNoTopic) {
		t.Errorf("a sink: %v", err)
	}
	if _, value, err := l.Next(); !errors.Is(err, errGone) {
		t.Errorf("a log: %s, %v", value, err)
	}
}
