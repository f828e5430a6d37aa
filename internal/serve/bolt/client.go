package bolt

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"

	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// Client asks a server of Bolt 5.8 for rows, to measure it: it logs in without credentials, and has no transactions. Not safe for concurrent
// use.
type Client struct {
	net    net.Conn
	in     *bufio.Reader
	out    packstream.Encoder
	forget func() bool // the end of the context
}

// Dial connects and logs in. It blocks until the server has answered. The connection ends when ctx does.
func Dial(ctx context.Context, address string) (*Client, error) {
	n, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &Client{net: n, in: bufio.NewReaderSize(n, 64<<10), forget: context.AfterFunc(ctx, func() { n.Close() })}
	if err := c.begin(); err != nil {
		c.forget()
		n.Close()
		return nil, fmt.Errorf("the login over Bolt: %w", err)
	}
	return c, nil
}

// begin agrees on a version, and logs in.
func (c *Client) begin() error {
	proposals := binary.BigEndian.AppendUint32(nil, magic)
	proposals = append(proposals, 0, 0, newestMinor, major)
	if _, err := c.net.Write(append(proposals, make([]byte, 12)...)); err != nil { // three more versions could stand there
		return err
	}
	var chosen [4]byte
	if _, err := io.ReadFull(c.in, chosen[:]); err != nil {
		return err
	}
	if chosen != [4]byte{0, 0, newestMinor, major} {
		return fmt.Errorf("the server answers version % x, and not 5.%d", chosen, newestMinor)
	}
	c.message(msgHello, map[string]any{"user_agent": "weft/bench", "bolt_agent": map[string]any{"product": "weft"}})
	c.message(msgLogon, map[string]any{"scheme": "none"})
	if err := c.send(); err != nil {
		return err
	}
	for range 2 {
		if _, err := c.success(nil); err != nil {
			return err
		}
	}
	return nil
}

// Rows sends a text to a database, and calls row with the decoded values of each row. It asks for fetch rows at a time, as drivers do, the first of them
// together with the text. It blocks until the last row. After an error the client can only be closed. Its result is the metadata after the last
// row.
func (c *Client) Rows(database, text string, params map[string]any, fetch int64, row func(values []any)) (map[string]any, error) {
	if params == nil {
		params = map[string]any{}
	}
	c.message(msgRun, text, params, map[string]any{"db": database, "mode": "r"})
	c.message(msgPull, map[string]any{"n": fetch})
	if err := c.send(); err != nil {
		return nil, err
	}
	if _, err := c.success(nil); err != nil {
		return nil, err
	}
	for {
		end, err := c.success(row)
		if err != nil || end["has_more"] != true {
			return end, err
		}
		c.message(msgPull, map[string]any{"n": fetch})
		if err := c.send(); err != nil {
			return nil, err
		}
	}
}

// Close says goodbye and closes the connection.
func (c *Client) Close() error {
	c.forget()
	c.message(msgGoodbye)
	err := c.send()
	return errors.Join(err, c.net.Close())
}

// message appends a message to those that send writes.
func (c *Client) message(tag byte, fields ...any) {
	var m packstream.Encoder
	m.Value(packstream.Structure{Tag: tag, Fields: fields})
	c.out.Bytes = appendChunks(c.out.Bytes, m.Bytes)
}

func (c *Client) send() error {
	_, err := c.net.Write(c.out.Bytes)
	c.out.Bytes = c.out.Bytes[:0]
	return err
}

// success reads rows until a success, whose metadata it returns. Another answer is an error.
func (c *Client) success(row func(values []any)) (map[string]any, error) {
	for {
		raw, err := readMessage(c.in, func() int { return math.MaxInt }, nil)
		if err != nil {
			return nil, err
		}
		d := packstream.NewDecoder(raw, packstream.Limits{})
		x, err := d.Value()
		if err == nil {
			err = d.End()
		}
		if err != nil {
			return nil, err
		}
		m, _ := x.(packstream.Structure)
		if len(m.Fields) != 1 {
			return nil, fmt.Errorf("the server answers with the message 0x%02X and %d fields", m.Tag, len(m.Fields))
		}
		values, list := m.Fields[0].([]any)
		data, dictionary := m.Fields[0].(map[string]any)
		switch {
		case m.Tag == msgRecord && list && row != nil:
			row(values)
		case m.Tag == msgSuccess && dictionary:
			return data, nil
		case m.Tag == msgFailure && dictionary:
			return nil, fmt.Errorf("%v: %v", data["neo4j_code"], data["message"])
		default:
			return nil, fmt.Errorf("the message 0x%02X of the server does not fit here", m.Tag)
		}
	}
}
