package nats

import (
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/weftgraph/weft/internal/vfs"
)

// Variables of the environment that have the login if the address has none: a user and a password, or a token. The password may be that of
// an address's user.
const (
	userVariable     = "WEFT_NATS_USER"
	passwordVariable = "WEFT_NATS_PASSWORD"
	tokenVariable    = "WEFT_NATS_TOKEN"
)

// login returns the options of TLS and of the login.
func (a *address) login(files vfs.FS) (options []nats.Option, err error) {
	conf, err := a.tls.Config(files)
	if err != nil {
		return nil, err
	}
	if conf != nil {
		options = append(options, nats.Secure(conf))
	}
	user, password, token := os.Getenv(userVariable), os.Getenv(passwordVariable), os.Getenv(tokenVariable)
	switch {
	case a.creds != "":
		c := credentials{files, a.creds}
		if _, err := c.jwt(); err != nil { // the client would say it without the file
			return nil, err
		}
		if _, err := c.sign(nil); err != nil {
			return nil, err
		}
		options = append(options, nats.UserJWT(c.jwt, c.sign))
	case a.user != nil:
		name := a.user.Username()
		if own, ok := a.user.Password(); ok {
			options = append(options, nats.UserInfo(name, own))
		} else if password != "" {
			options = append(options, nats.UserInfo(name, password))
		} else {
			options = append(options, nats.Token(name))
		}
	case token != "" && user != "":
		return nil, fmt.Errorf("the environment has two logins: %s and %s", tokenVariable, userVariable)
	case token != "":
		options = append(options, nats.Token(token))
	case user != "":
		options = append(options, nats.UserInfo(user, password))
	case password != "":
		return nil, fmt.Errorf("the environment has %s and no %s", passwordVariable, userVariable)
	}
	return options, nil
}

// credentials is a file with the JWT and the seed of a user. It is read at each connection, since JWTs end and others take their place.
type credentials struct {
	files vfs.FS
	file  string
}

func (c credentials) wrong(what string, err error) error {
	return fmt.Errorf("%s: no %s: %w", c.file, what, err)
}

func (c credentials) jwt() (string, error) {
	data, err := vfs.ReadFile(c.files, c.file)
	if err != nil {
		return "", err
	}
	defer clear(data)
	token, err := nkeys.ParseDecoratedJWT(data)
	if err == nil && token == "" {
		err = errors.New("the file is empty")
	}
	if err != nil {
		return "", c.wrong("JWT of a user", err)
	}
	return token, nil
}

func (c credentials) sign(nonce []byte) ([]byte, error) {
	data, err := vfs.ReadFile(c.files, c.file)
	if err != nil {
		return nil, err
	}
	defer clear(data)
	pair, err := nkeys.ParseDecoratedUserNKey(data)
	if err != nil {
		return nil, c.wrong("seed of a user", err)
	}
	defer pair.Wipe()
	return pair.Sign(nonce)
}
