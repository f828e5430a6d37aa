// Package option holds an engine's switches as a table. The parser, the error messages, the
// help and the completion all come from that table.
//
// It knows names and values. It must not know what a switch does.
package option

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// Err is wrapped by errors about a name or a value.
var Err = errors.New("engine option")

// Option is a switch, NAME=VALUE.
type Option struct {
	Name    string // the owner and the switch, as in "host.steal"
	Meaning string
	Values  []string // that it can have; nil: numbers
	Default string
	// Least and Most are the bounds of a number.
	Least, Most int
	// List permits several numbers with commas between them.
	List bool
	// Hidden: the option is for tests of the engine, and is not for users.
	Hidden bool
}

var onOff = []string{"on", "off"}

// Switch returns an option that is on or off.
func Switch(name string, on bool, meaning string) Option {
	o := Option{Name: name, Meaning: meaning, Values: onOff, Default: "on"}
	if !on {
		o.Default = "off"
	}
	return o
}

// Choice returns an option that is one of several words. The first is the default.
func Choice(name, meaning string, values ...string) Option {
	return Option{Name: name, Meaning: meaning, Values: values, Default: values[0]}
}

// Number returns an option that is a number.
func Number(name string, standard, least, most int, meaning string) Option {
	return Option{Name: name, Meaning: meaning, Default: strconv.Itoa(standard), Least: least, Most: most}
}

// read returns a value in the form that Values has, or an error with the allowed values.
func (o *Option) read(value string) (string, error) {
	switch {
	case o.Values == nil:
		for text := range strings.SplitSeq(value, ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < o.Least || n > o.Most || !o.List && text != value {
				return "", fmt.Errorf("%q: want a number from %d to %d", value, o.Least, o.Most)
			}
		}
		return value, nil
	case slices.Contains(o.Values, value):
		return value, nil
	case slices.Equal(o.Values, onOff):
		on, err := strconv.ParseBool(value)
		if err != nil {
			return "", fmt.Errorf("%q is neither on nor off", value)
		}
		return onOff[map[bool]int{true: 0, false: 1}[on]], nil
	}
	return "", fmt.Errorf("%q: want %s", value, strings.Join(o.Values, ", "))
}

// Table is the options of one owner, or of several.
type Table []Option

// Owner returns the part of an option's name before the first dot.
func Owner(name string) string {
	owner, _, _ := strings.Cut(name, ".")
	return owner
}

// Of returns the options of an owner.
func (t Table) Of(owner string) (out Table) {
	for _, o := range t {
		if Owner(o.Name) == owner {
			out = append(out, o)
		}
	}
	return out
}

// Check returns an error if an option or its value is wrong. For an unknown name the error
// lists the names of the same owner, or all, and a similar name, or else one of another owner
// that ends in the same word.
func (t Table) Check(name, value string) error {
	i := slices.IndexFunc(t, func(o Option) bool { return o.Name == name })
	if i >= 0 {
		_, err := t[i].read(value)
		return err
	}
	var all, names []string
	for _, o := range t {
		all = append(all, o.Name)
		if Owner(o.Name) == Owner(name) {
			names = append(names, o.Name)
		}
	}
	if names == nil {
		names = all
	}
	meant := pattern.Nearest(name, all, 2)
	if i := slices.IndexFunc(all, func(other string) bool { return lastWord(other) == lastWord(name) }); meant == "" && i >= 0 {
		meant = all[i]
	}
	if meant != "" {
		meant = "; did you mean " + meant + "?"
	}
	return fmt.Errorf("unknown; there are %s%s", strings.Join(names, ", "), meant)
}

// lastWord returns what stands behind the last dot or hyphen of an option's name.
func lastWord(name string) string { return name[strings.LastIndexAny(name, ".-")+1:] }

// Values are the values of a table's options: given ones, or the defaults.
type Values struct {
	table Table
	given map[string]string
}

// Read returns the values of the table's options. Options of other owners are left out. The
// error wraps Err.
func (t Table) Read(opt map[string]string) (Values, error) {
	v := Values{t, map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(opt)) {
		if Owner(name) != Owner(t[0].Name) {
			continue
		}
		if err := t.Check(name, opt[name]); err != nil {
			return v, fmt.Errorf("%w %s: %w", Err, name, err)
		}
		v.given[name], _ = v.option(name).read(opt[name])
	}
	return v, nil
}

func (v Values) option(name string) *Option {
	i := slices.IndexFunc(v.table, func(o Option) bool { return o.Name == name })
	if i < 0 {
		panic("option: the table has no " + name)
	}
	return &v.table[i]
}

// Text returns the value of an option.
func (v Values) Text(name string) string {
	if value, ok := v.given[name]; ok {
		return value
	}
	return v.option(name).Default
}

// On returns the value of a Switch.
func (v Values) On(name string) bool { return v.Text(name) == "on" }

// Number returns the value of a Number.
func (v Values) Number(name string) int {
	n, err := strconv.Atoi(v.Text(name))
	if err != nil {
		panic(fmt.Sprintf("option: %s is not a number: %v", name, err))
	}
	return n
}

// Numbers returns the numbers of a List; none by default.
func (v Values) Numbers(name string) (out []int) {
	if v.Text(name) == "" {
		return nil
	}
	for text := range strings.SplitSeq(v.Text(name), ",") {
		n, _ := strconv.Atoi(text)
		out = append(out, n)
	}
	return out
}

// Given returns the names of the options of t that have a given value.
func (v Values) Given(t Table) (out []string) {
	for _, o := range t {
		if _, ok := v.given[o.Name]; ok {
			out = append(out, o.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Pick returns what the value of a Choice stands for.
func Pick[T any](v Values, name string, meaning map[string]T) T {
	x, ok := meaning[v.Text(name)]
	if !ok {
		panic(fmt.Sprintf("option: nothing is known of %s=%s", name, v.Text(name)))
	}
	return x
}
