package stream

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/weftgraph/weft/internal/format"
)

// ErrLog is wrapped by errors of logs that cannot be read: the broker does not answer at the beginning, there is no such log, or messages are gone.
var ErrLog = errors.New("the updates cannot be read")

// Log is a sequence of messages that a broker keeps, each with lines of updates. Its methods must not overlap.
type Log interface {
	// Begin makes the next message the one with a number, or the first one that there is if the number is 0. It is called once, before Next.
	// read is a number such that those from number on and before it were read once, and are to be read again; 0 means none. The error wraps
	// ErrLog, and says that the log has no longer, or never had, the messages from there on or those that were read.
	Begin(number, read int64) error
	// Next returns the next message, whose data is valid until the next call. It blocks until the message is there, also while the broker is
	// lost. A later message has a greater number.
	Next() (number int64, data []byte, err error)
	// Waiting reports whether Next returns without a wait.
	Waiting() bool
	Close() error
}

// Messages is a Reader of the updates of a log. It is not safe for concurrent use.
type Messages struct {
	log   Log
	name  string
	d     *Decoder
	begun bool
	skip  int64 // lines of the first message that were read before

	number int64 // of the message
	rest   []byte
	lines  int64 // of the message so far
	next   int64 // the number of the message after which nothing was read, if rest is empty
}

// NewMessages returns a reader of a log. name is that of errors.
func NewMessages(log Log, name string, o Options) *Messages {
	return &Messages{log: log, name: name, d: NewDecoder(o)}
}

// Resume makes the next update the one after a position that Position returned, of those up to the end of message read-1, or of a part of message
// read, that were read before. It is called before Next. The error is that of the log.
func (m *Messages) Resume(lines, offset, read int64, at State) error {
	m.d.SetState(at)
	m.begun, m.skip, m.next = true, lines, offset
	return m.log.Begin(offset, read)
}

// State returns the state of the reader.
func (m *Messages) State() State { return m.d.State() }

// Next reads the next update. It blocks until the update is there.
func (m *Messages) Next(u *Update) error {
	if !m.begun {
		if err := m.Resume(0, 0, 0, State{}); err != nil {
			return err
		}
	}
	for {
		if len(m.rest) == 0 {
			if err := m.fetch(); err != nil {
				return err
			}
		}
		line := m.line()
		ok, err := m.d.decode(line, u)
		if err != nil {
			return &InputError{kindOf(err), m.place(line, err)}
		}
		if ok {
			return nil
		}
	}
}

// fetch reads the next message, up to the line where it begins.
func (m *Messages) fetch() error {
	number, data, err := m.log.Next()
	if err != nil {
		return err
	}
	if m.skip > 0 && number != m.next {
		return fmt.Errorf("%w: message %d of %s is gone, of which %d lines were read", ErrLog, m.next, m.name, m.skip)
	}
	m.number, m.next, m.rest, m.lines = number, number+1, data, 0
	for ; m.skip > 0; m.skip-- {
		m.line()
	}
	return nil
}

// line takes the next line of the message.
func (m *Messages) line() []byte {
	line, rest, _ := bytes.Cut(m.rest, []byte{'\n'})
	m.rest = rest
	m.lines++
	return line
}

// place adds the place in the message to an error of the decoder.
func (m *Messages) place(line []byte, err error) error {
	p := m.Place()
	err = format.Place(p.name(), line, err)
	var at *format.Error
	if errors.As(err, &at) {
		at.Line = p.line
	}
	return err
}

// Waiting reports whether Next has a line without a wait.
func (m *Messages) Waiting() bool { return len(m.rest) > 0 || m.begun && m.log.Waiting() }

// Position returns the number of the message that follows the last update, and 0 lines; or the number of the update's message, and the lines of it
// up to the update, if more lines follow there.
func (m *Messages) Position() (lines, offset int64) {
	switch {
	case len(m.rest) > 0:
		return m.lines, m.number
	case m.lines == 0: // nothing was read
		return m.skip, m.next
	}
	return 0, m.next
}

// Place returns where the last update is.
func (m *Messages) Place() Place {
	return Place{file: m.name, line: m.lines, offset: -1, message: m.number, inMessage: true}
}

// Close closes the log.
func (m *Messages) Close() error { return m.log.Close() }
