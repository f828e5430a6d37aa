package bolt

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// The versions that the server speaks.
const (
	major       = 5
	newestMinor = 8
)

// magic begins a connection.
const magic = 0x6060B017

// manifest is the proposal of a client that lets the server list its versions.
const manifest = 0x000001FF

var (
	errNotBolt   = errors.New("the client does not speak Bolt")
	errNoVersion = errors.New("the client speaks no version from 5.0 to 5.8")
)

// handshake agrees on a version and returns its minor number. It reads nothing beyond the handshake.
func handshake(r *bufio.Reader, w io.Writer) (minor int, err error) {
	var hello [20]byte
	if _, err := io.ReadFull(r, hello[:4]); err != nil {
		return 0, err
	}
	if binary.BigEndian.Uint32(hello[:]) != magic {
		return 0, errNotBolt
	}
	if _, err := io.ReadFull(r, hello[4:]); err != nil {
		return 0, err
	}
	for at := 4; at < len(hello); at += 4 {
		p := binary.BigEndian.Uint32(hello[at:])
		if p == manifest {
			return offer(r, w)
		}
		if m, ok := newest(p); ok {
			_, err := w.Write([]byte{0, 0, byte(m), major})
			return m, err
		}
	}
	_, _ = w.Write(make([]byte, 4))
	return 0, errNoVersion
}

// newest returns the newest minor number that both sides speak. A proposal has the newest minor number and how many before it
// the client speaks as well.
func newest(p uint32) (minor int, ok bool) {
	high, low := int(p>>8&0xFF), int(p>>8&0xFF)-int(p>>16&0xFF)
	if p&0xFF != major || p>>24 != 0 || low > newestMinor {
		return 0, false
	}
	return min(high, newestMinor), true
}

// offer lists the server's versions, and reads which one the client takes.
func offer(r *bufio.Reader, w io.Writer) (minor int, err error) {
	// The marker, the number of ranges, one range, and no capabilities.
	if _, err := w.Write([]byte{0, 0, 1, 0xFF, 1, 0, newestMinor, newestMinor, major, 0}); err != nil {
		return 0, err
	}
	var choice [4]byte
	if _, err := io.ReadFull(r, choice[:]); err != nil {
		return 0, err
	}
	for i := 0; ; i++ { // the client's capabilities: a number of 7 bits a byte
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if b < 0x80 {
			break
		}
		if i == 9 {
			return 0, errNotBolt
		}
	}
	if choice[0] != 0 || choice[1] != 0 || choice[3] != major || choice[2] > newestMinor {
		return 0, errNoVersion
	}
	return int(choice[2]), nil
}
