package boltserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/bolt"
)

// TestText: a text beyond the server's limit is not parsed, and no more texts are parsed at a time than there are cores.
func TestText(t *testing.T) {
	s := core(t, serve.Limits{Text: 100}, nil)
	u := user{New(s).(backend), serve.Anyone()}
	_, err := u.Run(t.Context(), bolt.Query{Graph: "karate", Text: "MATCH (" + strings.Repeat("(", 100)})
	var e *bolt.Error
	if !errors.As(err, &e) || e.Code != bolt.CodeArgument || e.Message != "the query has 107 bytes, and at most 100 are taken" {
		t.Error(err)
	}
	for range cap(u.parsing) {
		u.parsing <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := u.Run(ctx, bolt.Query{Graph: "karate", Text: "MATCH (a)--(b)"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-u.parsing
	r, err := u.Run(t.Context(), bolt.Query{Graph: "karate", Text: "MATCH (a)--(b)"})
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if len(u.parsing) != cap(u.parsing)-1 {
		t.Error("a text is still being parsed")
	}
}

// TestSecrets: paths of files are in the log, and not in what clients see.
func TestSecrets(t *testing.T) {
	_, unread := weft.Open(t.Context(), "/secret/graph.weft")
	if !errors.Is(unread, weft.ErrInput) || !strings.Contains(unread.Error(), "/secret") {
		t.Fatal(unread)
	}
	for _, err := range []error{unread, errors.New("no device at /secret"), fmt.Errorf("a spilled file: %w", unread)} {
		var log bytes.Buffer
		got := translated(err, "", slog.New(slog.NewTextHandler(&log, nil)))
		var e *bolt.Error
		if !errors.As(got, &e) || e.Code != bolt.CodeExecution || strings.Contains(e.Message, "secret") {
			t.Error(got)
		}
		if text, _ := serve.Message(err); e.Message != text {
			t.Errorf("%q, and over HTTP %q", e.Message, text)
		}
		if !strings.Contains(log.String(), "/secret") {
			t.Errorf("the log has %q", log.String())
		}
	}
}

// TestParticipationTurn: the rows of a participation are sent while the query has its turn, and another query waits for the last one.
func TestParticipationTurn(t *testing.T) {
	s := core(t, serve.Limits{Running: 1}, nil)
	u := user{New(s).(backend), serve.Anyone()}
	run := func(text string) bolt.Result {
		r, err := u.Run(t.Context(), bolt.Query{Graph: "karate", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		return r
	}
	first, second := run("MATCH (a)--(b) RETURN participation(a)"), run("MATCH (a)--(b) RETURN count(*)")
	if more, err := first.Next(); !more || err != nil {
		t.Fatal(more, err)
	}
	answered := make(chan bool, 1)
	go func() {
		more, err := second.Next()
		answered <- more && err == nil
	}()
	for rows := 1; ; rows++ {
		if len(answered) > 0 {
			t.Fatal("another query has had its turn")
		}
		more, err := first.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			if rows != 34 {
				t.Errorf("%d rows", rows)
			}
			break
		}
	}
	if !<-answered {
		t.Error("the other query has no answer")
	}
}

// TestStatementTime: statements without a pattern have the limits of the server and of the user.
func TestStatementTime(t *testing.T) {
	who := serve.Anyone()
	for _, test := range []struct {
		limits  serve.Limits
		seconds float64
		want    time.Duration
	}{
		{serve.Limits{}, 0, 0}, {serve.Limits{Time: time.Second}, 0, time.Second}, {serve.Limits{Time: time.Minute, Planning: 10 * time.Second}, 0, 10 * time.Second},
		{serve.Limits{Time: time.Minute}, 2, 2 * time.Second},
	} {
		s := serve.New(serve.Options{Catalog: serve.NewCatalog(serve.CatalogOptions{}), Limits: test.limits})
		who.Seconds = test.seconds
		if got := (user{New(s).(backend), who}).StatementTime(); got != test.want {
			t.Errorf("%+v, %v s: %v, want %v", test.limits, test.seconds, got, test.want)
		}
	}
}
