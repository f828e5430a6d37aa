package dynamic

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// ErrValue means that a property cannot have a value, or a graph a property's type.
var ErrValue = errors.New("bad property")

// Kind is the kind of a value.
type Kind uint8

// Kinds of values.
const (
	Null Kind = iota // there is no value
	Int
	Unsigned
	Float
	Bool
	String
)

// String returns the kind as a word.
func (k Kind) String() string {
	return [...]string{"null", "integer", "unsigned integer", "floating-point number", "truth value", "text"}[k]
}

// Value is a value of a property. The zero Value is Null. Values are comparable with ==; a NaN is equal to itself.
type Value struct {
	text string
	word uint64
	kind Kind
}

// OfInt returns an integer, or a time in the units of its property.
func OfInt(x int64) Value { return Value{word: uint64(x), kind: Int} }

// OfUnsigned returns an unsigned integer.
func OfUnsigned(x uint64) Value { return Value{word: x, kind: Unsigned} }

// OfFloat returns a floating-point number.
func OfFloat(x float64) Value { return Value{word: math.Float64bits(x), kind: Float} }

// OfBool returns a truth value.
func OfBool(x bool) Value {
	if x {
		return Value{word: 1, kind: Bool}
	}
	return Value{kind: Bool}
}

// OfString returns a text.
func OfString(s string) Value { return Value{text: s, kind: String} }

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.kind }

// Int returns an Int.
func (v Value) Int() int64 { return int64(v.word) }

// Unsigned returns an Unsigned.
func (v Value) Unsigned() uint64 { return v.word }

// Float returns a Float.
func (v Value) Float() float64 { return math.Float64frombits(v.word) }

// Bool returns a Bool.
func (v Value) Bool() bool { return v.word != 0 }

// Text returns a String.
func (v Value) Text() string { return v.text }

// Key is the number of a property of vertices, or of edges.
type Key uint32

// Property is a property with its value.
type Property struct {
	Key   Key
	Value Value
}

// Column is the name and the type of a property.
type Column struct {
	Name string
	Type arrow.DataType
}

// kindOf returns the kind of a type's values, or Null if graphs cannot have them.
func kindOf(t arrow.DataType) Kind {
	switch t.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.TIMESTAMP, arrow.DURATION, arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64:
		return Int
	case arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return Unsigned
	case arrow.FLOAT32, arrow.FLOAT64:
		return Float
	case arrow.BOOL:
		return Bool
	case arrow.STRING, arrow.LARGE_STRING:
		return String
	}
	return Null
}

// fits returns v as a value of a type. Integers become floating-point numbers where no digit is lost.
func fits(v Value, t arrow.DataType) (Value, bool) {
	kind := kindOf(t)
	switch {
	case v.kind == Null:
		return v, true
	case v.kind == Int && kind == Float && int64(float64(v.Int())) == v.Int() && v.Int() != math.MaxInt64:
		v = OfFloat(float64(v.Int()))
	case v.kind == Int && kind == Unsigned && v.Int() >= 0, v.kind == Unsigned && kind == Int && v.Int() >= 0:
		v.kind = kind
	case v.kind != kind, kind == Bool && v.word > 1:
		return v, false
	}
	if w, ok := t.(arrow.FixedWidthDataType); ok && w.BitWidth() < 64 {
		n := w.BitWidth()
		switch kind {
		case Int:
			return v, v.Int()>>(n-1) == 0 || v.Int()>>(n-1) == -1
		case Unsigned:
			return v, v.word>>n == 0
		case Float:
			return v, float64(float32(v.Float())) == v.Float() || v.Float() != v.Float()
		}
	}
	return v, true
}

// column is the values of a property. Texts are numbers of the dictionary.
//
// A property of numbers that updates brought is mixed: an integer stays one, and may stand next to fractions. Its type is int64 until the first
// fraction comes, and then float64, which must have each of its integers exactly.
type column struct {
	Column
	kind    Kind // of values; Int if it is mixed
	given   bool // by the graph that this one began as
	mixed   bool
	large   bool // it is mixed, and had an integer that float64 does not have
	pages   table[valuePage]
	changes map[uint32][]change // in the window, by vertex or row
}

type valuePage struct {
	set    uint32 // bit i: there is a value
	floats uint32 // bit i: it is a Float of a mixed column
	words  [pageSize]uint64
}

// change is a value that a property had before a version of the window.
type change struct {
	at   uint32
	word uint64
	kind Kind
}

// mix makes the column mixed. It has no values yet.
func (c *column) mix() { c.mixed, c.kind = true, Int }

// give makes the column one of the graph that this one begins as, whose type stays. It has no values yet.
func (c *column) give() { c.given, c.mixed, c.kind = true, false, kindOf(c.Type) }

// get returns the present word of i, and the kind of its value.
func (c *column) get(i uint32) (word uint64, kind Kind) {
	p, bit := c.pages.page(i>>pageBits), uint32(1)<<(i&pageMask)
	switch {
	case p == nil || p.set&bit == 0:
		return 0, Null
	case p.floats&bit != 0:
		return p.words[i&pageMask], Float
	}
	return p.words[i&pageMask], c.kind
}

// put sets the present word of i.
func (c *column) put(i uint32, word uint64, kind Kind) {
	p, bit := c.pages.page(i>>pageBits), uint32(1)<<(i&pageMask)
	if p == nil {
		if kind == Null {
			return
		}
		p = c.pages.need(i >> pageBits)
	}
	p.words[i&pageMask] = word
	p.set &^= bit
	p.floats &^= bit
	if kind != Null {
		p.set |= bit
	}
	if c.mixed && kind == Float {
		p.floats |= bit
	}
}

// at returns the word of i at a version of the window, and the kind of its value.
func (c *column) at(i, at uint32) (word uint64, kind Kind) {
	if len(c.changes) > 0 {
		for _, x := range c.changes[i] {
			if x.at > at {
				return x.word, x.kind
			}
		}
	}
	return c.get(i)
}

// fits returns v as a value of the column. The error says why it cannot be one.
func (c *column) fits(v Value) (Value, error) {
	if c.mixed {
		if v.kind == Unsigned && v.Int() >= 0 {
			v.kind = Int
		}
		fractions := c.Type.ID() == arrow.FLOAT64
		switch {
		case v.kind == Float && c.large:
			return v, fmt.Errorf("%w %q: it has had integers beyond 2^53, so it cannot have the fraction %v", ErrValue, c.Name, v)
		case v.kind == Int && fractions && inexact(v.Int()):
			return v, fmt.Errorf("%w %q: it has had fractions, so it cannot have the integer %v, which is beyond 2^53", ErrValue, c.Name, v)
		case v.kind == Null, v.kind == Int, v.kind == Float:
			return v, nil
		}
	}
	v, ok := fits(v, c.Type)
	if !ok {
		return v, fmt.Errorf("%w %q: a value of type %v cannot be the %v %v", ErrValue, c.Name, c.Type, v.kind, v)
	}
	return v, nil
}

// equals reports whether two values are the same number.
func (v Value) equals(x Value) bool {
	if v.kind == Float {
		v, x = x, v
	}
	return v.kind == Int && x.kind == Float && float64(v.Int()) == x.Float() && !inexact(v.Int())
}

// note widens the type of a mixed column for a value that it gets.
func (c *column) note(v Value) {
	switch {
	case !c.mixed:
	case v.kind == Float:
		c.Type = arrow.PrimitiveTypes.Float64
	case v.kind == Int && inexact(v.Int()):
		c.large = true
	}
}

// inexact reports whether float64 does not have each integer up to x.
func inexact(x int64) bool { return x > 1<<53 || x < -1<<53 }

func (c *column) bytes() uint64 {
	b := c.pages.bytes()
	for _, l := range c.changes {
		b += 48 + 24*uint64(cap(l))
	}
	return b
}

// columns are the properties of the vertices or the edges of a graph.
type columns struct {
	list   []*column
	byName map[string]Key
	texts  *dictionary
}

func (x *columns) init(texts *dictionary) {
	x.byName = map[string]Key{}
	x.texts = texts
}

// key returns the number of a property, which is new if there was none with the name.
func (x *columns) key(name string, t arrow.DataType) (Key, error) {
	k, ok := x.byName[name]
	switch {
	case ok && !arrow.TypeEqual(x.list[k].Type, t):
		return 0, fmt.Errorf("%w %q: its type is %v, not %v", ErrValue, name, x.list[k].Type, t)
	case ok:
		return k, nil
	case kindOf(t) == Null:
		return 0, fmt.Errorf("%w %q: a changing graph has no properties of type %v", ErrValue, name, t)
	}
	k = Key(len(x.list))
	c := &column{Column: Column{name, t}, kind: kindOf(t), changes: map[uint32][]change{}}
	if t.ID() == arrow.INT64 || t.ID() == arrow.FLOAT64 {
		c.mix()
	}
	x.list = append(x.list, c)
	x.byName[name] = k
	return k, nil
}

// from makes the properties of a record, and returns a function for each that reads it. There are none if rec is nil.
func (x *columns) from(rec arrow.RecordBatch) (get []func(int) Value, err error) {
	if rec == nil {
		return nil, nil
	}
	for i, a := range rec.Columns() {
		k, err := x.key(rec.ColumnName(i), a.DataType())
		if err != nil {
			return nil, err
		}
		x.list[k].give()
		get = append(get, valuesOf(a))
	}
	if len(x.list) != len(get) {
		return nil, fmt.Errorf("%w: two have the same name", ErrValue)
	}
	return get, nil
}

func (x *columns) columns() []Column {
	var l []Column
	for _, c := range x.list {
		l = append(l, c.Column)
	}
	return l
}

// check returns an error if some properties cannot be set.
func (x *columns) check(ps []Property) error {
	for i, p := range ps {
		if int64(p.Key) >= int64(len(x.list)) {
			return fmt.Errorf("%w: there are %d, and none has number %d", ErrValue, len(x.list), p.Key)
		}
		c := x.list[p.Key]
		v, err := c.fits(p.Value)
		if err != nil {
			return err
		}
		ps[i].Value = v
	}
	return nil
}

// String returns the value as text.
func (v Value) String() string {
	switch v.kind {
	case Int:
		return fmt.Sprint(v.Int())
	case Unsigned:
		return fmt.Sprint(v.word)
	case Float:
		return fmt.Sprint(v.Float())
	case Bool:
		return fmt.Sprint(v.Bool())
	case String:
		return fmt.Sprintf("%q", v.text)
	}
	return "null"
}

// value returns the value that is a word.
func (x *columns) value(word uint64, kind Kind) Value {
	switch kind {
	case Null:
		return Value{}
	case String:
		return OfString(x.texts.text(uint32(word)))
	}
	return Value{word: word, kind: kind}
}

// set changes a value of vertex or row i, and reports whether it was another one. at is the version in the window that is the first
// with the value; with 0, no version has another value.
func (x *columns) set(k Key, i uint32, v Value, at uint32) bool {
	c := x.list[k]
	word, kind := c.get(i)
	if old := x.value(word, kind); old == v || c.mixed && old.equals(v) {
		return false
	}
	c.note(v)
	switch {
	case at > 0:
		c.changes[i] = append(c.changes[i], change{at, word, kind})
	case kind == String:
		x.texts.release(uint32(word))
	}
	word = v.word
	if v.kind == String {
		word = uint64(x.texts.intern(v.text))
	}
	c.put(i, word, v.kind)
	return true
}

// clear removes all values of i.
func (x *columns) clear(i uint32) {
	for k := range x.list {
		x.set(Key(k), i, Value{}, 0)
	}
}

// copy gives i the present values of from.
func (x *columns) copy(from, i uint32) {
	for k, c := range x.list {
		if word, kind := c.get(from); kind != Null {
			x.set(Key(k), i, x.value(word, kind), 0)
		}
	}
}

// settle forgets the values before the present version.
func (x *columns) settle() {
	for _, c := range x.list {
		if len(c.changes) == 0 {
			continue
		}
		if c.kind == String {
			for _, l := range c.changes {
				for _, old := range l {
					if old.kind != Null {
						x.texts.release(uint32(old.word))
					}
				}
			}
		}
		if len(c.changes) > keptMarks {
			c.changes = map[uint32][]change{}
		} else {
			clear(c.changes)
		}
	}
}

func (x *columns) bytes() (b uint64) {
	for _, c := range x.list {
		b += c.bytes()
	}
	return b
}

// dictionary has the texts of properties, each once.
type dictionary struct {
	pages table[[pageSize]entry]
	end   uint32
	free  uint32 // the first free entry + 1
	index buckets
	seed  maphash.Seed
	bytes uint64 // of texts
	next  func(uint32) (*uint32, uint32)
}

type entry struct {
	text string
	uses uint32
	next uint32
}

func (d *dictionary) init() {
	d.seed = maphash.MakeSeed()
	d.next = func(ref uint32) (*uint32, uint32) {
		e := d.entry(ref - 1)
		return &e.next, d.hash(e.text)
	}
}

func (d *dictionary) entry(i uint32) *entry { return &d.pages.page(i >> pageBits)[i&pageMask] }
func (d *dictionary) text(i uint32) string  { return d.entry(i).text }
func (d *dictionary) hash(s string) uint32  { return uint32(maphash.String(d.seed, s)) }

// link returns the place of the reference to a text, which is 0 if the dictionary does not have it.
func (d *dictionary) link(s string) *uint32 {
	l := d.index.head(d.hash(s))
	for *l != 0 && d.entry(*l-1).text != s {
		l = &d.entry(*l - 1).next
	}
	return l
}

// intern returns the number of a text for one more use.
func (d *dictionary) intern(s string) uint32 {
	if d.index.n > 0 {
		if ref := *d.link(s); ref != 0 {
			d.entry(ref-1).uses++
			return ref - 1
		}
	}
	d.index.grow(d.next)
	i := d.free - 1
	if d.free != 0 {
		d.free = d.entry(i).next
	} else {
		i = d.end
		d.end++
	}
	d.bytes += textBytes(s)
	l := d.index.head(d.hash(s))
	d.pages.need(i >> pageBits)[i&pageMask] = entry{strings.Clone(s), 1, *l}
	*l = i + 1
	return i
}

// release ends one use of a text.
func (d *dictionary) release(i uint32) {
	e := d.entry(i)
	if e.uses--; e.uses > 0 {
		return
	}
	l := d.link(e.text)
	*l = e.next
	d.index.count--
	d.bytes -= textBytes(e.text)
	*e = entry{next: d.free}
	d.free = i + 1
}

func (d *dictionary) size() uint64 { return d.bytes + d.pages.bytes() + d.index.heads.bytes() }
