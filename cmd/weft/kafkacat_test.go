package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestWatchKafkaOfOthers: another implementation of Kafka's clients, librdkafka, writes the updates that weft reads, compressed in each way, and reads
// the changes that weft has committed.
func TestWatchKafkaOfOthers(t *testing.T) {
	kcat, err := exec.LookPath("kcat")
	if err != nil {
		t.Skip("kcat is not installed")
	}
	g, u := watchFiles(t, t.TempDir(), 2000)
	args := func(source string, rest ...string) []string {
		return append([]string{"watch", "-g", g, "--source", source, "--on-error", "skip", "--pattern", "triangle", "--present", "--progress", "none", "--batch", "16"}, rest...)
	}
	whole, err := command(t, args(u)...).Output()
	if err != nil || len(whole) == 0 {
		t.Fatal(err)
	}
	updates, err := os.ReadFile(u)
	if err != nil {
		t.Fatal(err)
	}
	for _, compression := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		brokers, topics := kafkaTopics(t, "updates", "changes")
		ask := func(input string, args ...string) string {
			c := exec.CommandContext(t.Context(), kcat, append([]string{"-b", brokers, "-q"}, args...)...)
			c.Stdin = strings.NewReader(input)
			var errs strings.Builder
			c.Stderr = &errs
			out, err := c.Output()
			if err != nil {
				t.Fatalf("kcat %v: %v: %s", args, err, errs.String())
			}
			return string(out)
		}
		ask(string(updates), "-P", "-t", topicOf(topics[0]), "-z", compression)
		if code, said := ended(t, args(topics[0]+"?end=now", "--sink", topics[1])...); code != exitOK {
			t.Fatalf("exit %d: %s", code, said)
		}
		if got := ask("", "-C", "-t", topicOf(topics[1]), "-o", "beginning", "-e", "-X", "isolation.level=read_committed"); got != string(whole) {
			t.Errorf("%s: %d bytes of changes, and %d of a file's", compression, len(got), len(whole))
		}
	}
}
