package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

var background = context.Background()

// memory is the most that a test may have, in bytes. A mutant may allocate without
// end.
const memory = 6 << 30

// trial is a group's sample and its result.
type trial struct {
	group
	row
	all       []*mutant
	reached   []*mutant // in lines that the tests of the group's own packages run
	sample    []*mutant
	survivors []*mutant
}

// choose takes the sample of a group. The numbers of its mutants begin after those
// that t has.
func (t *tester) choose(ctx context.Context, g group, same []*equivalent) (*trial, error) {
	r := &trial{group: g, row: row{group: g.name}}
	files, err := t.o.files(ctx, g)
	if err != nil {
		return nil, err
	}
	if r.all, err = candidates(t.o.root, files, t.o.seed, same); err != nil {
		return nil, err
	}
	for _, m := range r.all {
		t.numbers++
		m.id = t.numbers
	}
	r.reached = r.all
	if t.o.match == nil {
		if r.reached, err = t.reached(ctx, g, r.all); err != nil {
			return nil, err
		}
	}
	r.row.all, r.row.reached = len(r.all), len(r.reached)
	if t.o.list {
		return r, nil
	}
	n := t.o.n
	if n == 0 {
		n = len(r.all)
	}
	var equivalents []*mutant
	rest := r.reached
	for len(r.sample) < n && len(rest) > 0 {
		// Some do not compile: others take their places.
		want := (n - len(r.sample)) * 3 / 2
		var more []*mutant
		for len(more) < want+1 && len(rest) > 0 {
			m := rest[0]
			rest = rest[1:]
			switch {
			case t.o.match != nil && !t.o.match.MatchString(fmt.Sprintf("%s line %d", m.key(), m.line)):
			case m.same != nil:
				equivalents = append(equivalents, m)
			default:
				more = append(more, m)
			}
		}
		if r.sample, err = t.compile(ctx, append(r.sample, more...)); err != nil {
			return nil, err
		}
	}
	r.sample = r.sample[:min(n, len(r.sample))]
	for _, m := range equivalents {
		if len(r.sample) == n && m.rank < r.sample[n-1].rank || t.o.n == 0 {
			r.equivalent++
		}
	}
	return r, nil
}

// list prints all mutants of the trial's group.
func (r *trial) list(out io.Writer) {
	reached := map[*mutant]bool{}
	for _, m := range r.reached {
		reached[m] = true
	}
	for _, m := range r.all {
		mark := "-"
		if reached[m] {
			mark = " "
		}
		fmt.Fprintf(out, "%s line %d, %s\n%s", mark, m.line, m.op, m.key())
	}
}

// try runs the trial's sample.
func (t *tester) try(ctx context.Context, r *trial) error {
	var mu sync.Mutex
	return each(t.o.jobs, r.sample, func(m *mutant) error {
		start := time.Now()
		end, by, err := t.test(ctx, r.group, m)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		r.run++
		switch end {
		case killed:
			r.killed++
		case endless:
			r.killed++
			r.timeout++
		case survived:
			r.survived++
			r.survivors = append(r.survivors, m)
		}
		if t.o.verbose {
			t.say("%s %s by %s, %s, line %d, %s\n%s", r.name, end, by, time.Since(start).Round(100*time.Millisecond), m.line, m.op, m.key())
		}
		return nil
	})
}

// each calls f for all of list, some at a time, until one fails.
func each[T any](jobs int, list []T, f func(T) error) error {
	var mu sync.Mutex
	var failed error
	next := 0
	var crew sync.WaitGroup
	for range max(1, jobs) {
		crew.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := failed != nil || i >= len(list)
				mu.Unlock()
				if stop {
					return
				}
				if err := f(list[i]); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	crew.Wait()
	return failed
}

// listed is go list's output for a package.
type listed struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
}

// files returns the code of a group, with paths below the module's folder.
func (o *options) files(ctx context.Context, g group) ([]string, error) {
	var out []string
	for _, root := range g.roots {
		text, err := o.command(ctx, "list", "-json=Dir,GoFiles", "./"+root+"/...")
		if err != nil {
			return nil, err
		}
		d := json.NewDecoder(bytes.NewReader(text))
		for d.More() {
			var p listed
			if err := d.Decode(&p); err != nil {
				return nil, err
			}
			dir, err := filepath.Rel(o.root, p.Dir)
			if err != nil {
				return nil, err
			}
			if !g.has(filepath.ToSlash(dir)) {
				continue
			}
			for _, f := range p.GoFiles {
				out = append(out, filepath.ToSlash(filepath.Join(dir, f)))
			}
		}
	}
	return out, nil
}

// command runs the go command and returns its output.
func (o *options) command(ctx context.Context, args ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = o.root
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &errs)
	}
	return out.Bytes(), nil
}

// candidates lists the mutants of files of the module in folder root, in the order of
// the sample.
func candidates(root string, files []string, seed int64, same []*equivalent) ([]*mutant, error) {
	var out []*mutant
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(root, f))
		if err != nil {
			return nil, err
		}
		s, err := parse(f, string(text))
		if err != nil {
			return nil, err
		}
		out = append(out, s.mutants()...)
	}
	met := map[string]int{}
	for _, m := range out {
		// The file's name is left out: a function that moves keeps its ranks.
		h := fnv.New64a()
		k := fmt.Sprintf("%d %s %s\n%s\n%s\n", seed, m.function, m.op, m.before, m.after)
		fmt.Fprintf(h, "%s%d", k, met[k])
		met[k]++
		m.rank = mix(h.Sum64())
		for _, e := range same {
			if e.file == m.file && e.function == m.function && e.before == m.before && e.after == m.after {
				m.same = e
				e.used = true
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *mutant) int { return cmp.Compare(a.rank, b.rank) })
	return out, nil
}

// mix spreads a hash over all its bits.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// tester builds and runs tests.
type tester struct {
	o        *options
	printing sync.Mutex
	numbers  int // of mutants so far
	overlay  string
	cover    string               // the packages of all groups, for go test's -coverpkg
	tests    map[suite][]*theTest // those of a suite, with the mutants in them
}

func (t *tester) say(format string, args ...any) {
	t.printing.Lock()
	defer t.printing.Unlock()
	fmt.Fprintf(t.o.out, format, args...)
}

// binary is a compiled test package.
type binary struct {
	pkg   string
	path  string // "" if the package has no tests
	flags []string
}

// theTest is one test function.
type theTest struct {
	*binary
	name    string
	used    time.Duration // of the processor's time, without a mutant
	reached map[int]bool  // the mutants in blocks that it runs, by number
}

var notCompiled = regexp.MustCompile(`(?m)^.*\bmutant(\d+):\d+`)

// compile returns those mutants that compile.
func (t *tester) compile(ctx context.Context, mutants []*mutant) ([]*mutant, error) {
	for {
		list, err := overlay(t.o.root, t.o.work, mutants)
		if err != nil {
			return nil, err
		}
		args := []string{"build", "-overlay", list, "-gcflags=-e"}
		packages := map[string]bool{}
		for _, m := range mutants {
			packages["./"+filepath.Dir(m.file)] = true
		}
		for p := range packages {
			args = append(args, p)
		}
		slices.Sort(args[4:])
		_, err = t.o.command(ctx, args...)
		if err == nil {
			return mutants, nil
		}
		bad := map[int]bool{}
		for _, s := range notCompiled.FindAllStringSubmatch(err.Error(), -1) {
			n, _ := strconv.Atoi(s[1])
			bad[n] = true
		}
		if len(bad) == 0 {
			return nil, err
		}
		mutants = slices.DeleteFunc(mutants, func(m *mutant) bool { return bad[m.id] })
	}
}

// suites returns the tests for mutants of a package of g, the nearest first.
func (g *group) suites(dir string) []suite {
	out := []suite{{dir, ""}}
	for _, s := range g.tests {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// reached returns the mutants in lines that the tests of the group's own packages run.
func (t *tester) reached(ctx context.Context, g group, all []*mutant) ([]*mutant, error) {
	own := map[suite]bool{}
	for _, m := range all {
		own[suite{filepath.Dir(m.file), ""}] = true
	}
	for _, s := range g.tests {
		if g.has(s.pkg) {
			own[s] = true
		}
	}
	covered := coverage{}
	var mu sync.Mutex
	err := each(t.o.jobs, slices.Collect(maps.Keys(own)), func(s suite) error {
		b, err := t.build(ctx, s.pkg, "cover", "-cover", "-coverpkg="+t.cover)
		if err != nil || b.path == "" {
			return err
		}
		defer os.Remove(b.path)
		profile := b.path + ".profile"
		end, out, _, err := t.start(ctx, 0, b, s.run, 0, nil, "-test.coverprofile="+profile)
		if err != nil {
			return err
		}
		if end != survived {
			return fmt.Errorf("without a mutant, tests of %s fail:\n%s", s.pkg, out)
		}
		text, err := os.ReadFile(profile)
		mu.Lock()
		defer mu.Unlock()
		covered.add(string(text))
		return err
	})
	var out []*mutant
	for _, m := range all {
		if covered.has(m.file, m.line, m.col) {
			out = append(out, m)
		}
	}
	return out, err
}

// build compiles the tests of a package.
func (t *tester) build(ctx context.Context, pkg, kind string, flags ...string) (*binary, error) {
	b := &binary{pkg: pkg, path: filepath.Join(t.o.work, kind+"_"+strings.ReplaceAll(pkg, "/", "_")+".test")}
	// Without symbols, linking takes half of its time.
	args := append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", b.path}, flags...)
	if _, err := t.o.command(ctx, append(args, "./"+pkg)...); err != nil {
		return nil, err
	}
	if _, err := os.Stat(b.path); err != nil {
		b.path = "" // no tests
		return b, nil
	}
	// Random tests must be the same for every mutant, and leave no files.
	out, err := exec.CommandContext(ctx, b.path, "-help").CombinedOutput()
	if err == nil && bytes.Contains(out, []byte("-rapid.seed")) {
		b.flags = []string{"-rapid.seed=1", "-rapid.nofailfile"}
	}
	return b, nil
}

// prepare compiles the tests of all trials with all mutants in them. It runs each test
// once without any, and so learns which mutants it reaches.
func (t *tester) prepare(ctx context.Context, trials []*trial) error {
	var all []*mutant
	wanted := map[string][]suite{}
	for _, r := range trials {
		all = append(all, r.sample...)
		for _, m := range r.sample {
			for _, s := range r.suites(filepath.Dir(m.file)) {
				if !slices.Contains(wanted[s.pkg], s) {
					wanted[s.pkg] = append(wanted[s.pkg], s)
				}
			}
		}
	}
	var err error
	if t.overlay, err = overlay(t.o.root, t.o.work, all); err != nil {
		return err
	}
	t.tests = map[suite][]*theTest{}
	var tests []*theTest
	for _, pkg := range slices.Sorted(maps.Keys(wanted)) {
		b, err := t.build(ctx, pkg, "mutants", "-overlay", t.overlay)
		if err != nil {
			return err
		}
		if b.path == "" {
			continue
		}
		known := map[string]*theTest{}
		for _, s := range wanted[pkg] {
			list, err := exec.CommandContext(ctx, b.path, "-test.list="+cmp.Or(s.run, ".")).Output()
			if err != nil {
				return fmt.Errorf("the tests of %s: %w", pkg, err)
			}
			for name := range strings.Lines(string(list)) {
				name = strings.TrimSpace(name)
				if strings.HasPrefix(name, "Benchmark") {
					continue
				}
				if known[name] == nil {
					known[name] = &theTest{binary: b, name: name, reached: map[int]bool{}}
					tests = append(tests, known[name])
				}
				t.tests[s] = append(t.tests[s], known[name])
			}
		}
	}
	return each(t.o.jobs, tests, func(x *theTest) error { return t.reaches(ctx, x) })
}

// reaches runs a test without a mutant.
func (t *tester) reaches(ctx context.Context, x *theTest) error {
	f, err := os.CreateTemp(t.o.work, "reached")
	if err != nil {
		return err
	}
	f.Close()
	end, out, used, err := t.start(ctx, 0, x.binary, "^"+x.name+"$", 0, []string{reachedVariable + "=" + f.Name()})
	if err != nil {
		return err
	}
	if end != survived {
		return fmt.Errorf("with no mutant chosen, %s of %s fails:\n%s", x.name, x.pkg, out)
	}
	x.used = used
	if t.o.verbose {
		t.say("%s %s takes %s\n", x.pkg, x.name, used.Round(10*time.Millisecond))
	}
	text, err := os.ReadFile(f.Name())
	for _, n := range strings.Fields(string(text)) {
		id, _ := strconv.Atoi(n)
		x.reached[id] = true
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// outcome says how a run of tests ended.
type outcome string

const (
	killed   outcome = "killed"
	endless  outcome = "killed by the time limit" // or by memory
	survived outcome = "survived"
)

// quick is the processor's time below which a test is quick.
const quick = 300 * time.Millisecond

// runs returns the tests that reach m, those of each run together: quick ones by suite,
// then each slow one, by its time.
func (t *tester) runs(g group, m *mutant) (out [][]*theTest) {
	var slow []*theTest
	met := map[*theTest]bool{}
	for _, s := range g.suites(filepath.Dir(m.file)) {
		var fast []*theTest
		for _, x := range t.tests[s] {
			switch {
			case !x.reached[m.id] || met[x]:
			case x.used < quick:
				fast = append(fast, x)
			default:
				slow = append(slow, x)
			}
			met[x] = true
		}
		if len(fast) > 0 {
			out = append(out, fast)
		}
	}
	slices.SortStableFunc(slow, func(a, b *theTest) int { return cmp.Compare(a.used, b.used) })
	for _, x := range slow {
		out = append(out, []*theTest{x})
	}
	return out
}

// test runs the tests that reach a mutant until one notices it, and says which did.
func (t *tester) test(ctx context.Context, g group, m *mutant) (outcome, string, error) {
	by := "no tests"
	for _, tests := range t.runs(g, m) {
		limit := t.o.patience
		var names []string
		for _, x := range tests {
			limit += 5 * x.used
			names = append(names, x.name)
		}
		b := tests[0].binary
		by = b.pkg + " " + strings.Join(names, " ")
		end, out, _, err := t.start(ctx, limit, b, "^("+strings.Join(names, "|")+")$", m.id, nil)
		if err != nil {
			return "", "", err
		}
		if end != survived {
			if f := failedTest.FindStringSubmatch(out); f != nil {
				by = b.pkg + " " + f[1]
			}
			return end, by, nil
		}
	}
	return survived, by, nil
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// start runs tests with one mutant, and tells how much of the processor's time they
// took. Their limit is of that time, since other programs may run as well; a mutant that
// waits for ever has no use for it, and ends by the clock. A limit of 0 is none.
func (t *tester) start(ctx context.Context, limit time.Duration, b *binary, run string, id int, env []string, more ...string) (outcome, string, time.Duration, error) {
	tmp, err := os.MkdirTemp(t.o.work, "tmp")
	if err != nil {
		return "", "", 0, err
	}
	defer os.RemoveAll(tmp)
	script, wait := `exec "$0" "$@"`, 20*time.Minute
	if limit > 0 {
		script = fmt.Sprintf("ulimit -t %d; ", int(limit/time.Second)+1) + script
		wait = min(wait, 30*limit)
	}
	args := append([]string{"-c", script, b.path, "-test.short", "-test.failfast", "-test.timeout=0", "-test.run=" + run}, b.flags...)
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c := exec.CommandContext(within, "sh", append(args, more...)...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.Dir = filepath.Join(t.o.root, b.pkg)
	c.Env = append(os.Environ(), variable+"="+strconv.Itoa(id), "TMPDIR="+tmp, "WEFT_CACHE="+filepath.Join(t.o.work, "cache"))
	c.Env = append(c.Env, env...)
	inGroup(c)
	if err := c.Start(); err != nil {
		return "", "", 0, err
	}
	go watch(within, cancel, c.Process.Pid)
	err = c.Wait()
	if ctx.Err() != nil {
		return "", "", 0, ctx.Err()
	}
	used := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return survived, "", used, nil
	case within.Err() != nil || strings.Contains(out.String(), "SIGXCPU") || limit > 0 && used > limit:
		return endless, tail(out.String()), used, nil
	case errors.As(err, &exit):
		return killed, tail(out.String()), used, nil
	}
	return "", "", 0, err
}

// A run that has had less than busy, in hundredths of a second of the processor's time, for as long as idle
// waits for ever. A timer that goes on has less. A run of low priority on a machine with much work has more.
const (
	idle = 20 * time.Second
	busy = 5
)

// pulse tells whether a run waits for ever.
type pulse struct {
	ticks int // the processor's time when the run was last busy
	since time.Time
}

// stopped takes the processor's time of a run so far. It is less than before when a process that the run
// started has ended.
func (p *pulse) stopped(now time.Time, ticks int) bool {
	if ticks < p.ticks || ticks >= p.ticks+busy {
		*p = pulse{ticks, now}
	}
	return now.Sub(p.since) > idle
}

// watch ends a run that needs more than memory, or waits for ever, where /proc tells.
func watch(ctx context.Context, end func(), pid int) {
	p := pulse{since: time.Now()}
	for n, tick := 0, time.Tick(100*time.Millisecond); ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		f := strings.Fields(string(text))
		if err != nil || len(f) < 2 {
			return
		}
		if pages, _ := strconv.ParseInt(f[1], 10, 64); pages > memory/int64(os.Getpagesize()) {
			end()
		}
		if n%20 == 19 && p.stopped(time.Now(), ticks(pid)) {
			end()
		}
	}
}

// ticks is the processor's time that a process and those that it started have had.
func ticks(pid int) (sum int) {
	type process struct{ parent, ticks int }
	all := map[int]process{}
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		text, _ := os.ReadFile(name)
		// pid (command) state parent … utime stime, the 14th and 15th.
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(f) < 13 {
			continue
		}
		var p process
		p.parent, _ = strconv.Atoi(f[1])
		for _, t := range f[11:13] {
			n, _ := strconv.Atoi(t)
			p.ticks += n
		}
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		all[id] = p
	}
	for id, p := range all {
		for id != pid && id > 1 {
			id = all[id].parent
		}
		if id == pid {
			sum += p.ticks
		}
	}
	return sum
}

func tail(s string) string { return s[max(0, len(s)-4000):] }
