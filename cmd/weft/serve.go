package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/rest"
	"github.com/weftgraph/weft/internal/vfs"
)

// serveFlags are those of weft serve.
type serveFlags struct {
	graphFlags
	graphs                     []string
	folder, listen, bolt       string
	users                      string
	boltOrigins                []string
	cert, key                  string
	insecure                   bool
	hosts                      []string
	grace, patience, keep      time.Duration
	log                        string
	limits                     serve.Limits
	memory, gpuMemory, maxBody string
	programs, programMemory    string
	compilerMemory             string
	device                     string
	threads                    int
	// ready, for tests, is told the address when the server listens.
	ready func(net.Addr)
}

func (a *app) serveCmd() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve -g [NAME=]FILE... [flags]",
		Short: "answer queries about graphs over HTTP and Bolt",
		Long: `Keep graphs open, and answer queries about them over HTTP until a signal comes. A
graph has the name before =, or that of its file without the extensions. Clients
know graphs by their names alone. Browsers get a page at /, and GET /openapi.json
describes the requests. With --bolt also Neo4j's drivers are answered, in weft's
pattern language.

Queries beyond --max-running wait for their turn. A result that a limit cut short
says so. GET /v1/running lists what runs and waits.

Without --users everybody who reaches the address may ask, and add, reload and drop
graphs. So the address is of this machine (localhost) by default. Another one needs
--tls-cert, --tls-key and --users, or --insecure. weft user add makes users.

--allow-programs lets clients run programs in Matcha. The interpreter bounds their time
and memory. As c and cuda a program is compiled and runs as native code: allow these
only if you trust everybody who may ask. --compiler-memory bounds the C compiler.

SIGHUP reads the files of --users, --tls-cert and --tls-key again. If one is wrong, all
stay as they were. Without these flags SIGHUP ends the server.

SIGTERM and Ctrl-C end the server: it takes no more requests, waits for queries for
--grace, and then cuts them short. The exit code is then 1, and otherwise 0. A second
signal ends it at once.

` + exitCodesNoTimeout,
		Example: `  weft serve -g payments.weft
  weft serve -g people=follows.csv --directed --listen localhost:9000
  weft serve -g payments.weft --listen :8642 --tls-cert cert.pem --tls-key key.pem --users users.jsonl --host weft.example.org
  weft serve -g payments.weft --bolt localhost:7687
  curl --json '{"query":"MATCH (a)--(b)--(c)--(a)"}' localhost:8642/v1/count`,
		Args: takes(),
		RunE: func(_ *cobra.Command, _ []string) error { return a.serve(&f) },
	}
	fs := cmd.Flags()
	fs.StringArrayVarP(&f.graphs, "graph", "g", nil, "`[NAME=]FILE` of a graph (repeatable)")
	f.addReading(cmd)
	fs.StringVar(&f.folder, "graphs-dir", "", "`FOLDER` of graphs that administrators may add by their names")
	fs.StringVar(&f.listen, "listen", "localhost:8642", "`ADDRESS` for HTTP; port 0 means any that is free")
	fs.StringVar(&f.bolt, "bolt", "", "`ADDRESS` for Bolt, the protocol of Neo4j's drivers, as localhost:7687")
	fs.StringArrayVar(&f.boltOrigins, "bolt-origin", nil, "`ORIGIN` of pages in a browser that may speak Bolt, as http://localhost:7474 (repeatable)")
	fs.StringVar(&f.users, "users", "", "`FILE` of users and tokens, which weft user add makes")
	fs.StringVar(&f.cert, "tls-cert", "", "`FILE` of the certificate, as PEM, with those of its issuers behind it")
	fs.StringVar(&f.key, "tls-key", "", "`FILE` of the certificate's key, as PEM")
	fs.BoolVar(&f.insecure, "insecure", false, "listen at an address of other machines without TLS or without users")
	fs.StringArrayVar(&f.hosts, "host", nil, "`NAME` of this server in addresses of requests, besides localhost (repeatable); others are refused")
	fs.DurationVar(&f.grace, "grace", 10*time.Second, "after a signal, wait this `TIME` for queries")
	fs.DurationVar(&f.patience, "patience", 30*time.Second, "end a query whose client takes nothing for this `TIME`")
	fs.DurationVar(&f.keep, "keep-jobs", 10*time.Minute, "keep the answers of jobs for this `TIME`")
	fs.StringVar(&f.log, "log", "text", "form of the log on standard error: text, json, none")
	fs.IntVar(&f.limits.Running, "max-running", 0, "run at most `N` queries at the same time; 0 means one for each core")
	fs.IntVar(&f.limits.PerUser, "max-running-user", 0, "run at most `N` queries of one user at the same time; 0 means one less than --max-running with --users, and as many without")
	fs.IntVar(&f.limits.Waiting, "max-waiting", 1000, "let at most `N` queries wait, and refuse others")
	fs.DurationVar(&f.limits.Time, "max-time", 0, "cut a query short after this `TIME`; 0 means never")
	fs.DurationVar(&f.limits.Planning, "max-planning", 10*time.Second, "refuse a query whose planning takes more than this `TIME`; 0 means never")
	fs.Int64Var(&f.limits.Rows, "max-rows", 0, "cut a result short after `N` rows; 0 means never")
	fs.StringVar(&f.memory, "memory", "", "when the process has more than `MEMORY` (2G, 500M), end the newest query; default: the system's limit alone")
	fs.StringVar(&f.maxBody, "max-body", "1M", "refuse bodies of more than `BYTES`")
	fs.IntVar(&f.limits.Text, "max-query", 64<<10, "refuse queries of more than `BYTES`")
	fs.IntVar(&f.limits.Vertices, "max-vertices", 0, "refuse patterns of more than `N` vertices; 0 means those that weft cannot search")
	fs.StringVar(&f.programs, "allow-programs", "", "take Matcha programs, for the `TARGETS` interp, c and cuda; without a value: interp")
	fs.Lookup("allow-programs").NoOptDefVal = "interp"
	fs.StringVar(&f.programMemory, "program-memory", "256M", "refuse a program whose lists, graphs and Counters need more than `MEMORY`")
	fs.StringVar(&f.compilerMemory, "compiler-memory", "1G", "end the C compiler of a program or a query that takes more than `MEMORY` (on Linux)")
	fs.IntVar(&f.threads, "threads", 0, "threads of a query at most; 0 means one for each core")
	fs.StringVar(&f.device, "device", "auto", "device of queries that name none: auto, cpu, or gpu:0,1,…")
	fs.StringVar(&f.gpuMemory, "gpu-memory", "", "use at most `MEMORY` of a GPU (40G); default: all free memory")
	return cmd
}

// check finds mistakes in the flags.
func (f *serveFlags) check() (sources []serve.Source, body int64, err error) {
	if len(f.graphs) == 0 && f.folder == "" {
		return nil, 0, usagef("no graph: give a file with -g, or a folder with --graphs-dir")
	}
	if len(f.graphs) > 1 && (f.labels != "" || f.vertices != "") {
		return nil, 0, usagef("--labels and --vertices are about one graph: convert the graphs first (weft convert)")
	}
	for _, g := range f.graphs {
		name, path, ok := strings.Cut(g, "=")
		if !ok || strings.ContainsAny(name, `/\.`) {
			name, path = serve.NameOf(g), g
		}
		if err := serve.CheckName(name); err != nil {
			return nil, 0, usagef("-g %s: %v; give it one as NAME=FILE", g, err)
		}
		if path == "" || path == "-" {
			return nil, 0, usagef("-g %s: want a file", g)
		}
		for _, s := range sources {
			if s.Name == name {
				return nil, 0, usagef("-g %s: %s has the name %s already; give it another as NAME=FILE", g, s.Path, name)
			}
		}
		sources = append(sources, serve.Source{Name: name, Path: path, Options: f.options()})
	}
	l := &f.limits
	switch {
	case l.Running < 0 || l.PerUser < 0 || l.Waiting < 1 || l.Time < 0 || l.Planning < 0 || l.Rows < 0 || l.Text < 1 || l.Vertices < 0 || f.threads < 0:
		return nil, 0, usagef("limits and --threads cannot be negative, and --max-waiting and --max-query are at least 1")
	case f.grace < 0 || f.patience <= 0 || f.keep <= 0:
		return nil, 0, usagef("--grace cannot be negative, and --patience and --keep-jobs must be above 0")
	case (f.cert == "") != (f.key == ""):
		return nil, 0, usagef("--tls-cert and --tls-key go together")
	case f.bolt == "" && len(f.boltOrigins) > 0:
		return nil, 0, usagef("--bolt-origin is about --bolt, which is not given")
	case f.log != "text" && f.log != "json" && f.log != "none":
		return nil, 0, usagef("--log %q: want text, json or none", f.log)
	}
	l.Threads = f.threads
	if l.Memory, err = parseBytes(f.memory); err != nil {
		return nil, 0, usagef("--memory: %v", err)
	}
	if body, err = parseBytes(f.maxBody); err != nil {
		return nil, 0, usagef("--max-body: %v", err)
	}
	if _, err := parseBytes(f.gpuMemory); err != nil {
		return nil, 0, usagef("--gpu-memory: %v", err)
	}
	if l.ProgramMemory, err = parseBytes(f.programMemory); err != nil || l.ProgramMemory < 1 {
		return nil, 0, usagef("--program-memory: want a number of bytes above 0, as 256M")
	}
	if l.CompilerMemory, err = parseBytes(f.compilerMemory); err != nil || l.CompilerMemory < 1 {
		return nil, 0, usagef("--compiler-memory: want a number of bytes above 0, as 1G")
	}
	for _, t := range f.targets() {
		if !slices.ContainsFunc(weft.MatchaTargets(), func(known [2]string) bool { return known[0] == t }) {
			return nil, 0, usagef("--allow-programs=%s: want interp, c or cuda, with commas between them", f.programs)
		}
	}
	for flag, address := range map[string]string{"--listen": f.listen, "--bolt": f.bolt} {
		if flag == "--bolt" && address == "" {
			continue
		}
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, 0, usagef("%s %s: want HOST:PORT, as localhost:8642", flag, address)
		}
		if !f.insecure && !isLoopback(host) && (f.cert == "" || f.users == "") {
			return nil, 0, usagef("%s %s: other machines reach this address: give --tls-cert, --tls-key and --users, or say --insecure", flag, address)
		}
	}
	return sources, body, nil
}

// targets are those of programs that clients may run.
func (f *serveFlags) targets() (out []string) {
	if f.programs == "" {
		return nil
	}
	for t := range strings.SplitSeq(f.programs, ",") {
		if t = strings.TrimSpace(t); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// missing says what an address of other machines has not.
func (f *serveFlags) missing() string {
	text := ""
	if f.cert == "" {
		text += ", and what is sent is not encrypted"
	}
	if f.users == "" {
		text += ", and everybody may ask, and add and drop graphs"
	}
	return text
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// logger writes to standard error.
func (a *app) logger(form string) *slog.Logger {
	switch form {
	case "json":
		return slog.New(slog.NewJSONHandler(a.stderr, nil))
	case "text":
		return slog.New(slog.NewTextHandler(a.stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}

func (a *app) serve(f *serveFlags) error {
	sources, body, err := f.check()
	if err != nil {
		return err
	}
	who := &access{f: f}
	cert, users, err := who.read(a.ctx)
	if err != nil {
		return err
	}
	who.cert.Store(cert)
	l, err := (&net.ListenConfig{}).Listen(a.ctx, "tcp", f.listen)
	if err != nil {
		return usagef("--listen %s: %v", f.listen, err)
	}
	defer l.Close()
	speaks, err := a.listenBolt(f)
	if err != nil {
		return err
	}
	defer speaks.close()
	gpuMemory, _ := parseBytes(f.gpuMemory)
	rt := weft.NewRuntime(weft.RuntimeOptions{Device: f.device, GPUMemory: gpuMemory, Threads: f.threads})
	defer rt.Close()
	if err := rt.Check(a.ctx, weft.WithDevice(f.device)); err != nil {
		return err
	}
	logger := a.logger(f.log)
	catalog := serve.NewCatalog(serve.CatalogOptions{Runtime: rt, Files: vfs.From(a.ctx), Log: logger, Folder: f.folder})
	defer catalog.Close()
	for _, s := range sources {
		if err := catalog.Open(a.ctx, s); err != nil {
			return err
		}
	}
	server := serve.New(serve.Options{Catalog: catalog, Users: users, Limits: f.limits, Programs: f.targets(), Log: logger})
	handler := rest.New(rest.Options{Server: server, Log: logger, Hosts: who.hosts(cert), Body: body, Patient: f.patience, Keep: f.keep})
	if reload := who.reload(server, handler); reload != nil {
		handler.Reload = reload
		defer onHangup(a.ctx, func() { go func() { _ = reload(a.ctx) }() })() // a file may be slow, and other signals come
	}
	return a.answer(f, l, who.tls(), server, handler, speaks)
}

// mostConnections is the number of connections of HTTP and Bolt that are open at the same time, at most half of them from one address.
const mostConnections = 4096

// answer answers requests until a signal comes and queries have ended.
func (a *app) answer(f *serveFlags, l net.Listener, secure *tls.Config, server *serve.Server, handler *rest.Handler, speaks *boltService) error {
	web := &http.Server{
		Handler: handler, TLSConfig: secure, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: log.New(logLines{server.Log}, "", 0),
	}
	scheme := "http"
	if secure != nil {
		scheme = "https"
	}
	if host, _, err := net.SplitHostPort(f.listen); f.insecure && err == nil && !isLoopback(host) {
		fmt.Fprintf(a.stderr, "weft: --insecure: other machines reach %s%s\n", l.Addr(), f.missing())
	}
	fmt.Fprintf(a.stderr, "weft: answering at %s://%s\n", scheme, l.Addr())
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(context.WithoutCancel(a.ctx))
	all.Go(func() { server.Attend(ctx) })
	failed := make(chan error, 1)
	connections := serve.NewConnections(mostConnections)
	l = connections.Listener(l)
	go func() {
		if secure != nil {
			failed <- web.ServeTLS(l, "", "")
		} else {
			failed <- web.Serve(l)
		}
	}()
	speaks.start(a, f, secure, server, connections)
	if f.ready != nil {
		f.ready(l.Addr())
	}
	var err error
	cut := 0
	select {
	case err = <-failed:
		speaks.drain()()
	case err = <-speaks.ended():
		err = boltFailed(err)
		_ = web.Close()
	case <-a.ctx.Done():
		endBolt := speaks.drain()
		begun := time.Now()
		cut = server.Drain(context.Background(), f.grace)
		endBolt()
		// For answers to be written. A client that has stalled has had some of that time already.
		end, cancel := context.WithTimeout(context.Background(), max(f.grace+5*time.Second-time.Since(begun), time.Second))
		if web.Shutdown(end) != nil {
			_ = web.Close()
		}
		cancel()
	}
	handler.Close()
	stop()
	all.Wait()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if cut > 0 {
		fmt.Fprintf(a.stderr, "weft: %s cut short\n", plural(uint64(cut), "result"))
		return exitError(exitFailure)
	}
	return nil
}

// logLines logs what package net/http says of connections.
type logLines struct{ log *slog.Logger }

func (l logLines) Write(b []byte) (int, error) {
	l.log.Debug(strings.TrimSpace(string(b)))
	return len(b), nil
}
