package nats

import (
	"crypto/tls"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/weftgraph/weft/internal/testing/certificate"
	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// serve starts a server with a stream of one message, which the options of a client may publish.
func serve(t *testing.T, o *server.Options, client ...nats.Option) *broker {
	t.Helper()
	b := &broker{t: t, dir: t.TempDir(), port: server.RANDOM_PORT, o: o}
	b.start()
	t.Cleanup(b.stop)
	b.publish(b.stream(jetstream.StreamConfig{Name: "updates"}, client...), "updates", 0, 1)
	return b
}

// attempt reads the message, by an address that begins with user@ and ends with parameters.
func (b *broker) attempt(t *testing.T, user, parameters string) error {
	t.Helper()
	u, err := url.Parse(strings.Replace(b.url("updates").String(), "nats://", "nats://"+user, 1) + parameters)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLog(t.Context(), u, func(string) {})
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	if err := l.Begin(0, 0); err != nil {
		return err
	}
	expect(t, l, 0, 1)
	p, err := NewPublisher(u, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	_, err = p.Begin(t.Context(), "", 0)
	return err
}

func (b *broker) says(t *testing.T, user, parameters, says string) {
	t.Helper()
	if err := b.attempt(t, user, parameters); (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret")) {
		t.Errorf("%s %s: %v, want %q", user, parameters, err, says)
	}
}

// TestPassword: a user and a password, and a token, stand in the address or in the environment, right and wrong. No error has them.
func TestPassword(t *testing.T) {
	b := serve(t, &server.Options{Username: "ann", Password: "secret"}, nats.UserInfo("ann", "secret"))
	b.says(t, "ann:secret@", "", "")
	b.says(t, "", "", "Authorization")
	b.says(t, "ann:secrets@", "", "Authorization")
	t.Setenv(userVariable, "ann")
	t.Setenv(passwordVariable, "secret")
	b.says(t, "", "", "")
	b.says(t, "bob:secret@", "", "Authorization")
	b.says(t, "ann@", "", "")
	t.Setenv(tokenVariable, "secret")
	b.says(t, "", "", "two logins")
	t.Setenv(userVariable, "")
	t.Setenv(tokenVariable, "")
	b.says(t, "", "", "no WEFT_NATS_USER")
	t.Setenv(passwordVariable, "")

	b = serve(t, &server.Options{Authorization: "secret"}, nats.Token("secret"))
	b.says(t, "", "", "Authorization")
	b.says(t, "secrets@", "", "Authorization")
	b.says(t, "secret@", "", "")
	t.Setenv(tokenVariable, "secret")
	b.says(t, "", "", "")
	t.Setenv(tokenVariable, "secrets")
	b.says(t, "", "", "Authorization")
}

// TestEncrypted: connections by TLS, with an authority that the client knows or not, and with a certificate of the client's.
func TestEncrypted(t *testing.T) {
	own := certificate.Valid(t)
	cert, key, other := own.CertFile, own.KeyFile, certificate.Valid(t).CertFile
	conf := &tls.Config{Certificates: []tls.Certificate{own.Pair}, MinVersion: tls.VersionTLS12}
	b := serve(t, &server.Options{TLSConfig: conf, TLSTimeout: 30}, nats.RootCAs(cert))
	b.says(t, "", "?ca="+cert, "")
	b.says(t, "", "?tls=true", "certificate")
	b.says(t, "", "", "certificate")
	b.says(t, "", "?ca="+other, "certificate")
	b.says(t, "", "?ca="+key, "no certificate")
	b.says(t, "", "?ca="+cert+"x", "cert.pemx")

	mutual := conf.Clone()
	mutual.ClientCAs, mutual.ClientAuth = own.Pool, tls.RequireAndVerifyClientCert
	b = serve(t, &server.Options{TLSConfig: mutual, TLSTimeout: 30}, nats.RootCAs(cert), nats.ClientCert(cert, key))
	b.says(t, "", "?ca="+cert+"&cert="+cert+"&key="+key, "")
	b.says(t, "", "?ca="+cert, "tls") // that a certificate is required, or that the connection was closed
	b.says(t, "", "?ca="+cert+"&cert="+cert, cert)
	b.says(t, "", "?ca="+cert+"&cert="+other+"&key="+key, "private key does not match")
	both := filepath.Join(t.TempDir(), "both.pem")
	write(t, both, append(read(t, cert), read(t, key)...))
	b.says(t, "", "?ca="+cert+"&cert="+both, "")

	plain := serve(t, &server.Options{})
	plain.says(t, "", "?ca="+cert, "secure connection")
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestCredentials: a file of credentials logs in, also when it was replaced while the broker was away; and whichever operation on it fails, there
// is a connection, or an error that gives the cause and names the file.
func TestCredentials(t *testing.T) {
	o, issue := accounts(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "ann.creds")
	write(t, file, issue(t, time.Hour))
	b := serve(t, o, nats.UserCredentials(file))
	b.says(t, "", "?creds="+file, "")
	b.says(t, "", "", "Authorization")
	b.says(t, "ann:secret@", "?creds="+file, "two logins")
	b.says(t, "", "?creds="+file+"x", "ann.credsx")
	junk := filepath.Join(dir, "junk.creds")
	write(t, junk, []byte("junk"))
	b.says(t, "", "?creds="+junk, "junk.creds: no seed of a user")

	// One that ends while the log is read: the server closes the connection, and the next one reads the file again.
	write(t, file, issue(t, 3*time.Second))
	u := b.url("updates")
	u.RawQuery = "creds=" + file
	lost := make(chan bool, 100)
	l, err := NewLog(t.Context(), u, func(text string) {
		if strings.Contains(text, "is lost") {
			lost <- true
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if err := l.Begin(0, 0); err != nil {
		t.Fatal(err)
	}
	expect(t, l, 0, 1)
	write(t, file, issue(t, time.Hour))
	<-lost
	b.publish(b.client(nats.UserCredentials(file)), "updates", 1, 2)
	expect(t, l, 1, 2)

	failed := 0
	errorfs.Each(t, errorfs.Fault{Kinds: errorfs.Open | errorfs.Read, Err: syscall.EIO}, []string{dir}, func(fsys *errorfs.FS) {
		l, err := NewLog(vfs.With(t.Context(), fsys), u, func(string) {})
		if err == nil {
			err = l.Begin(0, 0)
			_ = l.Close()
		}
		op, fired := fsys.Fired()
		switch {
		case err != nil:
			if failed++; !fired || !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), file) {
				t.Errorf("%v: %v", op, err)
			}
		case fired:
			t.Errorf("%v: no error", op)
		}
	})
	if failed == 0 {
		t.Error("nothing failed")
	}
}

// accounts returns the options of a server whose users have JWTs, and what makes the credentials of a user that are valid for a time.
func accounts(t *testing.T) (*server.Options, func(*testing.T, time.Duration) []byte) {
	t.Helper()
	operator, account, system := pairOf(t, nkeys.CreateOperator), pairOf(t, nkeys.CreateAccount), pairOf(t, nkeys.CreateAccount)
	root := jwt.NewOperatorClaims(public(t, operator))
	signed, err := root.Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	root, err = jwt.DecodeOperatorClaims(signed)
	if err != nil {
		t.Fatal(err)
	}
	resolver := &server.MemAccResolver{}
	for _, pair := range []nkeys.KeyPair{account, system} {
		claims := jwt.NewAccountClaims(public(t, pair))
		if pair == account {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
		}
		text, err := claims.Encode(operator)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolver.Store(public(t, pair), text); err != nil {
			t.Fatal(err)
		}
	}
	issue := func(t *testing.T, valid time.Duration) []byte {
		t.Helper()
		user := pairOf(t, nkeys.CreateUser)
		claims := jwt.NewUserClaims(public(t, user))
		claims.Expires = time.Now().Add(valid).Unix()
		text, err := claims.Encode(account)
		if err != nil {
			t.Fatal(err)
		}
		seed, err := user.Seed()
		if err != nil {
			t.Fatal(err)
		}
		creds, err := jwt.FormatUserConfig(text, seed)
		if err != nil {
			t.Fatal(err)
		}
		return creds
	}
	return &server.Options{TrustedOperators: []*jwt.OperatorClaims{root}, AccountResolver: resolver, SystemAccount: public(t, system)}, issue
}

func pairOf(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func public(t *testing.T, pair nkeys.KeyPair) string {
	t.Helper()
	key, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}
