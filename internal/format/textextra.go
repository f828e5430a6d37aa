package format

import (
	"fmt"
	"slices"
	"strconv"
)

// guessExtra names the columns after the first two of a file without names.
func (sp *textSpec) guessExtra(rows [][][]byte, width int, f Format, note func(string, ...any)) []string {
	look := func(i int) (ints, times, nums bool) {
		ints, times, nums = true, true, true
		if dates(rows, i) {
			return false, true, false
		}
		gaps, some := false, false
		for _, row := range rows {
			if i >= len(row) {
				continue
			}
			if sp.missing.is(row[i], propFloat) { // no edge is without a time
				times, gaps = false, true
				continue
			}
			x, err := strconv.ParseFloat(string(row[i]), 64)
			if err != nil {
				return false, false, false
			}
			some = true
			ints = ints && isInt(row[i])
			// Seconds from 1990 on, or milliseconds, microseconds, nanoseconds.
			times = times && x >= 6e8 && x < 4.2e18
		}
		return ints, times, nums && (some || !gaps)
	}
	var names []string
	ints, times, nums := look(2)
	switch {
	case sp.count >= 0 && width == 3:
		sp.triples = true
		return []string{"label"}
	case f == WEL || !nums && commaNumbers(rows, 2):
		names = []string{"weight"}
	case !nums && times:
		names = []string{"time"}
		note("the third column is taken as time: all values are dates")
		if width > 3 && clocks(rows, 3) {
			note("the fourth column is the time of day, and is not part of the time: with a T between them, or in quotes, they are one")
		}
	case !nums:
		names = []string{"label"}
		if width == 3 && !isNumber(rows[0][1]) {
			note("the third column is taken as label; --columns src,label,dst reads the second as label")
		} else {
			note("the third column is taken as label; --columns src,dst,NAME reads it as a property")
		}
	case times && width == 3:
		names = []string{"time"}
		note("the third column is taken as time: all values look like times since 1970")
	default:
		names = []string{"weight"}
		if ints && !sp.konect {
			note("the third column is taken as weight; --columns src,dst,label or src,dst,time reads it otherwise")
		}
	}
	for i := 3; i < width; i++ {
		if _, t, _ := look(i); t && !slices.Contains(names, "time") {
			names = append(names, "time")
			note("column %d is taken as time: all values look like times", i+1)
			continue
		}
		names = append(names, fmt.Sprintf("col%d", i+1))
	}
	return names
}

// relationBetween reports whether the first three columns are head, relation and tail. The
// middle column must be text. Some texts of the first column must be in the third, and none in
// the second. N-Triples end their lines with a point.
func relationBetween(rows [][][]byte, width int, sep byte) bool {
	if width != 3 && width != 4 {
		return false
	}
	heads, tails := map[string]bool{}, map[string]bool{}
	for _, row := range rows {
		if len(row) != width || isNumber(row[1]) || isNumber(row[0]) != isNumber(row[2]) || isTime(row[2]) || width == 4 && (sep != 0 || string(row[3]) != ".") {
			return false
		}
		heads[string(row[0])], tails[string(row[2])] = true, true
	}
	among, between := false, false
	for _, row := range rows {
		among = among || tails[string(row[0])]
		between = between || heads[string(row[1])]
	}
	return (among || width == 4) && !between
}

// dates reports whether column i has dates alone.
func dates(rows [][][]byte, i int) bool {
	n := 0
	for _, row := range rows {
		if i < len(row) {
			if !isTime(row[i]) {
				return false
			}
			n++
		}
	}
	return n > 0
}

// commaNumbers reports whether column i has numbers alone, and some have a comma.
func commaNumbers(rows [][][]byte, i int) bool {
	some := false
	for _, row := range rows {
		if i < len(row) {
			comma := commaNumber().Match(row[i])
			if !comma && !isNumber(row[i]) {
				return false
			}
			some = some || comma
		}
	}
	return some
}

// clocks reports whether column i has times of day alone.
func clocks(rows [][][]byte, i int) bool {
	return !slices.ContainsFunc(rows, func(row [][]byte) bool {
		return i < len(row) && !(len(row[i]) >= 5 && row[i][2] == ':' && isInt(row[i][:2]) && isInt(row[i][3:5]))
	})
}
