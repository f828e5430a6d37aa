package main

import (
	"sort"
	"strconv"
	"strings"
)

// paramValue reads the value of --param: null, true, false, a number, a list in
// brackets, a text in quotes, or the text as it stands.
func paramValue(s string) any {
	switch t := strings.TrimSpace(s); {
	case t == "null":
		return nil
	case t == "true":
		return true
	case t == "false":
		return false
	case len(t) >= 2 && (t[0] == '\'' || t[0] == '"') && t[len(t)-1] == t[0]:
		return t[1 : len(t)-1]
	case len(t) >= 2 && t[0] == '[' && t[len(t)-1] == ']':
		list := []any{}
		if inside := strings.TrimSpace(t[1 : len(t)-1]); inside != "" {
			for item := range strings.SplitSeq(inside, ",") {
				list = append(list, paramValue(item))
			}
		}
		return list
	default:
		if i, err := strconv.ParseInt(t, 10, 64); err == nil {
			return i
		}
		if x, err := strconv.ParseFloat(t, 64); err == nil {
			return x
		}
		return t
	}
}

// sortNatural sorts names so that q2 comes before q10.
func sortNatural(names []string) {
	sort.SliceStable(names, func(i, j int) bool { return naturalLess(names[i], names[j]) })
}

func naturalLess(a, b string) bool {
	for a != "" && b != "" {
		x, restA := chunk(a)
		y, restB := chunk(b)
		if x != y {
			m, err1 := strconv.ParseUint(x, 10, 64)
			n, err2 := strconv.ParseUint(y, 10, 64)
			if err1 == nil && err2 == nil && m != n {
				return m < n
			}
			return x < y
		}
		a, b = restA, restB
	}
	return len(a) < len(b)
}

// chunk cuts off a run of digits, or one other byte.
func chunk(s string) (head, rest string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	n = max(n, 1)
	return s[:n], s[n:]
}
