// Package secure has the parameters of brokers' addresses that encrypt connections, and show who connects.
//
// The package knows certificates and files of them. It must not know brokers.
package secure

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strconv"

	"github.com/weftgraph/weft/internal/vfs"
)

// TLS is how a connection is encrypted. The zero value is one without encryption.
type TLS struct {
	on, off bool // what tls says, if the address has it
	// ca is a file with the certificates of authorities, in PEM; "" means those of the system. cert is a file with the certificate that
	// the broker asks for, and key one with its private key; "" means that cert has it too.
	ca, cert, key string
}

// Parameters returns the names of what Set sets.
func Parameters() []string { return []string{"tls", "ca", "cert", "key"} }

// Set sets the parameter of an address. It reports whether name is one of Parameters. The error is about the value.
func (t *TLS) Set(name, value string) (bool, error) {
	switch name {
	case "tls":
		on, err := strconv.ParseBool(value)
		if err != nil {
			return true, errors.New("want true or false")
		}
		t.on, t.off = on, !on
		return true, nil
	case "ca":
		t.ca = value
	case "cert":
		t.cert = value
	case "key":
		t.key = value
	default:
		return false, nil
	}
	if value == "" {
		return true, errors.New("want a file")
	}
	return true, nil
}

// Check returns an error if the parameters do not fit each other.
func (t *TLS) Check() error {
	switch {
	case t.key != "" && t.cert == "":
		return errors.New("key needs cert, the file with its certificate")
	case t.off && (t.ca != "" || t.cert != ""):
		return errors.New("tls=false does not fit ca and cert")
	}
	return nil
}

// Config reads the files, and returns nil if connections are not encrypted. Any of the files says that they are.
func (t *TLS) Config(files vfs.FS) (*tls.Config, error) {
	if !t.on && t.ca == "" && t.cert == "" {
		return nil, nil
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.ca != "" {
		pem, err := vfs.ReadFile(files, t.ca)
		if err != nil {
			return nil, err
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate in PEM", t.ca)
		}
	}
	if t.cert == "" {
		return conf, nil
	}
	if _, err := t.pair(files); err != nil {
		return nil, err
	}
	conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.pair(files) }
	return conf, nil
}

// pair reads the certificate that the broker asks for: at each connection, as a newer one takes its place in time.
func (t *TLS) pair(files vfs.FS) (*tls.Certificate, error) {
	cert, err := vfs.ReadFile(files, t.cert)
	if err != nil {
		return nil, err
	}
	key, of := cert, t.cert
	if t.key != "" {
		of = t.cert + " and " + t.key
		if key, err = vfs.ReadFile(files, t.key); err != nil {
			return nil, err
		}
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", of, err)
	}
	return &pair, nil
}
