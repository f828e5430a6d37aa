package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
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

// group runs the sample of a group, and returns what survived.
func (o *options) group(ctx context.Context, g group, same []*equivalent) (row, []*mutant, error) {
	r := row{group: g.name}
	files, err := o.files(ctx, g)
	if err != nil {
		return r, nil, err
	}
	all, err := candidates(o.root, files, o.seed, same)
	if err != nil {
		return r, nil, err
	}
	r.all = len(all)
	work := filepath.Join(o.work, g.name)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return r, nil, err
	}
	t := &tester{o: o, g: g, work: work, binaries: map[suite]*binary{}}
	reached, err := t.reached(ctx, all)
	if err != nil {
		return r, nil, err
	}
	r.reached = len(reached)
	if o.list {
		for _, m := range all {
			mark := " "
			if !slices.Contains(reached, m) {
				mark = "-"
			}
			fmt.Fprintf(o.out, "%s line %d, %s\n%s", mark, m.line, m.op, m.key())
		}
		return r, nil, nil
	}
	pick := func(m *mutant) bool {
		return o.match == nil || o.match.MatchString(fmt.Sprintf("%s line %d", m.key(), m.line))
	}
	n := o.n
	if n == 0 {
		n = len(all)
	}
	var sample []*mutant
	var equivalents []*mutant
	rest := reached
	for len(sample) < n && len(rest) > 0 {
		// Some do not compile: others take their places.
		want := (n - len(sample)) * 3 / 2
		var more []*mutant
		for len(more) < want+1 && len(rest) > 0 {
			m := rest[0]
			rest = rest[1:]
			switch {
			case !pick(m):
			case m.same != nil:
				equivalents = append(equivalents, m)
			default:
				more = append(more, m)
			}
		}
		if sample, err = t.compile(ctx, append(sample, more...)); err != nil {
			return r, nil, err
		}
	}
	sample = sample[:min(n, len(sample))]
	for _, m := range equivalents {
		if len(sample) == n && m.rank < sample[n-1].rank || o.n == 0 {
			r.equivalent++
		}
	}
	if len(sample) == 0 {
		return r, nil, nil
	}
	if t.overlay, err = overlay(o.root, work, sample); err != nil {
		return r, nil, err
	}
	var mu sync.Mutex
	var survivors []*mutant
	var failed error
	queue := make(chan *mutant)
	var crew sync.WaitGroup
	for range max(1, o.jobs) {
		crew.Go(func() {
			for m := range queue {
				start := time.Now()
				end, by, err := t.test(ctx, m)
				mu.Lock()
				if err != nil && failed == nil {
					failed = err
				}
				r.run++
				switch end {
				case killed:
					r.killed++
				case endless:
					r.killed++
					r.timeout++
				case survived:
					r.survived++
					survivors = append(survivors, m)
				}
				if o.verbose && err == nil {
					fmt.Fprintf(o.out, "%s %s by %s, %s, line %d, %s\n%s", g.name, end, by, time.Since(start).Round(100*time.Millisecond), m.line, m.op, m.key())
				}
				mu.Unlock()
			}
		})
	}
	for _, m := range sample {
		mu.Lock()
		stop := failed != nil
		mu.Unlock()
		if stop {
			break
		}
		queue <- m
	}
	close(queue)
	crew.Wait()
	return r, survivors, failed
}

// listed is what go list says of a package.
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

// command runs the go command and returns what it prints.
func (o *options) command(ctx context.Context, args ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, "nice", append([]string{"-n", "19", "go"}, args...)...)
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
	for i, m := range out {
		m.id = i + 1
	}
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

// tester builds and runs the tests of a group.
type tester struct {
	o        *options
	g        group
	work     string
	overlay  string
	mu       sync.Mutex
	binaries map[suite]*binary
}

// binary is a compiled test package.
type binary struct {
	once  sync.Once
	path  string // "" if the package has no tests
	flags []string
	limit time.Duration // of the processor's time; 0: none
	err   error
}

var notCompiled = regexp.MustCompile(`(?m)^.*\bmutant(\d+):\d+`)

// compile returns those mutants that compile.
func (t *tester) compile(ctx context.Context, mutants []*mutant) ([]*mutant, error) {
	for {
		list, err := overlay(t.o.root, t.work, mutants)
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

// suites returns the tests for mutants of a package, the nearest first.
func (t *tester) suites(dir string) []suite {
	out := []suite{{dir, ""}}
	for _, s := range t.g.tests {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// reached returns the mutants in lines that the tests of the group's own packages run.
func (t *tester) reached(ctx context.Context, all []*mutant) ([]*mutant, error) {
	var dirs []string
	for _, m := range all {
		if d := filepath.Dir(m.file); !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	slices.Sort(dirs)
	suites := map[suite]bool{}
	for _, d := range dirs {
		suites[suite{d, ""}] = true
	}
	for _, s := range t.g.tests {
		if t.g.has(s.pkg) {
			suites[s] = true
		}
	}
	var what []string
	for _, d := range dirs {
		what = append(what, "./"+d)
	}
	covered := coverage{}
	for s := range suites {
		profile := filepath.Join(t.work, "cover")
		b := t.build(ctx, s, profile+".test", "-cover", "-coverpkg="+strings.Join(what, ","))
		if b.err != nil {
			return nil, b.err
		}
		if b.path == "" {
			continue
		}
		if end, out, _, _ := t.start(ctx, s, b, 0, "-test.coverprofile="+profile); end != survived {
			return nil, fmt.Errorf("without a mutant, tests of %s fail:\n%s", s.pkg, out)
		}
		text, err := os.ReadFile(profile)
		if err != nil {
			return nil, err
		}
		covered.add(string(text))
	}
	var out []*mutant
	for _, m := range all {
		if covered.has(m.file, m.line, m.col) {
			out = append(out, m)
		}
	}
	return out, nil
}

// build compiles the tests of s.
func (t *tester) build(ctx context.Context, s suite, path string, flags ...string) *binary {
	b := &binary{path: path}
	_ = os.Remove(path) // of another package
	args := append([]string{"test", "-c", "-vet=off", "-o", path}, flags...)
	_, b.err = t.o.command(ctx, append(args, "./"+s.pkg)...)
	if _, err := os.Stat(path); b.err == nil && err != nil {
		b.path = "" // no tests
		return b
	}
	if b.err != nil {
		return b
	}
	// Random tests must be the same for every mutant, and leave no files.
	out, err := exec.Command(path, "-help").CombinedOutput()
	if err == nil && bytes.Contains(out, []byte("-rapid.seed")) {
		b.flags = []string{"-rapid.seed=1", "-rapid.nofailfile"}
	}
	return b
}

// outcome says how a run of tests ended.
type outcome string

const (
	killed   outcome = "killed"
	endless  outcome = "killed by the time limit" // or by memory
	survived outcome = "survived"
)

// test runs suites until one notices the mutant, and says which did.
func (t *tester) test(ctx context.Context, m *mutant) (outcome, string, error) {
	by := "no tests"
	for _, s := range t.suites(filepath.Dir(m.file)) {
		b, err := t.binary(ctx, s)
		if err != nil {
			return "", "", err
		}
		if b.path == "" {
			continue
		}
		by = strings.TrimSpace(s.pkg + " " + s.run)
		end, _, _, err := t.start(ctx, s, b, m.id)
		if err != nil {
			return "", "", err
		}
		if end != survived {
			return end, by, nil
		}
	}
	return survived, by, nil
}

// binary returns the tests of s with all mutants in them, and runs them once
// without any.
func (t *tester) binary(ctx context.Context, s suite) (*binary, error) {
	t.mu.Lock()
	b := t.binaries[s]
	if b == nil {
		b = &binary{}
		t.binaries[s] = b
	}
	path := filepath.Join(t.work, fmt.Sprintf("mutants%d.test", len(t.binaries)))
	t.mu.Unlock()
	b.once.Do(func() {
		built := t.build(ctx, s, path, "-overlay", t.overlay)
		b.path, b.flags, b.err = built.path, built.flags, built.err
		if b.err != nil || b.path == "" {
			return
		}
		end, out, used, err := t.start(ctx, s, b, 0)
		switch {
		case err != nil:
			b.err = err
		case end != survived:
			b.err = fmt.Errorf("with no mutant chosen, tests of %s fail:\n%s", s.pkg, out)
		}
		b.limit = t.o.patience + 5*used
	})
	return b, b.err
}

// start runs tests with one mutant, and tells how much of the processor's time they
// took. Their limit is of that time, since other programs may run as well; a mutant that
// waits for ever has no use for it, and ends by the clock.
func (t *tester) start(ctx context.Context, s suite, b *binary, id int, more ...string) (outcome, string, time.Duration, error) {
	tmp, err := os.MkdirTemp(t.work, "tmp")
	if err != nil {
		return "", "", 0, err
	}
	defer os.RemoveAll(tmp)
	script, wait := `exec nice -n 19 "$0" "$@"`, 20*time.Minute
	if b.limit > 0 {
		script = fmt.Sprintf("ulimit -t %d; ", int(b.limit/time.Second)+1) + script
		wait = min(wait, 30*b.limit)
	}
	args := append([]string{"-c", script, b.path, "-test.short", "-test.failfast", "-test.timeout=0", "-test.run=" + s.run}, b.flags...)
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c := exec.CommandContext(within, "sh", append(args, more...)...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.Dir = filepath.Join(t.o.root, s.pkg)
	c.Env = append(os.Environ(), variable+"="+strconv.Itoa(id), "TMPDIR="+tmp, "WEFT_CACHE="+filepath.Join(t.o.work, "cache"))
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
	case within.Err() != nil || strings.Contains(out.String(), "SIGXCPU") || b.limit > 0 && used > b.limit:
		return endless, tail(out.String()), used, nil
	case errors.As(err, &exit):
		return killed, tail(out.String()), used, nil
	}
	return "", "", 0, err
}

// watch ends a run that needs more than memory, where /proc tells.
func watch(ctx context.Context, end func(), pid int) {
	name := fmt.Sprintf("/proc/%d/statm", pid)
	for tick := time.Tick(100 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		text, err := os.ReadFile(name)
		f := strings.Fields(string(text))
		if err != nil || len(f) < 2 {
			return
		}
		if pages, _ := strconv.Atoi(f[1]); pages > memory/os.Getpagesize() {
			end()
		}
	}
}

func tail(s string) string { return s[max(0, len(s)-4000):] }
