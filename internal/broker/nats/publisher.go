package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftgraph/weft/internal/watch"
)

// Publisher publishes messages on a subject, each once and in their order. It is a watch.Publisher.
//
// A message names the one that must be the last before it, so that the broker refuses it unless all before it are there. Many messages are under
// way at a time. The first names the number of the subject's last message, and each other one the id of the message before it, which must then
// be the stream's last. After a refusal, a loss of the broker or an answer that does not come, the publisher asks for the last message of the
// subject, and sends those after it again: at first one, and then more and more, so that others may publish on other subjects of the stream.
type Publisher struct {
	at   address
	note func(string)
	ctx  context.Context // of Begin
	nc   *nats.Conn
	js   jetstream.JetStream
	to   jetstream.Stream

	inbox   string
	acks    chan *nats.Msg
	back    chan struct{} // the broker was lost, and is there again
	waiting []outgoing    // messages that the broker may not have, in their order
	sent    int           // of waiting
	limit   int           // the most that are under way
	epoch   int           // of messages under way; answers to those before do not count
	first   int           // the number of waiting[0] in the epoch
	last    uint64        // the number of the last message that the broker has
	known   string        // the id of the last message that the broker has
	reached uint64        // the number of the run's last message that the broker has
}

// outgoing is a message to be sent.
type outgoing struct {
	id   string
	data []byte
	seq  uint64 // its number, if the broker has it
}

// mostUnderWay is the largest number of messages under way.
const mostUnderWay = 2048

// NewPublisher returns the publisher of an address. The error is about the address.
func NewPublisher(u *url.URL, note func(string)) (watch.Publisher, error) {
	at, err := parse(u)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(at.path, "*>") {
		return nil, errors.New("changes go to one subject")
	}
	return &Publisher{at: at, note: note, back: make(chan struct{}, 1), limit: mostUnderWay}, nil
}

func (p *Publisher) wrong(err error) error { return fmt.Errorf("%s: %w", p.at.name, err) }

// Begin connects, and returns the id of the last message of the subject. The error wraps watch.ErrCheckpoint if the broker has lost messages up to
// length.
func (p *Publisher) Begin(ctx context.Context, _ string, length int64) (string, error) {
	p.ctx = ctx
	var err error
	p.nc, p.js, err = connect(ctx, p.at, p.note, func() {
		select {
		case p.back <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return "", p.wrong(err)
	}
	name, err := p.js.StreamNameBySubject(ctx, p.at.path)
	if err != nil {
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			err = fmt.Errorf("no stream takes the subject %s", p.at.path)
		}
		return "", p.wrong(err)
	}
	if p.to, err = p.js.Stream(ctx, name); err != nil {
		return "", p.wrong(err)
	}
	if c := p.to.CachedInfo().Config; c.Retention != jetstream.LimitsPolicy {
		return "", p.wrong(fmt.Errorf("the stream %s deletes messages that were read, so that after a restart the last change could not be told; want one that keeps them by limits", name))
	}
	if p.known, p.last, err = p.latest(ctx); err != nil {
		return "", p.wrong(err)
	}
	if length > 0 {
		p.reached = uint64(length) - 1
		if err := p.lost(name); err != nil {
			return "", p.wrong(err)
		}
	}
	p.inbox = nats.NewInbox()
	p.acks = make(chan *nats.Msg, 4*mostUnderWay)
	if _, err := p.nc.ChanSubscribe(p.inbox+".*.*", p.acks); err != nil {
		return "", p.wrong(err)
	}
	return p.known, nil
}

// lost is an error if the broker had messages of the run that it lost. A stream without a message of the subject, of which old messages may have
// been deleted, is none: it goes on with what comes after the checkpoint.
func (p *Publisher) lost(name string) error {
	switch end := p.to.CachedInfo().State.LastSeq; {
	case end < p.reached:
		return fmt.Errorf("%w: the stream %s ends with message %d, and message %d was sent: changes are lost, or it is another stream now; remove the folder of state to begin anew",
			watch.ErrCheckpoint, name, end, p.reached)
	case p.known != "" && p.last < p.reached:
		return fmt.Errorf("%w: the last change in the stream %s is message %d, and message %d was sent: changes are lost; remove the folder of state to begin anew",
			watch.ErrCheckpoint, name, p.last, p.reached)
	case p.known == "" && end > p.reached:
		p.note(p.at.name + ": the changes were deleted; those after the checkpoint come again")
	}
	return nil
}

// latest returns the id and the number of the last message of the subject. The id is "-" if the message has none, and "" if there is no message.
func (p *Publisher) latest(ctx context.Context) (id string, seq uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	m, err := p.to.GetLastMsgForSubject(ctx, p.at.path)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	if id = m.Header.Get(jetstream.MsgIDHeader); id == "" {
		id = "-"
	}
	return id, m.Sequence, nil
}

// Publish sends a message, when fewer than the most messages are under way.
func (p *Publisher) Publish(id string, data []byte) error {
	for len(p.waiting) >= mostUnderWay {
		if err := p.answer(); err != nil {
			return err
		}
	}
	p.waiting = append(p.waiting, outgoing{id: id, data: append([]byte(nil), data...)})
	p.send()
	for len(p.acks) > 0 { // those that are there
		if err := p.answer(); err != nil {
			return err
		}
	}
	return nil
}

// send sends messages up to the limit.
func (p *Publisher) send() {
	for p.sent < len(p.waiting) && p.sent < p.limit {
		o := &p.waiting[p.sent]
		m := nats.NewMsg(p.at.path)
		m.Data = o.data
		m.Reply = p.inbox + "." + strconv.Itoa(p.epoch) + "." + strconv.Itoa(p.first+p.sent)
		m.Header.Set(jetstream.MsgIDHeader, o.id)
		if p.sent == 0 {
			m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(p.last, 10))
		} else {
			m.Header.Set(jetstream.ExpectedLastMsgIDHeader, p.waiting[p.sent-1].id)
		}
		p.sent++
		if err := p.nc.PublishMsg(m); err != nil { // while the broker is lost; all is sent again when it is there
			return
		}
	}
}

// answer waits for an answer of the broker and does what follows from it.
func (p *Publisher) answer() error {
	limit, ended := ackTime, p.ctx.Done()
	if p.ctx.Err() != nil {
		limit, ended = parting, nil
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case m := <-p.acks:
		return p.take(m)
	case <-p.back:
		return p.resume()
	case <-ended:
		return nil // the caller may try for a while
	case <-timer.C:
		if p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
		return p.resume()
	}
}

// take takes an answer to a message.
func (p *Publisher) take(m *nats.Msg) error {
	rest, _ := strings.CutPrefix(m.Subject, p.inbox+".")
	epoch, number, _ := strings.Cut(rest, ".")
	i, err := strconv.Atoi(number)
	if i -= p.first; err != nil || epoch != strconv.Itoa(p.epoch) || i < 0 || i >= p.sent {
		return nil
	}
	var ack struct {
		Error *jetstream.APIError `json:"error"`
		Seq   uint64              `json:"seq"`
	}
	if m.Header.Get("Status") != "" { // no stream took it
		return p.resume()
	}
	if err := json.Unmarshal(m.Data, &ack); err != nil {
		return p.wrong(err)
	}
	if e := ack.Error; e != nil {
		if i == 0 && !slices.Contains(ordering, e.ErrorCode) {
			p.note(fmt.Sprintf("%s: the broker does not take a change: %s; trying again", p.at.name, e.Description))
			if err := p.rest(retryTime); err != nil {
				return err
			}
		}
		return p.resume()
	}
	p.waiting[i].seq = ack.Seq
	n := 0
	for n < p.sent && p.waiting[n].seq > 0 {
		p.known, p.last = p.waiting[n].id, p.waiting[n].seq
		p.reached = p.last
		n++
	}
	p.waiting = p.waiting[n:]
	p.sent -= n
	p.first += n
	p.limit = min(mostUnderWay, p.limit+n)
	p.send()
	return nil
}

// ordering are the refusals of messages that are not next.
var ordering = []jetstream.ErrorCode{
	jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant, 10070, // 10070 is about the last id
}

// rest waits for a time, or until the context ends.
func (p *Publisher) rest(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
}

// resume asks for the last message that the broker has, and sends those after it. It waits until the broker answers.
func (p *Publisher) resume() error {
	for attempt := 0; ; attempt++ {
		id, seq, err := p.latest(p.ctx)
		if err != nil {
			if attempt == 3 && p.nc.IsConnected() {
				p.note(fmt.Sprintf("%s: %v; trying again", p.at.name, err))
			}
			if err := pause(p.ctx, attempt); err != nil {
				return err
			}
			continue
		}
		n := 0
		for i := range p.waiting {
			if p.waiting[i].id == id {
				n = i + 1
			}
		}
		switch {
		case n > 0:
			p.waiting, p.known, p.reached = p.waiting[n:], id, seq
		case id != "" && id != p.known:
			return p.wrong(errors.New("another program publishes on this subject: changes would be lost or out of order"))
		case id == "" && p.known != "":
			p.known = ""
			p.note(p.at.name + ": the changes so far were deleted")
		}
		for i := range p.waiting {
			p.waiting[i].seq = 0
		}
		p.epoch++
		p.sent, p.first, p.last, p.limit = 0, 0, seq, 1
		p.send()
		return nil
	}
}

// Flush does nothing: messages are sent when they are published.
func (p *Publisher) Flush() error { return nil }

// Sync waits until the broker has all messages.
func (p *Publisher) Sync() error {
	var end time.Time
	for len(p.waiting) > 0 {
		if p.ctx.Err() != nil {
			if end.IsZero() {
				end = time.Now().Add(parting)
			}
			if time.Now().After(end) {
				return context.Cause(p.ctx)
			}
		}
		if err := p.answer(); err != nil {
			return err
		}
	}
	return nil
}

// Length is the number of the run's last message that the broker has, from 1 on, and one more. It is 0 before the first.
func (p *Publisher) Length() int64 {
	if p.reached == 0 {
		return 0
	}
	return int64(p.reached) + 1
}

// Close ends the connection.
func (p *Publisher) Close() error {
	if p.nc != nil {
		p.nc.Close()
	}
	return nil
}
