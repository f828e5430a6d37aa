package nats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/watch"
)

// broker is a server of its own, which can end and begin again with what it has stored.
type broker struct {
	t    *testing.T
	dir  string
	port int
	o    *server.Options // besides those of every broker; nil for none
	s    *server.Server
}

func newBroker(t *testing.T) *broker {
	b := &broker{t: t, dir: t.TempDir(), port: server.RANDOM_PORT}
	b.start()
	t.Cleanup(b.stop)
	return b
}

func (b *broker) start() {
	b.t.Helper()
	o := &server.Options{}
	if b.o != nil {
		o = b.o.Clone()
	}
	o.Host, o.Port, o.JetStream, o.StoreDir, o.NoSigs, o.NoLog = "127.0.0.1", b.port, true, b.dir, true, true
	s, err := server.NewServer(o)
	if err != nil {
		b.t.Error(err)
		return
	}
	go s.Start()
	if !s.ReadyForConnections(time.Minute) {
		b.t.Error("the broker does not start")
	}
	b.s, b.port = s, s.Addr().(*net.TCPAddr).Port
}

func (b *broker) stop() {
	b.s.Shutdown()
	b.s.WaitForShutdown()
}

func (b *broker) url(path string) *url.URL {
	u, err := url.Parse(fmt.Sprintf("nats://127.0.0.1:%d/%s", b.port, path))
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// client connects to the broker.
func (b *broker) client(options ...nats.Option) jetstream.JetStream {
	b.t.Helper()
	nc, err := nats.Connect(b.url("").String(), options...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		b.t.Fatal(err)
	}
	return js
}

// storeFailed is the broker's error while it still removes the files of a stream of the same name: it answers that a stream is
// deleted before its files are gone.
const storeFailed = 10049

// stream makes a stream.
func (b *broker) stream(c jetstream.StreamConfig, options ...nats.Option) jetstream.JetStream {
	b.t.Helper()
	js := b.client(options...)
	_, err := js.CreateStream(b.t.Context(), c)
	for range 1000 {
		if e := (*jetstream.APIError)(nil); !errors.As(err, &e) || e.ErrorCode != storeFailed {
			break
		}
		time.Sleep(10 * time.Millisecond)
		_, err = js.CreateStream(b.t.Context(), c)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return js
}

func (b *broker) publish(js jetstream.JetStream, subject string, from, to int) {
	b.t.Helper()
	for i := from; i < to; i++ {
		if _, err := js.Publish(b.t.Context(), subject, fmt.Appendf(nil, "%d", i)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// expect reads messages from up to to.
func expect(t *testing.T, l stream.Log, from, to int) (last int64) {
	t.Helper()
	for i := from; i < to; i++ {
		number, data, err := l.Next()
		if err != nil || string(data) != fmt.Sprint(i) {
			t.Fatalf("message %q, %v; want %d", data, err, i)
		}
		last = number
	}
	return last
}

func begin(t *testing.T, b *broker, path string, number int64, note func(string)) (stream.Log, error) {
	l, err := NewLog(t.Context(), b.url(path), note)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, l.Begin(number, 0)
}

// TestLog: a log begins anywhere, goes on after the broker was lost, and says so.
func TestLog(t *testing.T) {
	b := newBroker(t)
	js := b.stream(jetstream.StreamConfig{Name: "updates", Subjects: []string{"u.>"}})
	b.publish(js, "u.a", 0, 40)
	var notes atomic.Int64
	note := func(string) { notes.Add(1) }
	l, err := begin(t, b, "updates", 0, note)
	if err != nil {
		t.Fatal(err)
	}
	last := expect(t, l, 0, 30)
	b.stop()
	b.start()
	expect(t, l, 30, 40)
	b.publish(js, "u.a", 40, 60)
	expect(t, l, 40, 60)
	if n := notes.Load(); n < 2 {
		t.Errorf("%d notes", n)
	}
	if l, err = begin(t, b, "updates", last+1, note); err != nil {
		t.Fatal(err)
	}
	expect(t, l, 30, 60)
	// One subject of the stream.
	b.publish(js, "u.b", 0, 5)
	b.publish(js, "u.a", 60, 62)
	b.publish(js, "u.b", 5, 9)
	if l, err = begin(t, b, "u.b", 0, note); err != nil {
		t.Fatal(err)
	}
	expect(t, l, 0, 9)
}

// TestLogGone: messages that were deleted before they were read, and a stream that is another, are errors.
func TestLogGone(t *testing.T) {
	b := newBroker(t)
	js := b.stream(jetstream.StreamConfig{Name: "updates", Subjects: []string{"u"}})
	b.publish(js, "u", 0, 40)
	note := func(string) {}
	for path, want := range map[string]string{"other": "no stream is called other", "x.y": "none takes the subject x.y"} {
		if _, err := begin(t, b, path, 0, note); !errors.Is(err, stream.ErrLog) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := begin(t, b, "updates", 42, note); !errors.Is(err, stream.ErrLog) || !strings.Contains(err.Error(), "another stream now") {
		t.Error(err)
	}
	s, err := js.Stream(t.Context(), "updates")
	if err != nil {
		t.Fatal(err)
	}
	l, err := begin(t, b, "updates", 41, note)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context(), jetstream.WithPurgeSequence(20)); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(t, b, "updates", 19, note); !errors.Is(err, stream.ErrLog) || !strings.Contains(err.Error(), "were deleted before they were read") {
		t.Error(err)
	}
	if _, err := begin(t, b, "updates", 20, note); err != nil {
		t.Error(err)
	}
	// The stream is deleted and made anew while it is read.
	if err := js.DeleteStream(t.Context(), "updates"); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "updates", Subjects: []string{"u"}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Next(); !errors.Is(err, stream.ErrLog) {
		t.Error(err)
	}
	b.stop()
	if _, err := begin(t, b, "updates", 0, note); !errors.Is(err, stream.ErrLog) {
		t.Errorf("without a broker: %v", err)
	}
	b.start()
}

// TestLogRead: a log begins only if it has the messages that were read, and are to be read again.
func TestLogRead(t *testing.T) {
	b := newBroker(t)
	js := b.stream(jetstream.StreamConfig{Name: "updates", Subjects: []string{"u", "v"}})
	b.publish(js, "u", 0, 40)
	try := func(path string, number, read int64, want string) {
		t.Helper()
		l, err := NewLog(t.Context(), b.url(path), func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		err = l.Begin(number, read)
		if want == "" && err != nil || want != "" && (!errors.Is(err, stream.ErrLog) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s from %d, %d: %v; want %s", path, number, read, err, want)
		}
	}
	try("updates", 0, 41, "")
	try("u", 20, 41, "")
	try("updates", 0, 42, "message 41 was read")
	s, err := js.Stream(t.Context(), "updates")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context(), jetstream.WithPurgeSubject("u")); err != nil {
		t.Fatal(err)
	}
	b.publish(js, "v", 0, 5)
	try("updates", 0, 41, "message 40 was read")
	try("u", 0, 41, "message 40 was read")
	try("updates", 41, 41, "")
	// While it is read, another stream takes the name, and has as many messages.
	l, err := begin(t, b, "updates", 46, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), "updates"); err != nil {
		t.Fatal(err)
	}
	js = b.stream(jetstream.StreamConfig{Name: "updates", Subjects: []string{"u"}})
	b.publish(js, "u", 0, 60)
	if _, data, err := l.Next(); !errors.Is(err, stream.ErrLog) {
		t.Errorf("%q, %v", data, err)
	}
	if err := l.(*Log).check(); err == nil || !strings.Contains(err.Error(), "another one has its name") {
		t.Error(err)
	}
}

// TestPublisherLost: a run that continues does not go on if the broker has lost its changes, and says so if they were deleted.
func TestPublisherLost(t *testing.T) {
	b := newBroker(t)
	js := b.stream(jetstream.StreamConfig{Name: "changes", Subjects: []string{"c", "d"}})
	p := newPublisher(t, b, "c")
	if _, err := p.Begin(t.Context(), "run", 0); err != nil {
		t.Fatal(err)
	}
	send := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			if err := p.Publish(fmt.Sprint("id-", i), fmt.Appendf(nil, "%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if p.Length() != 0 {
		t.Errorf("a length of %d before the first message", p.Length())
	}
	send(0, 10)
	length := p.Length()
	send(10, 20) // after the checkpoint
	try := func(wantID, want string) {
		t.Helper()
		said := ""
		q, err := NewPublisher(b.url("c"), func(text string) { said += text })
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		id, err := q.Begin(t.Context(), "run", length)
		if err != nil {
			said = err.Error()
			if !errors.Is(err, watch.ErrCheckpoint) {
				t.Error(err)
			}
		}
		if id != wantID || want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("%q, %s; want %q, %s", id, said, wantID, want)
		}
		if err == nil && q.Length() != length {
			t.Errorf("the length is %d, want %d", q.Length(), length)
		}
	}
	try("id-19", "")
	s, err := js.Stream(t.Context(), "changes")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	try("", "the changes were deleted")
	if err := js.DeleteStream(t.Context(), "changes"); err != nil {
		t.Fatal(err)
	}
	js = b.stream(jetstream.StreamConfig{Name: "changes", Subjects: []string{"c", "d"}})
	try("", "ends with message 0, and message 10 was sent")
	b.publish(js, "c", 0, 3)
	b.publish(js, "d", 0, 30)
	try("", "the last change in the stream changes is message 3, and message 10 was sent")
}

func newPublisher(t *testing.T, b *broker, path string) *Publisher {
	p, err := NewPublisher(b.url(path), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p.(*Publisher)
}

// contents returns the messages of a stream with a subject.
func (b *broker) contents(js jetstream.JetStream, name, subject string) (out []string) {
	b.t.Helper()
	s, err := js.Stream(b.t.Context(), name)
	if err != nil {
		b.t.Fatal(err)
	}
	info, err := s.Info(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
		m, err := s.GetMsg(b.t.Context(), seq)
		if err != nil {
			b.t.Fatal(err)
		}
		if m.Subject == subject {
			out = append(out, string(m.Data))
		}
	}
	return out
}

func (b *broker) want(js jetstream.JetStream, n int) {
	b.t.Helper()
	got := b.contents(js, "changes", "c")
	for i := range max(n, len(got)) {
		if i >= len(got) || got[i] != fmt.Sprint(i) {
			b.t.Fatalf("%d messages, want %d; from %d on: %q", len(got), n, i, got[max(i-2, 0):min(i+5, len(got))])
		}
	}
}

// TestPublisher: messages come once and in order, whether or not the broker is lost, and others publish on other subjects of the stream.
func TestPublisher(t *testing.T) {
	b := newBroker(t)
	js := b.stream(jetstream.StreamConfig{Name: "changes", Subjects: []string{"c", "d"}})
	n, rounds, length := 0, long.Rounds(3, 30), int64(0)
	for round := range rounds {
		p := newPublisher(t, b, "c")
		last, err := p.Begin(t.Context(), "run", length)
		if want := ""; err != nil || n > 0 && last != fmt.Sprint("id-", n-1) || n == 0 && last != want {
			t.Fatalf("%q, %v", last, err)
		}
		send := func(k int) {
			for range k {
				if err := p.Publish(fmt.Sprint("id-", n), fmt.Appendf(nil, "%d", n)); err != nil {
					t.Fatal(err)
				}
				n++
			}
		}
		send(300)
		b.publish(js, "d", 0, 3)
		send(300)
		if round%3 != 2 {
			b.stop()
			back := make(chan struct{})
			go func() { // a refusal from before the loss makes Publish wait until the broker is there again
				defer close(back)
				time.Sleep(20 * time.Millisecond)
				b.start()
			}()
			send(40)
			<-back
		}
		send(200)
		if err := p.Sync(); err != nil {
			t.Fatal(err)
		}
		s, err := js.Stream(t.Context(), "changes")
		if err != nil {
			t.Fatal(err)
		}
		if length = p.Length(); length != int64(s.CachedInfo().State.LastSeq)+1 {
			t.Errorf("the length is %d, and the stream ends with message %d", length, s.CachedInfo().State.LastSeq)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		b.want(js, n)
	}
}

// TestPublisherLate: an answer that comes after the messages were sent again does not count for another, and a message that the broker has is not
// sent again.
func TestPublisherLate(t *testing.T) {
	b := newBroker(t)
	js := b.stream(jetstream.StreamConfig{Name: "changes", Subjects: []string{"c"}})
	p := newPublisher(t, b, "c")
	if _, err := p.Begin(t.Context(), "run", 0); err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		if err := p.Publish(fmt.Sprint("id-", i), fmt.Appendf(nil, "%d", i)); err != nil {
			t.Fatal(err)
		}
		if i%50 == 7 { // as after a loss, when the broker has some of those under way
			if err := p.resume(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.Sync(); err != nil {
		t.Fatal(err)
	}
	b.want(js, 500)
}

// TestPublisherFull: a stream that takes no more messages holds the publisher back, and gets all when there is room.
func TestPublisherFull(t *testing.T) {
	b := newBroker(t)
	c := jetstream.StreamConfig{Name: "changes", Subjects: []string{"c"}, MaxMsgs: 50, Discard: jetstream.DiscardNew}
	js := b.stream(c)
	noted := make(chan string, 1000)
	q, err := NewPublisher(b.url("c"), func(text string) { noted <- text })
	if err != nil {
		t.Fatal(err)
	}
	p := q.(*Publisher)
	t.Cleanup(func() { _ = p.Close() })
	if _, err := p.Begin(t.Context(), "run", 0); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		for i := range 120 {
			if err := p.Publish(fmt.Sprint("id-", i), fmt.Appendf(nil, "%d", i)); err != nil {
				done <- err
				return
			}
		}
		done <- p.Sync()
	}()
	if text := <-noted; !strings.Contains(text, "maximum messages exceeded") {
		t.Error(text)
	}
	c.MaxMsgs = 500
	if _, err := js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	b.want(js, 120)
}

// TestPublisherRefuses: a stream that cannot tell the last change is refused, and so is a subject on which another program publishes.
func TestPublisherRefuses(t *testing.T) {
	b := newBroker(t)
	js := b.stream(jetstream.StreamConfig{Name: "changes", Subjects: []string{"c"}})
	b.stream(jetstream.StreamConfig{Name: "work", Subjects: []string{"w"}, Retention: jetstream.WorkQueuePolicy})
	for path, want := range map[string]string{"w": "deletes messages that were read", "none": "no stream takes the subject none"} {
		if _, err := newPublisher(t, b, path).Begin(t.Context(), "run", 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	p := newPublisher(t, b, "c")
	if _, err := p.Begin(t.Context(), "run", 0); err != nil {
		t.Fatal(err)
	}
	b.publish(js, "c", 0, 1)
	err := p.Publish("id-0", []byte("x"))
	if err == nil {
		err = p.Sync()
	}
	if err == nil || !strings.Contains(err.Error(), "another program publishes") {
		t.Error(err)
	}
	// A context that ends does not wait for a broker that is lost.
	ctx, cancel := context.WithCancelCause(t.Context())
	p = newPublisher(t, b, "c")
	if _, err := p.Begin(ctx, "run", 0); err != nil {
		t.Fatal(err)
	}
	b.stop()
	if err := p.Publish("id-0", []byte("x")); err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	cancel(enough)
	if err := p.Sync(); !errors.Is(err, enough) {
		t.Error(err)
	}
	b.start()
}

// TestAddresses: an address that cannot be one is refused.
func TestAddresses(t *testing.T) {
	for text, says := range map[string]string{
		"nats:///x": "no host", "nats://host": "a stream or a subject", "nats://host/": "a stream or a subject", "nats://host/a/b": "a stream or a subject",
		"nats://host/a#b": "more than", "nats://one,/a": "not a server", "nats://host/a?b=c": "parameters are creds, tls, ca, cert, key",
		"nats://host/a?tls=maybe": "want true or false", "nats://host/a?tls=1&tls=0": "given twice", "nats://host/a?creds=": "want a file",
		"nats://host/a?key=k": "key needs cert", "nats://ann:secret@host/a?creds=f": "two logins",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewLog(t.Context(), u, nil); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := NewPublisher(u, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	u, _ := url.Parse("nats://ann:secret@one:1,two:2/a.b?tls=true")
	if a, err := parse(u); err != nil || a.servers != "nats://one:1,nats://two:2" || a.path != "a.b" || a.user.Username() != "ann" || strings.Contains(a.name, "secret") {
		t.Errorf("%+v, %v", a, err)
	}
	u, _ = url.Parse("nats://host/a.*")
	if _, err := NewPublisher(u, nil); err == nil {
		t.Error("changes on a.*")
	}
}
