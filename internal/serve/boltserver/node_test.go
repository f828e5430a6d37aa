package boltserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"

	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/bolt"
	"github.com/weftgraph/weft/internal/testing/certificate"
)

// people are users of a server: ann reads all graphs, and bob karate.
func people(t testing.TB) *serve.Users {
	t.Helper()
	u, err := serve.NewUsers([]serve.Account{
		{User: "ann", Hash: serve.HashSecret("secret"), Rights: serve.Rights{Graphs: []string{"*"}}},
		{User: "bob", Hash: serve.HashSecret("hidden"), Rights: serve.Rights{Graphs: []string{"karate"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestTLS: encrypted connections with users, by the Go driver. A connection that is not encrypted, or a client without the right password, is refused.
func TestTLS(t *testing.T) {
	s := core(t, serve.Limits{}, people(t))
	own := certificate.Valid(t)
	_, address := listen(t, s, bolt.Options{TLS: &tls.Config{Certificates: []tls.Certificate{own.Pair}}})
	trust := func(c *config.Config) { c.TlsConfig = &tls.Config{RootCAs: own.Pool} }
	for _, scheme := range []string{"bolt+s://", "neo4j+s://"} {
		d := driver(t, scheme+address, neo4j.BasicAuth("bob", "hidden", ""), trust)
		records, _, err := ask(t, d, "", "MATCH (a)--(b) RETURN count(*)", nil)
		if err != nil || records[0].Values[0] != int64(156) {
			t.Error(scheme, err)
		}
		if _, _, err := ask(t, d, "social", "RETURN 1", nil); !neo4jCode(err, bolt.CodeNoDatabase) {
			t.Errorf("a graph that bob may not read: %v", err)
		}
	}
	for _, auth := range []neo4j.AuthToken{neo4j.BasicAuth("bob", "wrong", ""), neo4j.NoAuth(), neo4j.KerberosAuth("x"), neo4j.BearerAuth("weft_x_y")} {
		if err := driver(t, "bolt+s://"+address, auth, trust).VerifyConnectivity(t.Context()); !neo4jCode(err, bolt.CodeUnauthorized) {
			t.Errorf("%v: %v", auth, err)
		}
	}
	quick := func(c *config.Config) { c.SocketConnectTimeout = 5 * time.Second }
	if err := driver(t, "bolt://"+address, neo4j.BasicAuth("bob", "hidden", ""), quick).VerifyConnectivity(t.Context()); err == nil {
		t.Error("a connection without encryption was taken")
	}
	var last error
	for range 20 {
		last = driver(t, "bolt+s://"+address, neo4j.BasicAuth("bob", "wrong", ""), trust).VerifyConnectivity(t.Context())
	}
	if !neo4jCode(last, bolt.CodeRateLimit) {
		t.Errorf("after many attempts: %v", last)
	}
}

func neo4jCode(err error, code string) bool {
	e, ok := err.(*neo4j.Neo4jError)
	return ok && e.Code == code
}

// installed is a folder with the JavaScript driver, which npm installs once for each lock file.
func installed(t *testing.T) string {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata", "node", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	manifest, lock := read("package.json"), read("package-lock.json")
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256(bytes.Join([][]byte{manifest, lock}, nil))
	folder := filepath.Join(cache, "weft-tests", "node-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(folder); err != nil {
		if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
			t.Fatal(err)
		}
		temp, err := os.MkdirTemp(filepath.Dir(folder), "new-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(temp)
		for name, text := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
			if err := os.WriteFile(filepath.Join(temp, name), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		npm.Dir = temp
		if out, err := npm.CombinedOutput(); err != nil {
			t.Fatalf("npm ci: %v\n%s", err, out)
		}
		if err := os.Rename(temp, folder); err != nil {
			if _, there := os.Stat(folder); there != nil { // another test was first
				t.Fatal(err)
			}
		}
	}
	return folder
}

// TestNode runs the official JavaScript driver, with and without users and encryption.
func TestNode(t *testing.T) {
	folder := installed(t)
	run := func(args ...string) { runNode(t, folder, "test.mjs", args...) }
	_, plain := listen(t, core(t, serve.Limits{}, nil), bolt.Options{})
	run(plain, "", "", "")
	own := certificate.Valid(t)
	file := filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(file, own.PEM, 0o600); err != nil {
		t.Fatal(err)
	}
	_, secret := listen(t, core(t, serve.Limits{}, people(t)), bolt.Options{TLS: &tls.Config{Certificates: []tls.Certificate{own.Pair}}})
	run(secret, "ann", "secret", own.CertFile)
}

// TestNodeWebSocket runs the official JavaScript driver as browsers have it, over a WebSocket of Node.
func TestNodeWebSocket(t *testing.T) {
	folder := installed(t)
	_, address := listen(t, core(t, serve.Limits{}, nil), bolt.Options{Origins: []string{"http://localhost:7474"}})
	runNode(t, folder, "web.mjs", address, "http://localhost:7474")
}

// runNode runs a script of testdata, next to node_modules, where node looks for packages.
func runNode(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("testdata", "node", name))
	if err != nil {
		t.Fatal(err)
	}
	temp, err := os.CreateTemp(folder, "test-*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(temp.Name())
	if _, err := temp.Write(script); err != nil {
		t.Fatal(err)
	}
	temp.Close()
	out, err := exec.CommandContext(t.Context(), "node", append([]string{"--experimental-websocket", temp.Name()}, args...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
	t.Logf("%s", out)
}

// TestUsersAgain: a session has the rights of a new file of users at its next message, and ends if its user was removed.
func TestUsersAgain(t *testing.T) {
	hash := serve.HashSecret("secret")
	first, err := serve.NewUsers([]serve.Account{{User: "ann", Hash: hash, Rights: serve.Rights{Graphs: []string{"*"}}}})
	if err != nil {
		t.Fatal(err)
	}
	s := core(t, serve.Limits{}, first)
	_, address := listen(t, s, bolt.Options{})
	ctx := t.Context()
	d := driver(t, "bolt://"+address, neo4j.BasicAuth("ann", "secret", ""))
	session := d.NewSession(ctx, neo4j.SessionConfig{DatabaseName: "social"})
	defer session.Close(context.Background())
	tx, err := session.BeginTransaction(ctx)
	if err != nil {
		t.Fatal(err)
	}
	account := serve.Account{User: "ann", Hash: hash, Rights: serve.Rights{Graphs: []string{"karate"}}}
	other, err := serve.NewUsers([]serve.Account{account})
	if err != nil {
		t.Fatal(err)
	}
	s.SetUsers(other)
	if r, err := tx.Run(ctx, "MATCH (a)-[e]->(b) RETURN e", nil); err == nil {
		if _, err = r.Collect(ctx); !neo4jCode(err, bolt.CodeNoDatabase) {
			t.Errorf("a graph that ann may not read any more: %v", err)
		}
	} else if !neo4jCode(err, bolt.CodeNoDatabase) {
		t.Errorf("a graph that ann may not read any more: %v", err)
	}
	if _, _, err := ask(t, d, "karate", "MATCH (a)--(b) RETURN count(*)", nil); err != nil {
		t.Error(err)
	}
	account.User = "eve"
	if other, err = serve.NewUsers([]serve.Account{account}); err != nil {
		t.Fatal(err)
	}
	s.SetUsers(other)
	if _, _, err := ask(t, d, "karate", "MATCH (a)--(b) RETURN count(*)", nil); !neo4jCode(err, bolt.CodeUnauthorized) {
		t.Errorf("a user that was removed: %v", err)
	}
}
