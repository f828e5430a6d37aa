package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftgraph/weft/internal/testing/long"
)

// kafkaTopics returns the addresses of new topics of one partition: in the real cluster of WEFT_KAFKA, or else in one inside this process.
func kafkaTopics(t *testing.T, names ...string) (brokers string, addresses []string) {
	t.Helper()
	if brokers = os.Getenv("WEFT_KAFKA"); brokers == "" {
		c, err := kfake.NewCluster(kfake.NumBrokers(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		brokers = strings.Join(c.ListenAddrs(), ",")
	}
	c := kafkaClient(t, brokers)
	for _, name := range names {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = fmt.Sprintf("%s-%x", name, rand.Uint64()), 1, 1
		req := kmsg.NewPtrCreateTopicsRequest()
		req.Topics, req.TimeoutMillis = append(req.Topics, topic), 60000
		resp, err := req.RequestWith(t.Context(), c)
		if err == nil {
			err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
		}
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, "kafka://"+brokers+"/"+topic.Topic)
	}
	return brokers, addresses
}

func kafkaClient(t *testing.T, brokers string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append(options, kgo.SeedBrokers(strings.Split(brokers, ",")...))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func topicOf(address string) string { return address[strings.LastIndexByte(address, '/')+1:] }

// fill writes lines into a topic, some of them together in a record.
func fill(t *testing.T, c *kgo.Client, address string, lines []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(4, uint64(len(lines))))
	var records []*kgo.Record
	for len(lines) > 0 {
		n := min(len(lines), 1+r.IntN(5)*r.IntN(2))
		records = append(records, &kgo.Record{Topic: topicOf(address), Value: []byte(strings.Join(lines[:n], "\n"))})
		lines = lines[n:]
	}
	if err := c.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// changes are the committed records of a topic, up to one that says stop.
func changes(t *testing.T, brokers, address string) string {
	t.Helper()
	fill(t, kafkaClient(t, brokers), address, []string{"stop"})
	c := kafkaClient(t, brokers, kgo.ConsumeTopics(topicOf(address)), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	var b strings.Builder
	for {
		got := c.PollFetches(t.Context())
		if err := got.Err(); err != nil {
			t.Fatal(err)
		}
		for r := range got.RecordsAll() {
			if string(r.Value) == "stop" {
				return b.String()
			}
			fmt.Fprintf(&b, "%s\n", r.Value)
		}
	}
}

// TestWatchKafkaKilled: from a topic into a topic, a process that is killed again and again loses no update and repeats no change. Readers see the
// changes of one that is not killed, in its order.
func TestWatchKafkaKilled(t *testing.T) {
	kills, n, most := long.Rounds(4, 100), long.Rounds(4000, 80000), long.Rounds(300, 550)
	dir := t.TempDir()
	g, u := watchFiles(t, dir, n)
	args := func(source string, rest ...string) []string {
		return append([]string{
			"watch", "-g", g, "--source", source, "--on-error", "skip", "--pattern", "triangle", "--pattern", "cycle(4)", "--present", "--progress", "none", "--batch", "16",
		}, rest...)
	}
	whole, err := command(t, args(u)...).Output()
	if err != nil || len(whole) == 0 {
		t.Fatal(err)
	}
	brokers, topics := kafkaTopics(t, "updates", "changes")
	text, err := os.ReadFile(u)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, kafkaClient(t, brokers), topics[0], strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"))
	killed := 0
	for done := false; !done; {
		c := command(t, args(topics[0]+"?end=now", "--sink", topics[1], "--state", filepath.Join(dir, "state"), "--checkpoint", "20ms", "--snapshot", "700")...)
		var said bytes.Buffer
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		var kill <-chan time.Time
		if killed < kills {
			kill = time.After(time.Duration(rand.IntN(most)) * time.Millisecond)
		}
		select {
		case <-kill:
			_ = c.Process.Kill()
			if <-ended != nil {
				killed++
			}
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, said.String())
			}
			done = true
		}
	}
	if got := changes(t, brokers, topics[1]); got != string(whole) {
		a, b := strings.Split(got, "\n"), strings.Split(string(whole), "\n")
		i := 0
		for i < min(len(a), len(b))-1 && a[i] == b[i] {
			i++
		}
		t.Errorf("after %d kills there are %d changes, and %d without; the first that differs is %d:\n%s\nwant\n%s", killed, len(a), len(b), i, a[i], b[i])
	}
	t.Logf("killed %d times", killed)
}

// TestWatchKafkaWaits: weft waits for updates, writes changes when they come, and holds back what a sink does not take. An interrupt ends it, and the
// same command continues.
func TestWatchKafkaWaits(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"g.txt": "1 2\n2 3\n"})
	brokers, topics := kafkaTopics(t, "updates", "changes")
	c := kafkaClient(t, brokers)
	watch := func(ctx context.Context, source string) chan error {
		done := make(chan error, 1)
		go func() {
			said := &shared{}
			args := []string{"watch", "-g", filepath.Join(dir, "g.txt"), "--source", source, "--pattern", "triangle", "--sink", topics[1], "--state", filepath.Join(dir, "state"), "--progress", "none"}
			code := run(ctx, args, nil, said, said)
			done <- fmt.Errorf("exit %d: %s", code, said.String())
		}()
		return done
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := watch(ctx, topics[0])
	reader := kafkaClient(t, brokers, kgo.ConsumeTopics(topicOf(topics[1])), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	want := []string{
		`{"seq":1,"query":"triangle","op":"+","match":{"v0":1,"v1":2,"v2":3}}`, `{"seq":2,"query":"triangle","op":"-","match":{"v0":1,"v1":2,"v2":3}}`,
		`{"seq":3,"query":"triangle","op":"+","match":{"v0":1,"v1":2,"v2":3}}`, `{"seq":4,"query":"triangle","op":"-","match":{"v0":1,"v1":2,"v2":3}}`,
	}
	see := func(line string) {
		t.Helper()
		for {
			got := reader.PollRecords(t.Context(), 1)
			if err := got.Err(); err != nil {
				t.Fatal(err)
			}
			if rs := got.Records(); len(rs) > 0 {
				if string(rs[0].Value) != line {
					t.Fatalf("%s, want %s", rs[0].Value, line)
				}
				return
			}
		}
	}
	for i, update := range []string{"+ 1 3", "- 1 2"} {
		fill(t, c, topics[0], []string{update})
		see(want[i])
	}
	cancel(errInterrupted)
	if err := <-done; !strings.HasPrefix(err.Error(), fmt.Sprintf("exit %d: ", exitInterrupted)) || !strings.Contains(err.Error(), "interrupted after update 2") {
		t.Error(err)
	}
	fill(t, c, topics[0], []string{"+ 1 2", "- 2 3"})
	if err := <-watch(t.Context(), topics[0]+"?end=now"); err.Error() != "exit 0: weft: continued after update 2\n" {
		t.Fatal(err)
	}
	see(want[2])
	see(want[3])
}

// TestWatchKafkaErrors: mistakes in addresses, topics that do not fit, and mistakes in updates have their exit codes and places.
func TestWatchKafkaErrors(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"g.txt": "1 2\n2 3\n"})
	brokers, topics := kafkaTopics(t, "updates", "changes")
	in, out := topics[0], topics[1]
	fill(t, kafkaClient(t, brokers), in, []string{"+ 1 3"})
	fill(t, kafkaClient(t, brokers), in, []string{"+ 1"})
	fill(t, kafkaClient(t, brokers), in, []string{"- 1 3"})
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--source", in + "?end=now"}, exitInput, in + ", message 1:1:1: wrong number of fields"},
		{[]string{"--source", in + "?end=now", "--on-error", "skip"}, 0, "1 passed over: malformed"},
		{[]string{"--source", in + "?end=now&offset=2"}, 0, ""},
		{[]string{"--source", in + "?offset=9"}, exitInput, in + ": records are gone: the topic ends at offset 3, before offset 9"},
		{[]string{"--source", in + "x"}, exitInput, in + "x: there is no such topic"},
		{[]string{"--source", "kafka://127.0.0.1:1/t"}, exitInput, "kafka://127.0.0.1:1/t: no broker answered: "},
		{[]string{"--source", "kafka://127.0.0.1"}, exitUsage, "want kafka://HOST:PORT/TOPIC"},
		{[]string{"--source", in + "?end=now", "--sink", out + "?end=now"}, exitUsage, "end=now: it is not a parameter"},
		{[]string{"--source", in + "?end=now", "--sink", out + "x"}, exitFailure, out + "x: there is no such topic"},
		{[]string{"--source", in + "?end=now", "--sink", out, "--to", "csv"}, exitUsage, "gets changes as ndjson, and not as csv"},
		{[]string{"--source", in + "?end=now", "--sink", out, "--sink", out}, exitUsage, "two outputs are " + out},
	} {
		code, said := weftIn(t, dir, slices.Concat([]string{"watch", "-g", "@g.txt", "--pattern", "triangle", "--progress", "none"}, c.args)...)
		if code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%q: exit %d: %s", c.args, code, said)
		}
	}
}
