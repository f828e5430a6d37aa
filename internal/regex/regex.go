// Package regex compiles regular expressions of packages when they are first used.
//
// Why: a program compiles the expressions of all its packages before it begins, and most commands use none of them. Compiling
// takes 20 to 100 µs for an expression.
package regex

import (
	"regexp"
	"sync"
)

// Once returns a function that compiles an expression at its first call, and returns it at each. A mistake in the expression is a
// panic of that call. Safe for concurrent use.
func Once(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
