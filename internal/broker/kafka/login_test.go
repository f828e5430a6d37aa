package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// certificate returns one for 127.0.0.1, and a file that has it.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// TestLogin: connections by TLS and with a name and a password, right and wrong. No error has the password.
func TestLogin(t *testing.T) {
	cert, ca := certificate(t)
	for sasl, method := range map[string]string{"plain": "PLAIN", "scram-sha-256": "SCRAM-SHA-256", "scram-sha-512": "SCRAM-SHA-512"} {
		c := fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}}), kfake.EnableSASL(), kfake.Superuser(method, "ann", "secret"), kfake.SeedTopics(1, "t"))
		address := Scheme + "://" + strings.Join(c.ListenAddrs(), ",") + "/t?end=now"
		for _, x := range []struct{ user, password, more, says string }{
			{"ann", "secret", "&ca=" + ca + "&sasl=" + sasl, ""},
			{"ann", "secrets", "&ca=" + ca + "&sasl=" + sasl, "the login is wrong"},
			{"bob", "secret", "&ca=" + ca + "&sasl=" + sasl, "the login is wrong"},
			{"ann", "", "&ca=" + ca + "&sasl=" + sasl, "needs the variables"},
			{"ann", "secret", "&tls=true&sasl=" + sasl, "certificate"},
			{"ann", "secret", "&sasl=" + sasl, "not both sides use TLS"},
			{"ann", "secret", "&ca=" + ca, "SASL"},
		} {
			t.Setenv(userVariable, x.user)
			t.Setenv(passwordVariable, x.password)
			_, err := open(t, t.Context(), address+x.more, 0, options{patience: time.Minute})
			if (err == nil) != (x.says == "") || err != nil && (!strings.Contains(err.Error(), x.says) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("%s, %q: %v, want %q", sasl, x, err, x.says)
			}
		}
	}
}

// TestAuthoritiesFaults: whichever operation on the file of authorities fails, or does half of its work, there is a connection, or an error
// that gives the cause and names the file.
func TestAuthoritiesFaults(t *testing.T) {
	cert, ca := certificate(t)
	c := fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}}), kfake.SeedTopics(1, "t"))
	address := Scheme + "://" + strings.Join(c.ListenAddrs(), ",") + "/t?end=now&ca=" + ca
	for _, fault := range []errorfs.Fault{
		{Kinds: errorfs.Open | errorfs.Read, Err: syscall.EIO},
		{Kinds: errorfs.Open, Err: syscall.EMFILE, Stays: true},
		{Kinds: errorfs.Read, Err: syscall.EIO, Way: errorfs.Half},
		{Kinds: errorfs.Read, Way: errorfs.Short, Stays: true},
		{Kinds: errorfs.Read, Way: errorfs.Ends},
	} {
		failed := 0
		errorfs.Each(t, fault, []string{filepath.Dir(ca)}, func(fsys *errorfs.FS) {
			_, err := open(t, vfs.With(t.Context(), fsys), address, 0, options{patience: time.Minute})
			op, fired := fsys.Fired()
			switch {
			case err != nil:
				if failed++; !fired || fault.Err != nil && !errors.Is(err, fault.Err) || !strings.Contains(err.Error(), ca) {
					t.Errorf("%v: %v", op, err)
				}
			case fired && fault.Err != nil:
				t.Errorf("%v: no error", op)
			}
		})
		if failed == 0 && fault.Way != errorfs.Short {
			t.Errorf("%+v: nothing failed", fault)
		}
	}
}
