package rest

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/serve"
)

// ran describes the run of an answer.
type ran struct {
	ID       uint64    `json:"id"`
	Complete bool      `json:"complete"`
	Cut      serve.Cut `json:"cut,omitempty"` // why it is not complete
	Rows     int64     `json:"rows,omitempty"`
	Waited   float64   `json:"waited_seconds"`
	Seconds  float64   `json:"seconds"`
	Notes    []string  `json:"notes,omitempty"`
	Error    *problem  `json:"error,omitempty"`
}

func ranOf(run *serve.Run) ran { return ranAs(run.ID, run.Summary()) }

// ranAs describes a run with a summary. The error of one whose client has gone is that of its connection, which says nothing more.
func ranAs(id uint64, s serve.Summary) ran {
	out := ran{ID: id, Complete: s.Complete, Cut: s.Cut, Rows: s.Rows, Waited: s.Waited.Seconds(), Seconds: s.Total.Seconds(), Notes: s.AllNotes()}
	if s.Err != nil && s.Cut != serve.CutClient {
		p := problemOf(s.Err)
		out.Error = &p
	}
	return out
}

// query answers a request of a kind while the client waits.
func (h *Handler) query(w http.ResponseWriter, r *http.Request, who serve.Identity, kind serve.Kind) error {
	b, err := h.readBody(r, kind)
	if err != nil {
		return err
	}
	waits(w)
	format := "json"
	if kind == serve.Match || kind == serve.Orbits || kind == serve.Participation || kind == serve.Matcha {
		if format, err = accepted(r); err != nil {
			return err
		}
		if format != "json" && !r.ProtoAtLeast(1, 1) {
			return &httpError{http.StatusHTTPVersionNotSupported, "http_version", "HTTP/1.0 does not show whether rows of this form are complete: use HTTP/1.1, or ask for application/json"}
		}
	}
	run, err := h.Server.Begin(r.Context(), who, h.request(b, who, kind))
	if err != nil {
		return inBody(&b, err)
	}
	defer run.Close()
	return h.answer(w, run, format)
}

// answer runs a run and writes its answer. The error is for the caller to write: nothing was written then.
func (h *Handler) answer(w http.ResponseWriter, run *serve.Run, format string) error {
	w.Header().Set("Weft-Run", strconv.FormatUint(run.ID, 10))
	name := run.Request.Graph
	switch run.Request.Kind {
	case serve.Count:
		x, err := run.Count()
		if err != nil {
			return err
		}
		return h.write(w, struct {
			Run    ran         `json:"run"`
			Result weft.Result `json:"result"`
		}{ranOf(run), named(x, name)})
	case serve.Exists:
		yes, x, err := run.Exists()
		if err != nil {
			return err
		}
		known := &yes
		if !yes && !run.Summary().Complete {
			known = nil
		}
		return h.write(w, struct {
			Run    ran         `json:"run"`
			Exists *bool       `json:"exists"` // null: the search was cut short before it found a match
			Result weft.Result `json:"result"`
		}{ranOf(run), known, named(x, name)})
	case serve.Motifs:
		all, err := run.Motifs()
		if err != nil {
			return err
		}
		shapes, err := run.Shapes(all)
		if err != nil {
			return err
		}
		for i := range all {
			all[i] = named(all[i], name)
		}
		return h.write(w, struct {
			Run     ran           `json:"run"`
			Results []weft.Result `json:"results"`
			Motifs  []serve.Motif `json:"motifs"` // of the results, in the same order
		}{ranOf(run), all, shapes})
	case serve.Info:
		x, err := run.Info()
		if err != nil {
			return err
		}
		x.Path = name
		return h.write(w, struct {
			Run  ran        `json:"run"`
			Info *weft.Info `json:"info"`
		}{ranOf(run), x})
	case serve.Explain:
		return h.explain(w, run)
	case serve.Participation:
		return h.participation(w, run, format)
	case serve.Orbits:
		out := h.rows(w, run, format)
		return out.end(run.WriteOrbits(out, format))
	case serve.Matcha:
		out := h.rows(w, run, format)
		return out.end(run.WriteProgram(out, format))
	}
	return h.match(w, run, format)
}

// named is a result that names its graph, and not the graph's file.
func named(r weft.Result, graph string) weft.Result {
	r.Graph.Path = graph
	return r
}

func (h *Handler) write(w http.ResponseWriter, x any) error {
	return writeJSON(w, http.StatusOK, x)
}

func (h *Handler) explain(w http.ResponseWriter, run *serve.Run) error {
	x, err := run.Explain()
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := x.Write(&text); err != nil {
		return err
	}
	out := struct {
		Run    ran               `json:"run"`
		Engine string            `json:"engine"`
		Reason string            `json:"reason"`
		Plan   *weft.Explanation `json:"plan"`
		Text   string            `json:"text"`
		Phases []string          `json:"phases,omitempty"`
		Memory []string          `json:"memory,omitempty"`
		Took   float64           `json:"planning_seconds"`
		Result *weft.Result      `json:"result,omitempty"` // with profile
	}{Run: ranOf(run), Plan: x, Text: text.String(), Phases: x.Phases(), Memory: x.Memory(), Took: x.Took.Seconds()}
	out.Engine, out.Reason = x.Engine()
	if x.Result != nil { // of which the plan has a copy
		*x.Result = named(*x.Result, run.Request.Graph)
		out.Result = x.Result
	}
	return h.write(w, out)
}

// rows writes rows, and after them what is known of the run. The answer begins with the first row, or when there are none.
type rows struct {
	h       *Handler
	w       http.ResponseWriter
	run     *serve.Run
	format  string
	control *http.ResponseController
	begun   bool
	failed  bool // a write failed
}

func (h *Handler) rows(w http.ResponseWriter, run *serve.Run, format string) *rows {
	return &rows{h: h, w: w, run: run, format: format, control: http.NewResponseController(w)}
}

// Trailers of answers with rows, and a header that says how many rows there are at most.
const (
	headerLimit     = "Weft-Limit"
	trailerComplete = "Weft-Complete"
	trailerCut      = "Weft-Cut"
	trailerRows     = "Weft-Rows"
	trailerResult   = "Weft-Result" // of a program, as a list in JSON
)

func (o *rows) begin() error {
	if o.begun {
		return nil
	}
	o.begun = true
	header := o.w.Header()
	header.Set("Content-Type", mediaOf(o.format))
	if most := o.run.MostRows(); most > 0 {
		header.Set(headerLimit, strconv.FormatInt(most, 10))
	}
	header.Set("Trailer", trailerComplete+", "+trailerCut+", "+trailerRows)
	if o.run.Request.Kind == serve.Matcha {
		header.Set("Trailer", header.Get("Trailer")+", "+trailerResult)
	}
	o.deadline()
	o.w.WriteHeader(http.StatusOK)
	if o.format == "json" {
		_, err := io.WriteString(o.w, `{"rows":`)
		return err
	}
	return nil
}

// deadline gives the client time to read. A client that does not read loses its connection, and its search ends.
func (o *rows) deadline() { _ = o.control.SetWriteDeadline(time.Now().Add(o.h.Patient)) }

// Write hands rows to the client, and blocks until the system has taken them.
func (o *rows) Write(b []byte) (int, error) {
	if err := o.begin(); err != nil {
		return 0, err
	}
	o.deadline()
	n, err := o.w.Write(b)
	if err == nil {
		err = o.control.Flush()
	}
	o.failed = o.failed || err != nil
	_ = o.control.SetWriteDeadline(time.Time{}) // the next rows may take long to find
	return n, err
}

// broken reports whether the body of an answer that failed looks complete to clients that do not read trailers, or is not complete in its form.
// Such an answer ends with its connection, so that clients see that it is broken.
func (o *rows) broken() bool {
	kind := o.run.Request.Kind
	return o.failed || o.format == "csv" || o.format == "arrow" || kind == serve.Participation || kind == serve.Orbits
}

// end writes what is known of the run. An error before the first row is returned, and is the whole answer.
func (o *rows) end(err error) error {
	if !o.begun && err != nil {
		return err
	}
	o.deadline()
	if err != nil && o.broken() {
		if _, kept := o.w.(*recorder); !kept { // the headers of a job's answer say it
			panic(http.ErrAbortHandler)
		}
	}
	if o.run.ClientGone() {
		return nil
	}
	if err := o.begin(); err != nil {
		return ignore(err)
	}
	o.deadline()
	s := ranOf(o.run)
	header := o.w.Header()
	if values := o.run.Summary().Values; values != nil {
		result := strings.TrimSpace(string(encode(exact(values))))
		header.Set(trailerResult, ascii(result))
		if o.format == "json" {
			fmt.Fprintf(o.w, `,"result":%s`, result)
		}
	}
	switch o.format {
	case "json":
		fmt.Fprintf(o.w, `,"run":%s}`+"\n", strings.TrimSpace(string(encode(s))))
	case "ndjson":
		if !s.Complete { // a line that no row looks like, for clients that see no trailers
			_, _ = o.w.Write(encode(map[string]any{"weft": s}))
		}
	}
	header.Set(trailerComplete, strconv.FormatBool(s.Complete))
	header.Set(trailerCut, string(s.Cut))
	header.Set(trailerRows, strconv.FormatInt(s.Rows, 10))
	return nil
}

// exact are values in which whole numbers beyond 2^53 are texts, as in rows.
func exact(values []any) []any {
	out := slices.Clone(values)
	for i, x := range out {
		if n, ok := x.(int64); ok && (n > 1<<53 || n < -1<<53) {
			out[i] = strconv.FormatInt(n, 10)
		}
	}
	return out
}

// ascii is JSON without characters that headers cannot have.
func ascii(text string) string {
	var b strings.Builder
	for _, c := range text {
		if c < 0x7f {
			b.WriteRune(c)
			continue
		}
		for _, u := range utf16.Encode([]rune{c}) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	return b.String()
}

func (h *Handler) match(w http.ResponseWriter, run *serve.Run, format string) error {
	out := h.rows(w, run, format)
	return out.end(run.Write(out, format))
}

func (h *Handler) participation(w http.ResponseWriter, run *serve.Run, format string) error {
	out := h.rows(w, run, format)
	return out.end(run.WriteParticipation(out, format))
}
