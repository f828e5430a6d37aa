package bolt

import (
	"fmt"
	"time"

	"github.com/weftgraph/weft/internal/serve/bolt/packstream"
)

// checkParams makes moments and durations of structures, in place. It returns an error for a value that no query takes.
func checkParams(params map[string]any) error {
	for name, x := range params {
		y, what := plain(x)
		if what != "" {
			return &Error{Code: CodeType, Message: fmt.Sprintf("the parameter $%s has %s: a parameter is a number, a text, a truth value, a time, a duration, NULL, or a list of these", cut(name, 100), what)}
		}
		params[name] = y
	}
	return nil
}

// plain is a parameter without structures. what names one that it may not have.
func plain(x any) (y any, what string) {
	switch x := x.(type) {
	case packstream.Structure:
		if y, ok := moment(x); ok {
			return y, ""
		}
		if x.Tag == packstream.TagDuration {
			return nil, "a Duration with months, or one that is too long"
		}
		return nil, packstream.Name(x.Tag)
	case []byte:
		return nil, "bytes"
	case []any:
		for i := range x {
			if x[i], what = plain(x[i]); what != "" {
				return nil, what
			}
		}
	case map[string]any:
		for k := range x {
			if x[k], what = plain(x[k]); what != "" {
				return nil, what
			}
		}
	}
	return x, ""
}

// moment is the time or duration of a structure. One without a zone is in UTC, as in the pattern language.
func moment(x packstream.Structure) (any, bool) {
	n := make([]int64, len(x.Fields))
	for i, f := range x.Fields {
		v, ok := f.(int64)
		if !ok && !(x.Tag == packstream.TagDateTimeZone && i == 2) {
			return nil, false
		}
		n[i] = v
	}
	const year = 366 * 24 * 3600
	switch {
	case (x.Tag == packstream.TagDateTime || x.Tag == packstream.TagDateTimeZone) && len(n) == 3, x.Tag == packstream.TagLocalDateTime && len(n) == 2:
		return time.Unix(n[0], n[1]).UTC(), n[1] >= 0 && n[1] < 1e9
	case x.Tag == packstream.TagDate && len(n) == 1:
		return time.Unix(n[0]*24*3600, 0).UTC(), n[0] > -366*10000 && n[0] < 366*10000
	case x.Tag == packstream.TagDuration && len(n) == 4 && n[0] == 0 && n[1] > -366*250 && n[1] < 366*250 && n[2] > -year*40 && n[2] < year*40 && n[3] > -1e9 && n[3] < 1e9:
		return time.Duration(n[1])*24*time.Hour + time.Duration(n[2])*time.Second + time.Duration(n[3]), true
	}
	return nil, false
}
