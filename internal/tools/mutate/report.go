package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// row is the result of a group.
type row struct {
	group      string
	all        int // mutants of the code
	reached    int // those in lines that a test of the group runs
	run        int
	killed     int
	timeout    int // of killed, those that did not end
	survived   int
	equivalent int // met in the sample and not run
}

func (r row) String() string {
	return fmt.Sprintf("%s: %d mutants run, %d killed (%d by the time limit), %d survived, %d equivalent; %d of %d are in lines that tests run",
		r.group, r.run, r.killed, r.timeout, r.survived, r.equivalent, r.reached, r.all)
}

// markdown returns the table of rows. If there are several, their sum follows, and what its shares mean.
func markdown(rows []row) string {
	var b strings.Builder
	b.WriteString("| package | mutants | killed | of these by the time limit | survived | equivalent | all mutants of the code | in lines that tests run |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	var sum row
	line := func(r row) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", r.group, r.run, r.killed, r.timeout, r.survived, r.equivalent, r.all, r.reached)
	}
	for _, r := range rows {
		line(r)
		sum.run += r.run
		sum.killed += r.killed
		sum.timeout += r.timeout
		sum.survived += r.survived
		sum.equivalent += r.equivalent
		sum.all += r.all
		sum.reached += r.reached
	}
	if sum.group = "all"; len(rows) > 1 {
		line(sum)
	}
	if len(rows) > 1 && sum.run > 0 {
		share := func(n, of int) int { return 100 * n / of } // rounded down: 100 if all mutants were killed, and only then
		fmt.Fprintf(&b, "\nThe tests killed %d %% of the mutants that ran. These are chosen from lines that tests run.\n", share(sum.killed, sum.run))
		fmt.Fprintf(&b, "A further %d %% of all mutants are in lines that none of these tests runs, and would survive them.\n", 100-share(sum.reached, sum.all))
	}
	return b.String()
}

const (
	from = "<!-- written by internal/tools/mutate -->\n"
	to   = "<!-- end -->\n"
)

// rewrite puts rows into the table between the two marks of a file. Groups that did not
// run keep their rows.
func rewrite(name string, rows []row) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(text), from)
	old, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		return fmt.Errorf("%s lacks the marks %q and %q", name, from, to)
	}
	var all []row
	for _, g := range groups {
		for _, r := range append(rows, parseRows(old)...) {
			if r.group == g.name {
				all = append(all, r)
				break
			}
		}
	}
	return os.WriteFile(name, []byte(head+from+markdown(all)+to+tail), 0o644)
}

// parseRows reads a table of markdown.
func parseRows(table string) (out []row) {
	for line := range strings.Lines(table) {
		var r row
		cells := strings.Fields(strings.ReplaceAll(line, "|", " "))
		if len(cells) != 8 {
			continue
		}
		r.group = cells[0]
		for i, to := range []*int{&r.run, &r.killed, &r.timeout, &r.survived, &r.equivalent, &r.all, &r.reached} {
			*to, _ = strconv.Atoi(cells[i+1])
		}
		out = append(out, r)
	}
	return out
}
