package stream

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph/dynamic"
)

// member is a key of an object.
type member uint8

const (
	keyOp member = iota
	keyU
	keyV
	keyID
	keyLabel
	keyLabels
	keyTime
	keyProperties
	members = iota
)

var memberNames = [members]string{"op", "u", "v", "id", "label", "labels", "time", "properties"}

// keys are the members that an operation may have, and must have.
type keys struct{ may, must uint16 }

func set(ms ...member) (s uint16) {
	for _, m := range ms {
		s |= 1 << m
	}
	return s
}

var opKeys = [...]keys{
	AddEdge:         {set(keyOp, keyU, keyV, keyLabel, keyTime, keyProperties), set(keyU, keyV)},
	RemoveEdge:      {set(keyOp, keyU, keyV, keyLabel, keyTime), set(keyU, keyV)},
	AddVertex:       {set(keyOp, keyID, keyLabels, keyTime, keyProperties), set(keyID)},
	RemoveVertex:    {set(keyOp, keyID, keyTime), set(keyID)},
	SetLabels:       {set(keyOp, keyID, keyLabels, keyTime), set(keyID)},
	SetProperty:     {set(keyOp, keyID, keyTime, keyProperties), set(keyID)},
	SetEdgeProperty: {set(keyOp, keyU, keyV, keyLabel, keyTime, keyProperties), set(keyU, keyV, keyProperties)},
}

// json reads objects of JSON.
type json struct {
	b   []byte
	at  int
	buf []byte           // a text without its escapes
	was [members]jsonAny // the members of the object
}

// jsonAny is a value and its place.
type jsonAny struct {
	kind byte // '"', '0' a number, 't', 'f', 'n', '[', '{'; 0: missing
	b    []byte
	pos  int
}

var errJSON = errors.New("not a JSON object of an update")

func (j *json) wrong(pos int, what string) error {
	end := min(pos+1, len(j.b))
	if pos < len(j.b) {
		_, n := utf8.DecodeRune(j.b[pos:])
		end = pos + n
	}
	if pos == len(j.b) {
		what += ", and the line ends here"
	}
	return format.Wrong(j.b[min(pos, len(j.b)):end], pos, fmt.Errorf("%w: %s", errJSON, what))
}

func (j *json) space() {
	for j.at < len(j.b) && (j.b[j.at] == ' ' || j.b[j.at] == '\t' || j.b[j.at] == '\r') {
		j.at++
	}
}

// next returns the next byte that is not a blank, or 0.
func (j *json) next() byte {
	j.space()
	if j.at == len(j.b) {
		return 0
	}
	return j.b[j.at]
}

// most is how deep values may be nested.
const most = 64

// value reads over a value.
func (j *json) value(depth int) (v jsonAny, err error) {
	c := j.next()
	start := j.at
	switch {
	case c == '"':
		v.kind = '"'
		err = j.text()
	case c == '-' || c >= '0' && c <= '9':
		v.kind = '0'
		err = j.number()
	case c == 't' || c == 'f' || c == 'n':
		v.kind = c
		word := map[byte]string{'t': "true", 'f': "false", 'n': "null"}[c]
		if !bytes.HasPrefix(j.b[j.at:], []byte(word)) {
			return v, j.wrong(j.at, "want a value")
		}
		j.at += len(word)
	case c == '[' || c == '{':
		v.kind = c
		if depth == most {
			return v, j.wrong(j.at, fmt.Sprintf("more than %d values in each other", most))
		}
		err = j.list(c, func(jsonAny) error {
			_, err := j.value(depth + 1)
			return err
		})
	default:
		return v, j.wrong(j.at, "want a value")
	}
	v.b, v.pos = j.b[start:j.at], start
	return v, err
}

// list reads over an array or an object from its bracket on. each reads a value, and gets its key.
func (j *json) list(open byte, each func(key jsonAny) error) error {
	j.at++
	end := open + 2 // in ASCII
	if j.next() == end {
		j.at++
		return nil
	}
	for {
		var key jsonAny
		if open == '{' {
			if j.next() != '"' {
				return j.wrong(j.at, "want a key in double quotes")
			}
			key.pos = j.at
			if err := j.text(); err != nil {
				return err
			}
			key.kind, key.b = '"', j.b[key.pos:j.at]
			if j.next() != ':' {
				return j.wrong(j.at, "want a colon after a key")
			}
			j.at++
		}
		if err := each(key); err != nil {
			return err
		}
		switch j.next() {
		case ',':
			j.at++
		case end:
			j.at++
			return nil
		default:
			return j.wrong(j.at, fmt.Sprintf("want a comma or %c", end))
		}
	}
}

// text reads over a text.
func (j *json) text() error {
	start := j.at
	for j.at++; j.at < len(j.b); j.at++ {
		switch c := j.b[j.at]; {
		case c == '"':
			j.at++
			if t := j.b[start:j.at]; !ascii(t) && !utf8.Valid(t) {
				return format.CheckText(t, start)
			}
			return nil
		case c == '\\':
			j.at++
		case c < ' ':
			return format.CheckText(j.b[j.at:j.at+1], j.at)
		}
	}
	j.at = len(j.b)
	return j.wrong(j.at, "a text does not end")
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// number reads over a number.
func (j *json) number() error {
	digits := func() bool {
		start := j.at
		for j.at < len(j.b) && j.b[j.at]-'0' <= 9 {
			j.at++
		}
		return j.at > start
	}
	if j.b[j.at] == '-' {
		j.at++
	}
	first := j.at
	if !digits() {
		return j.wrong(j.at, "want a digit")
	}
	if j.b[first] == '0' && j.at > first+1 {
		return j.wrong(first, "a number begins with a zero; a text id is in double quotes")
	}
	if j.at < len(j.b) && j.b[j.at] == '.' {
		if j.at++; !digits() {
			return j.wrong(j.at, "want a digit")
		}
	}
	if j.at < len(j.b) && j.b[j.at]|0x20 == 'e' {
		if j.at++; j.at < len(j.b) && (j.b[j.at] == '+' || j.b[j.at] == '-') {
			j.at++
		}
		if !digits() {
			return j.wrong(j.at, "want a digit")
		}
	}
	return nil
}

// unquote returns the content of a text. It is valid until the next call.
func (j *json) unquote(v jsonAny) ([]byte, error) {
	b := v.b[1 : len(v.b)-1]
	if bytes.IndexByte(b, '\\') < 0 {
		return b, nil
	}
	j.buf = j.buf[:0]
	hex := func(i int) (rune, bool) {
		if len(b)-i < 6 || b[i] != '\\' || b[i+1] != 'u' {
			return 0, false
		}
		x, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 32)
		return rune(x), err == nil
	}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			j.buf = append(j.buf, b[i])
			continue
		}
		if b[i+1] == 'u' {
			r, ok := hex(i)
			if ok && utf16.IsSurrogate(r) {
				low, is := hex(i + 6)
				r = utf16.DecodeRune(r, low)
				ok = is && r != utf8.RuneError
				i += 6
			}
			if !ok {
				return nil, j.wrong(v.pos, "a text with a wrong \\u")
			}
			j.buf = utf8.AppendRune(j.buf, r)
			i += 5
			continue
		}
		k := bytes.IndexByte([]byte(`"\/bfnrt`), b[i+1])
		if k < 0 {
			return nil, j.wrong(v.pos, "a text with a wrong escape")
		}
		j.buf = append(j.buf, "\"\\/\b\f\n\r\t"[k])
		i++
	}
	return j.buf, nil
}

// object reads an update that is an object.
func (d *Decoder) object(line []byte, i int, u *Update) error {
	j := &d.json
	j.b, j.at = line, i
	if line[i] != '{' {
		return j.wrong(i, "want {")
	}
	j.was = [members]jsonAny{}
	present := uint16(0)
	err := j.list('{', func(key jsonAny) error {
		name, err := j.unquote(key)
		if err != nil {
			return err
		}
		k := keyOp
		for k < members && memberNames[k] != string(name) {
			k++
		}
		switch {
		case k == members:
			return format.At(key.pos, key.b, fmt.Errorf("%w: keys are op, u, v, id, label, labels, time, properties", errJSON))
		case present>>k&1 != 0:
			return format.At(key.pos, key.b, fmt.Errorf("%w: a key that is there twice", errJSON))
		}
		present |= 1 << k
		j.was[k], err = j.value(0)
		return err
	})
	if err != nil {
		return err
	}
	if j.next() != 0 {
		return j.wrong(j.at, "text after the object")
	}
	if u.Op, err = d.op(); err != nil {
		return err
	}
	rule := opKeys[u.Op]
	for k := range member(members) {
		switch is := present>>k&1 != 0; {
		case is && rule.may>>k&1 == 0:
			return format.At(j.was[k].pos, j.was[k].b, fmt.Errorf("%w: the operation %q has no %s", errJSON, u.Op, memberNames[k]))
		case !is && rule.must>>k&1 != 0:
			return format.At(i, line[i:], fmt.Errorf("%w: the operation %q needs %s", errJSON, u.Op, memberNames[k]))
		}
	}
	if u.Op.OfEdge() {
		if u.U, err = d.jsonID(j.was[keyU]); err == nil {
			u.V, err = d.jsonID(j.was[keyV])
		}
	} else {
		u.U, err = d.jsonID(j.was[keyID])
	}
	if err != nil {
		return err
	}
	if v := j.was[keyLabel]; v.kind != 0 {
		if u.Label, err = d.label(v); err != nil {
			return err
		}
	}
	if v := j.was[keyLabels]; v.kind != 0 {
		if err := d.jsonLabels(v, u); err != nil {
			return err
		}
	}
	if v := j.was[keyTime]; v.kind != 0 && v.kind != 'n' {
		b, pos := v.b, v.pos
		switch v.kind {
		case '"':
			if b, err = j.unquote(v); err != nil {
				return err
			}
			pos++
		case '0':
		default:
			return format.At(v.pos, v.b, &kinded{BadTime, fmt.Errorf("a time: %w, and not a date in double quotes", format.ErrNumber)})
		}
		if u.Time, err = d.time(b, pos); err != nil {
			return err
		}
		u.HasTime = true
	}
	v := j.was[keyProperties]
	if v.kind != 0 && v.kind != 'n' {
		err = d.properties(v, u)
	}
	if err == nil && (u.Op == SetProperty || u.Op == SetEdgeProperty) && len(u.Properties) != 1 {
		err = format.At(v.pos, v.b, fmt.Errorf("%w: an update changes one property", errJSON))
	}
	return err
}

// op reads the operation of an object. For =v the other members decide.
func (d *Decoder) op() (Op, error) {
	j := &d.json
	v := j.was[keyOp]
	if v.kind == 0 {
		return 0, format.At(0, j.b, fmt.Errorf(`%w: "op" is missing`, errJSON))
	}
	if v.kind == '"' {
		name, err := j.unquote(v)
		if err != nil {
			return 0, err
		}
		switch string(name) {
		case "+":
			return AddEdge, nil
		case "-":
			return RemoveEdge, nil
		case "=":
			return SetEdgeProperty, nil
		case "+v":
			return AddVertex, nil
		case "-v":
			return RemoveVertex, nil
		case "=v":
			switch labels, props := j.was[keyLabels].kind != 0, j.was[keyProperties].kind != 0; {
			case labels == props:
				return 0, format.At(v.pos, v.b, fmt.Errorf("%w: =v needs either labels or properties", errJSON))
			case labels:
				return SetLabels, nil
			}
			return SetProperty, nil
		}
	}
	return 0, format.At(v.pos, v.b, fmt.Errorf(`%w: operations are "+", "-", "=", "+v", "-v", "=v"`, errJSON))
}

// jsonID reads a vertex id, a number or a text.
func (d *Decoder) jsonID(v jsonAny) (dynamic.ID, error) {
	switch v.kind {
	case '"':
		b, err := d.json.unquote(v)
		if err != nil {
			return dynamic.ID{}, err
		}
		return d.id(b, v.pos+1)
	case '0':
		if d.o.TextIDs && bytes.ContainsAny(v.b, "-.eE") {
			return dynamic.ID{}, format.At(v.pos, v.b, &kinded{BadID, errors.New("a vertex id is a whole number, or a text in double quotes")})
		}
		return d.id(v.b, v.pos)
	}
	return dynamic.ID{}, format.At(v.pos, v.b, &kinded{BadID, errors.New("a vertex id is a whole number, or a text in double quotes")})
}

// label reads a label: a text, a whole number, which is its digits, or null.
func (d *Decoder) label(v jsonAny) (string, error) {
	switch {
	case v.kind == '"':
		b, err := d.json.unquote(v)
		if err != nil {
			return "", err
		}
		return d.texts.of(b), nil
	case v.kind == '0' && !bytes.ContainsAny(v.b, ".eE"):
		return d.texts.of(v.b), nil
	case v.kind == 'n':
		return "", nil
	}
	return "", format.At(v.pos, v.b, fmt.Errorf("%w: a label is a text or a whole number", errJSON))
}

// jsonLabels reads the array of a vertex's labels.
func (d *Decoder) jsonLabels(v jsonAny, u *Update) error {
	j := &d.json
	if v.kind == 'n' {
		return nil
	}
	if v.kind != '[' {
		return format.At(v.pos, v.b, fmt.Errorf("%w: labels are an array", errJSON))
	}
	j.at = v.pos
	return j.list('[', func(jsonAny) error {
		v, err := j.value(0)
		if err != nil {
			return err
		}
		l, err := d.label(v)
		if err == nil && l == "" {
			err = format.At(v.pos, v.b, fmt.Errorf("%w: an empty label", errJSON))
		}
		u.Labels = append(u.Labels, l)
		return err
	})
}

// properties reads the object of properties.
func (d *Decoder) properties(v jsonAny, u *Update) error {
	j := &d.json
	if v.kind != '{' {
		return format.At(v.pos, v.b, fmt.Errorf("%w: properties are an object", errJSON))
	}
	j.at = v.pos
	return j.list('{', func(key jsonAny) error {
		b, err := j.unquote(key)
		if err != nil {
			return err
		}
		name := d.texts.of(b)
		for _, p := range u.Properties {
			if p.Name == name {
				return format.At(key.pos, key.b, fmt.Errorf("%w: a key that is there twice", errJSON))
			}
		}
		v, err := j.value(0)
		if err != nil {
			return err
		}
		x, err := d.property(v)
		u.Properties = append(u.Properties, Property{name, x})
		return err
	})
}

// property reads the value of a property.
func (d *Decoder) property(v jsonAny) (dynamic.Value, error) {
	switch v.kind {
	case 'n':
		return dynamic.Value{}, nil
	case 't':
		return dynamic.OfBool(true), nil
	case 'f':
		return dynamic.OfBool(false), nil
	case '"':
		b, err := d.json.unquote(v)
		if err != nil {
			return dynamic.Value{}, err
		}
		return dynamic.OfString(d.texts.of(b)), nil
	case '0':
		s := unsafe.String(unsafe.SliceData(v.b), len(v.b)) // which the calls do not keep
		if !bytes.ContainsAny(v.b, ".eE") {
			x, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return dynamic.Value{}, format.At(v.pos, v.b, fmt.Errorf("%w: whole numbers are below 2^63", format.ErrOverflow))
			}
			return dynamic.OfInt(x), nil
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsInf(x, 0) {
			return dynamic.Value{}, format.At(v.pos, v.b, format.ErrOverflow)
		}
		return dynamic.OfFloat(x), nil
	}
	return dynamic.Value{}, format.At(v.pos, v.b, fmt.Errorf("%w: a property is a number, a text, true, false or null", errJSON))
}
