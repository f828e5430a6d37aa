package rest

import (
	"cmp"
	"context"
	_ "embed" // of openapi.json
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
	"github.com/weftgraph/weft/internal/serve/page"
	"github.com/weftgraph/weft/internal/serve/rest/request"
)

// Options say how requests are answered. 0 means the value in brackets.
type Options struct {
	Server *serve.Server
	Log    *slog.Logger // of requests; nil writes none
	// Hosts are names of the server besides localhost. Requests with another name are refused, because a page of another site may have
	// sent them (DNS rebinding). Addresses are always taken.
	Hosts   []string
	Body    int64         // the most bytes of a body (1 MiB)
	Patient time.Duration // how long a client may take nothing of what is written (30 s)
	Keep    time.Duration // how long the answer of a job is kept (10 min)
	// Reload reads the users and the certificate again; nil: the server has no files of them.
	Reload func(context.Context) error
}

// Handler answers requests. Close ends its jobs.
type Handler struct {
	Options
	jobs  jobs
	mux   *http.ServeMux
	hosts atomic.Pointer[[]string]
	forms request.Forms         // of queries and jobs
	parts request.Forms         // of parse
	files map[string]*page.File // by their paths
	body  time.Duration         // how long a client may take to send a body
}

//go:embed openapi.json
var document []byte

// route is a method and a path, as in openapi.json, with what a client needs.
type route struct {
	method, path string
	open         bool // to clients without credentials
	answer       func(h *Handler, w http.ResponseWriter, r *http.Request, who serve.Identity) error
}

// paths are the paths of a route. A route of the page's files has one for each of them, so that no other is looked for.
func (r route) paths(files map[string]*page.File) (out []string) {
	folder, ok := strings.CutSuffix(r.path, "{file}")
	if !ok {
		return []string{r.path}
	}
	for at := range files {
		if dir, name := path.Split(at); dir == folder && name != "" {
			out = append(out, at)
		}
	}
	return out
}

// routes are all of them. A test compares them with openapi.json.
func routes() []route {
	query := func(kind serve.Kind) func(*Handler, http.ResponseWriter, *http.Request, serve.Identity) error {
		return func(h *Handler, w http.ResponseWriter, r *http.Request, who serve.Identity) error {
			return h.query(w, r, who, kind)
		}
	}
	out := []route{
		{"GET", "/", true, (*Handler).home},
		{"GET", "/healthz", true, (*Handler).health},
		{"GET", "/openapi.json", true, (*Handler).describe},
		{"GET", "/metrics", false, (*Handler).metrics},
		{"GET", "/assets/{file}", true, (*Handler).file},
		{"GET", "/{file}", true, (*Handler).file},
		{"GET", "/v1/graphs", false, (*Handler).graphs},
		{"GET", "/v1/graphs/{name}", false, (*Handler).graph},
		{"PUT", "/v1/graphs/{name}", false, (*Handler).addGraph},
		{"POST", "/v1/graphs/{name}/reload", false, (*Handler).reloadGraph},
		{"DELETE", "/v1/graphs/{name}", false, (*Handler).dropGraph},
		{"GET", "/v1/graphs/{name}/schema", false, (*Handler).schema},
		{"POST", "/v1/parse", false, (*Handler).parse},
		{"GET", "/v1/running", false, (*Handler).running},
		{"POST", "/v1/reload", false, (*Handler).reload},
		{"POST", "/v1/jobs", false, (*Handler).addJob},
		{"GET", "/v1/jobs/{id}", false, (*Handler).job},
		{"GET", "/v1/jobs/{id}/answer", false, (*Handler).jobAnswer},
		{"GET", "/v1/jobs/{id}/events", false, (*Handler).jobEvents},
		{"DELETE", "/v1/jobs/{id}", false, (*Handler).dropJob},
	}
	for _, kind := range serve.Kinds {
		out = append(out, route{"POST", "/v1/" + string(kind), false, query(kind)})
	}
	return out
}

// forms are the fields of requests for the kinds of queries, and of others.
func forms() (queries, parts request.Forms) {
	var kinds []string
	for _, kind := range serve.Kinds {
		kinds = append(kinds, string(kind))
	}
	return formsOf(kinds), formsOf([]string{"parse"})
}

func formsOf(kinds []string) request.Forms {
	f, err := request.ReadForms(document, kinds)
	if err != nil {
		panic(err) // a test reads it
	}
	return f
}

// New returns a handler.
func New(o Options) *Handler {
	o.Body, o.Patient, o.Keep = cmp.Or(o.Body, 1<<20), cmp.Or(o.Patient, 30*time.Second), cmp.Or(o.Keep, 10*time.Minute)
	h := &Handler{Options: o, mux: http.NewServeMux(), body: bodyTime}
	h.forms, h.parts = forms()
	h.files = map[string]*page.File{}
	for _, f := range page.Files() {
		h.files[f.Path] = f
	}
	h.hosts.Store(&o.Hosts)
	h.jobs.of = map[uint64]*job{}
	h.jobs.ctx, h.jobs.cancel = context.WithCancel(context.Background())
	for _, r := range routes() {
		for _, path := range r.paths(h.files) {
			if path == "/" {
				path = "/{$}"
			}
			h.mux.HandleFunc(r.method+" "+path, func(w http.ResponseWriter, req *http.Request) { h.serve(w, req, r) })
		}
	}
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if allowed := allowedMethods(h.mux, r); len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			h.fail(w, r, &httpError{http.StatusMethodNotAllowed, "method", "this path takes " + strings.Join(allowed, ", ")})
			return
		}
		h.fail(w, r, &httpError{http.StatusNotFound, "unknown_path", "there is nothing at " + r.URL.Path + ": /openapi.json describes what there is"})
	})
	return h
}

// SetHosts gives the server other names.
func (h *Handler) SetHosts(names []string) { h.hosts.Store(&names) }

// allowedMethods are those that a path of a route takes.
func allowedMethods(mux *http.ServeMux, r *http.Request) (out []string) {
	for _, m := range []string{"GET", "POST", "PUT", "DELETE"} {
		probe := &http.Request{Method: m, URL: r.URL, Host: r.Host}
		if _, pattern := mux.Handler(probe); pattern != "/" && pattern != "" {
			out = append(out, m)
		}
	}
	return out
}

// Close ends the jobs, and waits for them.
func (h *Handler) Close() {
	h.jobs.cancel()
	h.jobs.running.Wait()
}

// ServeHTTP answers a request, and logs it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(start.Add(h.body))
	l := &logged{ResponseWriter: w, extend: func() { _ = control.SetWriteDeadline(time.Now().Add(h.Patient)) }}
	l.extend()
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Content-Security-Policy", contentPolicy)
	header.Set("Cache-Control", "no-store")
	if r.TLS != nil {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
	defer func() { // also if the answer is broken off
		if h.Log == nil {
			return
		}
		h.Log.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", cmp.Or(l.status, 200)),
			slog.Int64("bytes", l.bytes), slog.Float64("seconds", time.Since(start).Seconds()), slog.String("user", l.user), slog.String("client", address(r)))
	}()
	if err := h.checkOrigin(r); err != nil {
		h.fail(l, r, err)
		return
	}
	h.mux.ServeHTTP(l, r)
}

// contentPolicy lets pages load parts of the server itself, and nothing else. A script cannot make HTML or scripts of texts.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// logged is a response with what the log says of it.
//
// A client may take nothing of what a write hands to it for h.Patient.
type logged struct {
	http.ResponseWriter
	extend func()
	status int
	bytes  int64
	user   string
}

func (l *logged) WriteHeader(status int) {
	l.extend()
	l.status = cmp.Or(l.status, status)
	l.ResponseWriter.WriteHeader(status)
}

// piece is the number of bytes that are written with one deadline: in HTTP/2 that is of the stream, and does not see progress.
const piece = 64 << 10

func (l *logged) Write(b []byte) (n int, err error) {
	for first := true; err == nil && (first || n < len(b)); first = false {
		l.extend()
		var m int
		m, err = l.ResponseWriter.Write(b[n:min(len(b), n+piece)])
		n += m
		l.bytes += int64(m)
	}
	return n, err
}

// waits lets a request that takes long wait without a deadline until it writes: the server reads on, to see that the client goes. The body
// must have been read.
func waits(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Time{})
}

// Unwrap is for http.ResponseController.
func (l *logged) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// checkOrigin refuses requests that pages of other sites make a browser send.
func (h *Handler) checkOrigin(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if _, err := netip.ParseAddr(host); err != nil && host != "localhost" && !slices.Contains(*h.hosts.Load(), host) {
		return &httpError{http.StatusMisdirectedRequest, "host", fmt.Sprintf("this server is not called %q: --host gives it a name", host)}
	}
	cross := &httpError{http.StatusForbidden, "origin", "a page of another site sent this request"}
	if o := r.Header.Get("Origin"); o != "" {
		u, err := url.Parse(o)
		// Without TLS here a proxy may have it.
		if err != nil || u.Scheme != "https" && (u.Scheme != "http" || r.TLS != nil) || !strings.EqualFold(u.Host, r.Host) {
			return cross
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
	case "none": // the user asked for it
	default:
		if r.Method != http.MethodGet || r.URL.Path != "/" || r.Header.Get("Sec-Fetch-Mode") != "navigate" { // a link to the page, which has no data
			return cross
		}
	}
	return nil
}

// serve finds out who asks, and answers.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, to route) {
	r.Body = http.MaxBytesReader(w, r.Body, h.Body)
	who := serve.Identity{}
	if !to.open {
		var err error
		if who, err = h.identify(r); err != nil {
			h.Server.Metrics.Refused(err)
			w.Header()["WWW-Authenticate"] = []string{`Basic realm="weft", charset="UTF-8"`, "Bearer"}
			h.fail(w, r, err)
			return
		}
		if l, ok := w.(*logged); ok {
			l.user = who.Name
		}
	}
	if err := to.answer(h, w, r, who); err != nil {
		h.fail(w, r, err)
	}
}

// identify returns who sends a request.
func (h *Handler) identify(r *http.Request) (serve.Identity, error) {
	users := h.Server.Users()
	if users == nil {
		return serve.Anyone(), nil
	}
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return users.Token(r.Context(), address(r), strings.TrimSpace(token))
	}
	if user, password, ok := r.BasicAuth(); ok {
		return users.Password(r.Context(), address(r), user, password)
	}
	return serve.Identity{}, &serve.Error{Code: serve.Credentials, Message: "this server wants a user and a password, or a token"}
}

// address is that of the client, without its port.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// home answers with the page to browsers, which ask for HTML, and says to others where to go on.
func (h *Handler) home(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	w.Header().Add("Vary", "Accept")
	if strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/html") {
		return h.file(w, r, who)
	}
	return writeJSON(w, http.StatusOK, map[string]string{"version": weft.Version(), "requests": "/openapi.json", "graphs": "/v1/graphs"})
}

// file answers with a file of the page.
func (h *Handler) file(w http.ResponseWriter, r *http.Request, _ serve.Identity) error {
	h.files[r.URL.Path].ServeHTTP(w, r)
	return nil
}

// ignore drops the error of a write: the client has gone.
func ignore(error) error { return nil }

func (h *Handler) health(w http.ResponseWriter, _ *http.Request, _ serve.Identity) error {
	if h.Server.Draining() {
		return &serve.Error{Code: serve.Draining, Message: "the server stops"}
	}
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok", "version": weft.Version()})
}

func (h *Handler) describe(w http.ResponseWriter, _ *http.Request, _ serve.Identity) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(document)
	return ignore(err)
}

func (h *Handler) metrics(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	if !who.Metrics && !who.Admin {
		return &serve.Error{Code: serve.NotAllowed, Message: "this user may not read metrics"}
	}
	promhttp.HandlerFor(h.Server.Metrics.Registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil
}

func (h *Handler) graphs(w http.ResponseWriter, _ *http.Request, who serve.Identity) error {
	all := h.Server.Catalog.List()
	all = slices.DeleteFunc(all, func(g serve.GraphStatus) bool { return !who.May(g.Name) })
	out := struct {
		User      string              `json:"user,omitempty"` // who asks
		Graphs    []serve.GraphStatus `json:"graphs"`
		Available []string            `json:"available,omitempty"`
	}{User: who.Name, Graphs: all}
	if who.Admin {
		out.Available = h.Server.Catalog.Available()
	}
	return writeJSON(w, http.StatusOK, out)
}

func (h *Handler) graph(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	name := r.PathValue("name")
	if !who.May(name) {
		return &serve.Error{Code: serve.UnknownGraph, Message: fmt.Sprintf("there is no graph %q", name)}
	}
	g, err := h.Server.Catalog.Graph(name)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, g)
}

// schema answers with the names in a graph. No list is null.
func (h *Handler) schema(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	name := r.PathValue("name")
	if !who.May(name) {
		return &serve.Error{Code: serve.UnknownGraph, Message: fmt.Sprintf("there is no graph %q", name)}
	}
	lease, err := h.Server.Catalog.Acquire(name)
	if err != nil {
		return err
	}
	defer lease.Release()
	s := lease.Graph.Schema()
	s.VertexLabels, s.EdgeLabels = append([]string{}, s.VertexLabels...), append([]string{}, s.EdgeLabels...)
	s.VertexProps, s.EdgeProps = append([]weft.PropertyInfo{}, s.VertexProps...), append([]weft.PropertyInfo{}, s.EdgeProps...)
	return writeJSON(w, http.StatusOK, s)
}

// parse answers with the parts of a query, which it does not run. A mistake in the text is an answer too, and no error: an editor asks while a
// query is being written, and browsers complain of each error.
func (h *Handler) parse(w http.ResponseWriter, r *http.Request, _ serve.Identity) error {
	b, err := read(r, h.parts, "parse")
	if err != nil {
		return err
	}
	parts, err := h.Server.Parts(b.Query)
	if p := problemOf(err); err != nil && p.Kind == "query" {
		return writeJSON(w, http.StatusOK, map[string]problem{"mistake": p})
	}
	if err != nil {
		return inBody(&b, err)
	}
	return writeJSON(w, http.StatusOK, parts)
}

// change lets an administrator change the catalog, and answers with the graph.
func (h *Handler) change(w http.ResponseWriter, r *http.Request, who serve.Identity, status int, do func(context.Context, string) error) error {
	if !who.Admin {
		return &serve.Error{Code: serve.NotAllowed, Message: "this user may not change which graphs are open"}
	}
	name := r.PathValue("name")
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return bad("the body cannot be read: %v", err)
	}
	waits(w)
	if err := do(r.Context(), name); err != nil {
		return err
	}
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return nil
	}
	g, err := h.Server.Catalog.Graph(name)
	if err != nil {
		return err
	}
	return writeJSON(w, status, g)
}

func (h *Handler) addGraph(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	return h.change(w, r, who, http.StatusCreated, h.Server.Catalog.Add)
}

func (h *Handler) reloadGraph(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	return h.change(w, r, who, http.StatusOK, h.Server.Catalog.Reload)
}

func (h *Handler) dropGraph(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	return h.change(w, r, who, http.StatusNoContent, func(_ context.Context, name string) error { return h.Server.Catalog.Drop(name) })
}

// reload lets an administrator have the users and the certificate read again.
func (h *Handler) reload(w http.ResponseWriter, r *http.Request, who serve.Identity) error {
	switch {
	case !who.Admin:
		return &serve.Error{Code: serve.NotAllowed, Message: "this user may not have the users and the certificate read again"}
	case h.Reload == nil:
		return &serve.Error{Code: serve.Conflict, Message: "this server has no file of users and no certificate"}
	}
	if err := h.Reload(r.Context()); err != nil { // the log has it
		return &httpError{http.StatusInternalServerError, "input", "the file of users, or the certificate, is wrong, and both stay as they were: the log of the server has the reason"}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *Handler) running(w http.ResponseWriter, _ *http.Request, who serve.Identity) error {
	return writeJSON(w, http.StatusOK, map[string]any{"running": h.Server.Running(who)})
}
