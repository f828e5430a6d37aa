package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestServePage sends the requests of docs/serve.md to a server, and compares the answers with those of the page, in which "…" is any text.
func TestServePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	url, _ := startServe(t, "-g", "club=../../testdata/graphs/karate.txt", "--allow-programs")
	command := regexp.MustCompile(`(?m)^\$ curl --json '(.*)' localhost:8642(\S+)\n`)
	asked := 0
	for _, block := range regexp.MustCompile("(?ms)^```curl\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		at := command.FindAllStringSubmatchIndex(block[1], -1)
		for i, m := range at {
			end := len(block[1])
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			body, path, want := block[1][m[2]:m[3]], block[1][m[4]:m[5]], block[1][m[1]:end]
			resp, err := http.Post(url+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			like := regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*") + "$")
			if !like.Match(got) {
				t.Errorf("%s %s\nanswers %s\nand the page has %s", path, body, got, want)
			}
			asked++
		}
	}
	if asked < 5 {
		t.Errorf("the page has %d requests", asked)
	}
}
