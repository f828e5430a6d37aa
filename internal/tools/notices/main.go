// Command notices writes THIRD_PARTY_NOTICES. It has the licences of Go and of the modules that
// are linked into weft on any platform of a release, and of the npm packages in the built page of
// weft serve.
//
//	go run ./internal/tools/notices [-check] [-o FILE] [OS/ARCH ...]
//
// With -check it compares the file instead, and exits with 1 if it is out of date.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	file := flag.String("o", "THIRD_PARTY_NOTICES", "`FILE` to write")
	check := flag.Bool("check", false, "compare the file, and write nothing")
	flag.Parse()
	if err := run(*file, *check, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(file string, check bool, targets []string) error {
	if len(targets) == 0 {
		targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
	}
	var list []pkg
	for _, t := range targets {
		system, arch, ok := strings.Cut(t, "/")
		if !ok {
			return fmt.Errorf("%s is not OS/ARCH", t)
		}
		cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module", "./cmd/weft")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("go list for %s: %w", t, err)
		}
		more, err := packages(bytes.NewReader(out))
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	page, err := os.ReadFile(pageLicences)
	if err != nil {
		return err
	}
	text, err := notices(list, strings.TrimSpace(string(root)), page)
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(file, text, 0o644)
	}
	if old, err := os.ReadFile(file); err != nil {
		return err
	} else if !bytes.Equal(old, text) {
		return fmt.Errorf("%s is out of date; `make notices` writes it", file)
	}
	return nil
}

// pageLicences is the file in which Vite lists the npm packages of the page.
const pageLicences = "internal/serve/page/dist/licences.json"

// pkg is a package as go list describes it.
type pkg struct {
	ImportPath, Dir string
	Standard        bool
	Module          *module
}

type module struct {
	Path, Version, Dir string
	Main               bool
}

func packages(r io.Reader) (list []pkg, err error) {
	d := json.NewDecoder(r)
	for {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
}

// legal are the names of files with licences and notices.
var legal = regexp.MustCompile(`^(?i)(licen[cs]e|copying|notice|patents|copyright)([-.].*)?$`)

// notices returns the text for the packages, and for those of npm that page lists. A module's licences are those in its
// folder, and those between it and its packages that are linked.
func notices(list []pkg, goroot string, page []byte) ([]byte, error) {
	files := map[module][]string{}
	for _, p := range list {
		if p.Standard || p.Module == nil || p.Module.Main {
			continue
		}
		m := *p.Module
		for dir := p.Dir; ; dir = filepath.Dir(dir) {
			found, err := legalIn(dir)
			if err != nil {
				return nil, err
			}
			files[m] = append(files[m], found...)
			if dir == m.Dir || len(dir) <= len(m.Dir) {
				break
			}
		}
		if len(files[m]) == 0 {
			return nil, fmt.Errorf("%s %s has no licence", m.Path, m.Version)
		}
	}
	var b bytes.Buffer
	b.WriteString("weft is distributed under the Apache License 2.0, in LICENSE. Its programs contain Go's run-time system and standard\nlibrary, the modules below, and in the page of weft serve the npm packages below, under the licences that follow.\n")
	license, err := os.ReadFile(filepath.Join(goroot, "LICENSE"))
	if err != nil {
		return nil, err
	}
	section(&b, "Go, https://go.dev", license)
	modules := make([]module, 0, len(files))
	for m := range files {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	for _, m := range modules {
		slices.Sort(files[m])
		for _, f := range slices.Compact(files[m]) {
			text, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			rel, err := filepath.Rel(m.Dir, f)
			if err != nil {
				return nil, err
			}
			section(&b, fmt.Sprintf("%s %s, %s", m.Path, m.Version, filepath.ToSlash(rel)), text)
		}
	}
	if err := npm(&b, page); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// npm writes the licences of npm packages, which Vite lists in the order of their names.
func npm(b *bytes.Buffer, page []byte) error {
	var packages []struct{ Name, Version, Text string }
	if err := json.Unmarshal(page, &packages); err != nil {
		return fmt.Errorf("%s: %w", pageLicences, err)
	}
	for _, p := range packages {
		if strings.TrimSpace(p.Text) == "" {
			return fmt.Errorf("the npm package %s %s has no licence", p.Name, p.Version)
		}
		section(b, fmt.Sprintf("%s %s, an npm package", p.Name, p.Version), []byte(p.Text))
	}
	return nil
}

func legalIn(dir string) (found []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if legal.MatchString(e.Name()) && e.Type().IsRegular() && !strings.HasSuffix(e.Name(), ".go") {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found, nil
}

func section(b *bytes.Buffer, title string, text []byte) {
	fmt.Fprintf(b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), title, bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
}
