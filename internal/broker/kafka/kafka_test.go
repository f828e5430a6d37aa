package kafka

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// realVariable has the brokers of a real cluster, which tests use instead of a fake one where they need not stop brokers.
const realVariable = "WEFT_KAFKA"

// fake starts a cluster in this process.
func fake(t testing.TB, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// cluster returns the brokers of a real cluster, if there is one, or of a fake one.
func cluster(t testing.TB) string {
	t.Helper()
	if real := os.Getenv(realVariable); real != "" {
		return real
	}
	return strings.Join(fake(t).ListenAddrs(), ",")
}

// newTopic makes a topic with a new name, and returns its address.
func newTopic(t testing.TB, brokers string, partitions int32) string {
	t.Helper()
	c := newClient(t, brokers)
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "t"+rand.Text(), partitions, 1
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics, req.TimeoutMillis = append(req.Topics, topic), 60000
	resp, err := req.RequestWith(t.Context(), c)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
	return Scheme + "://" + brokers + "/" + topic.Topic
}

func newClient(t testing.TB, brokers string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append(options, kgo.SeedBrokers(strings.Split(brokers, ",")...), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// write writes values to a partition.
func write(t testing.TB, c *kgo.Client, address string, values ...string) {
	t.Helper()
	a, err := source(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if err := c.ProduceSync(t.Context(), &kgo.Record{Topic: a.topic, Partition: max(a.partition, 0), Value: []byte(v)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// source reads the address of a source.
func source(address string) (*address, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	return parse(u, true)
}

// open opens a log at an offset.
func open(t testing.TB, ctx context.Context, address string, offset int64, o options) (*topicLog, error) {
	t.Helper()
	a, err := source(address)
	if err != nil {
		return nil, err
	}
	l := newLog(ctx, a, o)
	t.Cleanup(func() { _ = l.Close() })
	return l, l.Begin(offset, 0)
}

func mustOpen(t testing.TB, address string, offset int64) *topicLog {
	t.Helper()
	l, err := open(t, t.Context(), address, offset, options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// rest reads a log to its end.
func rest(t testing.TB, l *topicLog) (all []string) {
	t.Helper()
	for before := int64(-1); ; {
		offset, value, err := l.Next()
		if err == io.EOF {
			return all
		}
		if err != nil || offset <= before {
			t.Fatalf("offset %d after %d, %v", offset, before, err)
		}
		before = offset
		all = append(all, string(value))
	}
}

func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLog: records come in the order of the topic, those of transactions that were not committed do not come, and a log goes on at any offset.
func TestLog(t *testing.T) {
	brokers := cluster(t)
	address := newTopic(t, brokers, 1)
	c := newClient(t, brokers)
	write(t, c, address, "a", "b\nc", "", "d")
	tx := newClient(t, brokers, kgo.TransactionalID("x"+rand.Text()))
	for i, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort, kgo.TryCommit, kgo.TryAbort} {
		if err := tx.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		write(t, tx, address, fmt.Sprintf("e%d", i), fmt.Sprintf("f%d", i))
		if err := tx.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a", "b\nc", "", "d", "e0", "f0", "e2", "f2"}
	same(t, "all", rest(t, mustOpen(t, address+"?end=now", 0)), want)
	same(t, "from offset 1", rest(t, mustOpen(t, address+"?end=now&offset=1", 0)), want[1:])
	same(t, "from offset 3, after 1", rest(t, mustOpen(t, address+"?end=now&offset=1", 3)), want[3:])
	l := mustOpen(t, address+"?end=now", 0)
	for i := range want {
		offset, value, err := l.Next()
		if err != nil || string(value) != want[i] {
			t.Fatalf("%s, %v; want %s", value, err, want[i])
		}
		same(t, fmt.Sprintf("after offset %d", offset), rest(t, mustOpen(t, address+"?end=now", offset+1)), want[i+1:])
	}

	// A transaction that is under way ends what can be read.
	if err := tx.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	write(t, tx, address, "g")
	write(t, c, address, "h")
	same(t, "before a transaction", rest(t, mustOpen(t, address+"?end=now", 0)), want)
	l = mustOpen(t, address, 0)
	for _, w := range want {
		if _, value, err := l.Next(); err != nil || string(value) != w {
			t.Fatalf("%s, %v; want %s", value, err, w)
		}
	}
	if err := tx.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
	if _, value, err := l.Next(); err != nil || string(value) != "h" {
		t.Errorf("after the transaction: %s, %v", value, err)
	}
}

// TestOpenErrors: each error names the address, the mistake and what would be right.
func TestOpenErrors(t *testing.T) {
	brokers := cluster(t)
	three, one := newTopic(t, brokers, 3), newTopic(t, brokers, 1)
	write(t, newClient(t, brokers), one, "+ 1 2")
	for _, c := range []struct{ address, says string }{
		{three, "the topic has 3 partitions, and Kafka keeps the order of records in each of them alone: choose one by ?partition=N"},
		{three + "?partition=3", "there is no partition 3: the topic has 3"},
		{Scheme + "://" + brokers + "/absent", "there is no such topic"},
		{one + "?offset=2", "the topic ends at offset 1, before offset 2"},
		{"kafka://127.0.0.1:1/t", "no broker answered: "},
		{one + "?ca=/absent", "no such file"},
		{one + "?sasl=plain", "needs the variables WEFT_KAFKA_USER and WEFT_KAFKA_PASSWORD"},
	} {
		o := options{}
		if c.address == "kafka://127.0.0.1:1/t" {
			o.patience = 2 * time.Second
		}
		_, err := open(t, t.Context(), c.address, 0, o)
		at, _, _ := strings.Cut(c.address, "?")
		if err == nil || !strings.HasPrefix(err.Error(), at+": ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", c.address, err, c.says)
		}
	}
	if _, err := open(t, t.Context(), one+"?offset=1&end=now", 0, options{}); err != nil {
		t.Errorf("the end of a topic: %v", err)
	}
}

// TestAddress reads addresses, and refuses others without their passwords.
func TestAddress(t *testing.T) {
	a, err := source("kafka://a,b:93,c:94/pay.in_1?partition=2&offset=7&end=now&sasl=scram-sha-256&ca=f")
	if err != nil || fmt.Sprint(*a) != "{[a:9092 b:93 c:94] pay.in_1 2 7 true {false false f  } scram-sha-256}" {
		t.Errorf("%v, %v", a, err)
	}
	for text, says := range map[string]string{
		"kafka:/a/t":                "is not a broker",
		"kafka://a":                 "is not a topic",
		"kafka://a,/t":              "is not a broker",
		"kafka:///t":                "is not a broker",
		"kafka://a:x/t":             "invalid port",
		"kafka://a:0/t":             "is not a broker",
		"kafka://a:1,/t":            "invalid port",
		"kafka://a/t/u":             "is not a topic",
		"kafka://u:secret@a/t":      "WEFT_KAFKA_PASSWORD",
		"kafka://a/t?partition=-1":  "want a number",
		"kafka://a/t?offset=x":      "want a number",
		"kafka://a/t?end=later":     "want now",
		"kafka://a/t?tls=maybe":     "want true or false",
		"kafka://a/t?ca=":           "want a file",
		"kafka://a/t?key=k.pem":     "key needs cert",
		"kafka://a/t?tls=0&ca=f":    "does not fit",
		"kafka://a/t?sasl=kerberos": "want plain, scram-sha-256 or scram-sha-512",
		"kafka://a/t?group=g":       "parameters are partition, sasl, tls, ca, cert, key, offset, end",
		"kafka://a/t?tls=1&tls=0":   "given twice",
	} {
		if _, err := source(text); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := target("kafka://a/t?offset=1"); err == nil || !strings.Contains(err.Error(), "is not a parameter") {
		t.Error(err)
	}
}

// TestGone: updates that the topic does not have any more are an error, and not passed over.
func TestGone(t *testing.T) {
	brokers := cluster(t)
	address := newTopic(t, brokers, 1)
	c := newClient(t, brokers)
	write(t, c, address, "+ 1 2", "+ 2 3", "+ 3 4")
	early := mustOpen(t, address, 0) // before
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Offset = 2
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic, topic.Partitions = address[strings.LastIndexByte(address, '/')+1:], append(topic.Partitions, p)
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Topics, req.TimeoutMillis = append(req.Topics, topic), 60000
	if _, err := req.RequestWith(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, t.Context(), address, 1, options{}); !errors.Is(err, errGone) || !strings.Contains(err.Error(), "the records from offset 1 on are lost") {
		t.Error(err)
	}
	if _, err := open(t, t.Context(), address, 4, options{}); !errors.Is(err, errGone) || !strings.Contains(err.Error(), "ends at offset 3, before offset 4") {
		t.Error(err)
	}
	if _, value, err := early.Next(); !errors.Is(err, errGone) || !strings.Contains(err.Error(), "does not have offset 0 any more") {
		t.Errorf("%s, %v", value, err)
	}
	if _, err := open(t, t.Context(), address+"?offset=1", 0, options{}); !errors.Is(err, errGone) {
		t.Error(err)
	}
	for read, want := range map[int64]string{2: "the records before offset 2 are to be read again", 4: "ends at offset 3, before offset 4", 3: ""} {
		a, err := source(address)
		if err != nil {
			t.Fatal(err)
		}
		l := newLog(t.Context(), a, options{})
		err = l.Begin(0, read)
		if want == "" && err != nil || want != "" && (!errors.Is(err, errGone) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d records were read: %v", read, err)
		}
		_ = l.Close()
	}
	same(t, "the rest", rest(t, mustOpen(t, address+"?end=now", 0)), []string{"+ 3 4"})
}

// TestStop: a log that waits ends with its context.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	l, err := open(t, ctx, newTopic(t, cluster(t), 1), 0, options{})
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	time.AfterFunc(20*time.Millisecond, func() { cancel(enough) })
	if _, _, err := l.Next(); err != enough {
		t.Error(err)
	}
}
