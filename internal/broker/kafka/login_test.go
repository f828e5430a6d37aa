package kafka

import (
	"crypto/tls"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/weftgraph/weft/internal/testing/certificate"
	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// TestLogin: connections by TLS and with a name and a password, right and wrong. No error has the password.
func TestLogin(t *testing.T) {
	own := certificate.Valid(t)
	ca := own.CertFile
	for sasl, method := range map[string]string{"plain": "PLAIN", "scram-sha-256": "SCRAM-SHA-256", "scram-sha-512": "SCRAM-SHA-512"} {
		c := fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{own.Pair}}), kfake.EnableSASL(), kfake.Superuser(method, "ann", "secret"), kfake.SeedTopics(1, "t"))
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

// TestClientCertificate: a broker that asks for a certificate gets one, and no other one will do.
func TestClientCertificate(t *testing.T) {
	own, other := certificate.Valid(t), certificate.Valid(t)
	conf := &tls.Config{Certificates: []tls.Certificate{own.Pair}, ClientCAs: own.Pool, ClientAuth: tls.RequireAndVerifyClientCert}
	c := fake(t, kfake.TLS(conf), kfake.SeedTopics(1, "t"))
	address := Scheme + "://" + strings.Join(c.ListenAddrs(), ",") + "/t?end=now&ca=" + own.CertFile
	for more, says := range map[string]string{
		"&cert=" + own.CertFile + "&key=" + own.KeyFile: "",
		"": ": ", // that a certificate is required, or that the connection was closed
		"&cert=" + other.CertFile + "&key=" + other.KeyFile: ": ",
		"&cert=" + other.CertFile + "&key=" + own.KeyFile:   other.CertFile + " and " + own.KeyFile,
	} {
		_, err := open(t, t.Context(), address+more, 0, options{patience: time.Minute})
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", more, err, says)
		}
	}
}

// TestAuthoritiesFaults: whichever operation on the file of authorities fails, or does half of its work, there is a connection, or an error
// that gives the cause and names the file.
func TestAuthoritiesFaults(t *testing.T) {
	own := certificate.Valid(t)
	ca := own.CertFile
	c := fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{own.Pair}}), kfake.SeedTopics(1, "t"))
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
