package kafka

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/weftgraph/weft/internal/vfs"
)

// options are those of logs and sinks.
type options struct {
	// patience is how long the first answer of a broker may take. 0 means 10 seconds.
	patience time.Duration
	// note is called with remarks about brokers that are lost and come back, by other goroutines. It may be nil.
	note func(string)
}

// Variables of the environment that have the login of address.sasl.
const (
	userVariable     = "WEFT_KAFKA_USER"
	passwordVariable = "WEFT_KAFKA_PASSWORD"
)

// client talks to the brokers of a topic.
type client struct {
	*kgo.Client
	a         *address
	o         *options
	partition int32
	lost      *brokers
}

// dial connects to the brokers, and finds the partition.
func dial(ctx context.Context, a *address, o *options, lost *brokers, more ...kgo.Opt) (*client, error) {
	within, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	lost.begin(giveUp)
	defer lost.begin(nil)
	c := &client{a: a, o: o, lost: lost}
	options := []kgo.Opt{
		kgo.SeedBrokers(a.brokers...), kgo.ClientID("weft"), kgo.DisableClientMetrics(), kgo.WithHooks(lost), kgo.MetadataMinAge(250 * time.Millisecond),
	}
	secure, err := a.secure(vfs.From(ctx))
	if err != nil {
		return nil, err
	}
	if c.Client, err = kgo.NewClient(append(append(options, secure...), more...)...); err != nil {
		return nil, err
	}
	if err := c.findPartition(within); err != nil {
		c.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return c, nil
}

// secure returns the options of TLS and of the login.
func (a *address) secure(files vfs.FS) (options []kgo.Opt, err error) {
	conf, err := a.tls.Config(files)
	if err != nil {
		return nil, err
	}
	if conf != nil {
		options = append(options, kgo.DialTLSConfig(conf))
	}
	if a.sasl == "" {
		return options, nil
	}
	user, password := os.Getenv(userVariable), os.Getenv(passwordVariable)
	if user == "" || password == "" {
		return nil, fmt.Errorf("sasl=%s needs the variables %s and %s of the environment", a.sasl, userVariable, passwordVariable)
	}
	switch a.sasl {
	case plainLogin:
		options = append(options, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
	case scram256Login:
		options = append(options, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha256Mechanism()))
	case scram512Login:
		options = append(options, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha512Mechanism()))
	}
	return options, nil
}

// patience returns a context of the first answers.
func (c *client) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, cmp.Or(c.o.patience, 10*time.Second))
}

// unanswered explains an error of a request within patience.
func (c *client) unanswered(outer context.Context, err error) error {
	last := c.lost.last()
	switch {
	case outer.Err() != nil:
		return context.Cause(outer)
	case last == nil || errors.As(err, new(*kerr.Error)):
		return err
	}
	return fmt.Errorf("no broker answered: %w", last)
}

// errClosed explains an EOF.
var errClosed = errors.New("the broker closed the connection, as it does if the login is wrong, or if not both sides use TLS")

// hopeless returns an error of a connection that will not pass, with an explanation, or nil.
func hopeless(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return errClosed
	case errors.As(err, new(*tls.CertificateVerificationError)), errors.As(err, new(tls.RecordHeaderError)), errors.Is(err, kerr.SaslAuthenticationFailed),
		errors.Is(err, kerr.UnsupportedSaslMechanism):
		return err
	}
	return nil
}

var errNoTopic = errors.New("there is no such topic")

// findPartition asks which partitions the topic has, and finds the one of the address.
func (c *client) findPartition(outer context.Context) error {
	ctx, cancel := c.patience(outer)
	defer cancel()
	for {
		req := kmsg.NewPtrMetadataRequest()
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(c.a.topic)
		req.Topics = append(req.Topics, topic)
		resp, err := req.RequestWith(ctx, c.Client)
		if err != nil {
			return c.unanswered(outer, err)
		}
		if len(resp.Topics) != 1 {
			return fmt.Errorf("the broker answered with %d topics, not 1", len(resp.Topics))
		}
		t := resp.Topics[0]
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			return errNoTopic
		case err == nil:
			return c.choose(len(t.Partitions))
		case !kerr.IsRetriable(err):
			return err
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return c.unanswered(outer, err)
		}
	}
}

// choose takes the partition of the address, or the only one.
func (c *client) choose(n int) error {
	switch {
	case c.a.partition >= int32(n):
		return fmt.Errorf("there is no partition %d: the topic has %d", c.a.partition, n)
	case c.a.partition >= 0:
		c.partition = c.a.partition
	case n > 1:
		return fmt.Errorf("the topic has %d partitions, and Kafka keeps the order of records in each of them alone: choose one by ?partition=N, or take a topic of one partition", n)
	}
	return nil
}

// bound is an end of a partition.
type bound int64

const (
	first bound = -2
	last  bound = -1
)

// bound asks where a partition begins or ends. An end of committed records is before all transactions that are under way.
func (c *client) bound(outer context.Context, which bound, committed bool) (int64, error) {
	ctx, cancel := c.patience(outer)
	defer cancel()
	for {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = c.partition, int64(which)
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic, t.Partitions = c.a.topic, append(t.Partitions, p)
		req := kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID, req.Topics = -1, append(req.Topics, t)
		if committed {
			req.IsolationLevel = 1
		}
		resp, err := req.RequestWith(ctx, c.Client)
		switch {
		case err != nil:
			return 0, c.unanswered(outer, err)
		case len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1:
			return 0, errors.New("the broker did not say where the partition ends")
		}
		got := &resp.Topics[0].Partitions[0]
		err = kerr.ErrorForCode(got.ErrorCode)
		if err == nil {
			return got.Offset, nil
		}
		if !kerr.IsRetriable(err) {
			return 0, err
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return 0, c.unanswered(outer, err)
		}
	}
}

// sleep waits, and returns the cause of a context that ends before.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// brokers tells of brokers that cannot be reached, and of those that can be reached again. It is a hook of clients.
type brokers struct {
	note func(string)

	mu     sync.Mutex
	giveUp context.CancelCauseFunc // of the attempt to connect that is under way; nil: there is none
	known  bool                    // there was an attempt that succeeded
	off    map[string]bool         // by address
	err    error                   // the latest
}

// begin begins an attempt to connect, which ends with giveUp if an error will not pass. nil is the end of the attempt.
func (b *brokers) begin(giveUp context.CancelCauseFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.giveUp = giveUp
	b.known = b.known || giveUp == nil && b.err == nil
}

// OnBrokerConnect is called after each attempt to connect to one broker.
func (b *brokers) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if errors.Is(err, context.Canceled) {
		return // of the end of a client
	}
	if text := b.connected(net.JoinHostPort(meta.Host, fmt.Sprint(meta.Port)), err); text != "" && b.note != nil {
		b.note(text)
	}
}

// connected takes note of an attempt to connect, and returns what is to be said about it.
func (b *brokers) connected(name string, err error) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.off == nil {
		b.off = map[string]bool{}
	}
	was := b.off[name]
	b.off[name], b.err = err != nil, err
	if err := hopeless(err); err != nil && b.giveUp != nil {
		b.giveUp(err)
	}
	switch {
	case !b.known || was == (err != nil):
		return ""
	case err != nil:
		return fmt.Sprintf("Kafka's broker %s cannot be reached: %v; weft goes on trying", name, err)
	}
	return fmt.Sprintf("Kafka's broker %s can be reached again", name)
}

// last returns why the latest attempt failed, or nil.
func (b *brokers) last() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
