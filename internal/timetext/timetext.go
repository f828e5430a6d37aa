// Package timetext reads dates and times of day, in the same way for files and for queries.
//
// It must not know files, graphs or queries.
package timetext

import "time"

// timeLayouts are the forms of a date with a time of day. They differ in four parts: the mark
// between year, month and day, the mark before the time of day, seconds or none, and a zone or
// none.
var timeLayouts = func() (all [2][2][2][2]string) {
	for i, day := range dayLayouts {
		for j, mark := range [...]string{"T", " "} {
			for k, clock := range [...]string{"15:04", "15:04:05.999999999"} {
				all[i][j][k] = [2]string{day + mark + clock, day + mark + clock + "Z07:00"}
			}
		}
	}
	return all
}()

var dayLayouts = [2]string{"2006-01-02", "2006/01/02"}

// Parse reads a date, year first, or a date and a time of day, to the minute or
// finer. It is UTC where s names no zone. ok is false where s is anything else.
func Parse(s string) (t time.Time, ok bool) {
	const day, minute = len("2006-01-02"), len("2006-01-02T15:04")
	if len(s) < day {
		return t, false
	}
	bit := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	slash := bit(s[4] == '/')
	layout := dayLayouts[slash]
	if len(s) >= minute {
		zone := s[len(s)-1] == 'Z' || len(s) > minute+5 && s[len(s)-3] == ':' && (s[len(s)-6] == '+' || s[len(s)-6] == '-')
		layout = timeLayouts[slash][bit(s[day] == ' ')][bit(len(s) > minute && s[minute] == ':')][bit(zone)]
	}
	t, err := time.Parse(layout, s)
	return t, err == nil
}
