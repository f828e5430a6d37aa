// Package certificate makes certificates of this machine, which sign themselves, for tests of encrypted connections.
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificate is one for localhost.
type Certificate struct {
	Pair     tls.Certificate
	PEM      []byte         // without its key
	CertFile string         // has PEM
	KeyFile  string         // has its key, in PEM
	Pool     *x509.CertPool // trusts it
}

// New makes a certificate that is valid for the two days before a time, and writes its files into a folder.
func New(t testing.TB, dir string, until time.Time) *Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	c := &Certificate{
		Pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, PEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem"), Pool: x509.NewCertPool(),
	}
	c.Pool.AddCert(parsed)
	for file, text := range map[string][]byte{c.CertFile: c.PEM, c.KeyFile: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Valid makes a certificate that is valid for a day, with files in a folder of the test's.
func Valid(t testing.TB) *Certificate {
	t.Helper()
	return New(t, t.TempDir(), time.Now().Add(24*time.Hour))
}
