#!/usr/bin/env python3
"""continuous.py --weft WEFT [--rapidflow PROGRAM] [--engines LIST] [--out FILE] GRAPH... : continuous matching as in the thesis on DCSM, on graphs
of which 45 % of the edges come and 5 % go, with nine patterns of 3 to 5 vertices, without labels and with five labels of vertices.

A GRAPH is a file that weft reads, or rmat:SCALE:EDGES or rgg:SCALE:DEGREE for one that weft generates; the last word after a colon may be a share of the
updates that are taken, as in rmat:20:16000000:0.1. For each pattern all engines run one after the other, and RapidFlow
(github.com/shixuansun/RapidFlow) on one core if it is given. Programs must count the same embeddings that come and go. Each line of the output is a cell. An engine
that takes longer than --limit is not asked again about that pattern. RapidFlow stops by itself then, and its count is of no use.

The nine patterns are our reading: the thesis draws them in Figure 47, which its text does not have. It says that they have 3 to 5 vertices.

continuous.py --table FILE... makes tables of such lines, with the ratios of RapidFlow's and of the host engine's time to that of each engine: once of the times
of searches (ms), and once with the time for changing the graph (ms + update_ms). RapidFlow's one time includes its changes of the graph. An engine that searches while the
graph is changed has the rest of its searches in ms alone, so the second ratio is the fair one.

An ENGINE is host, host:THREADS, cached or pipeline, with switches behind commas in brackets, as in pipeline[pipeline.batch=1]. Batches are --batch.
Nothing but Python's standard library is used.
"""
import argparse, gzip, json, math, os, random, re, subprocess, sys, tempfile, time

PATTERNS = {
    "Q1": "(a)--(b)--(c)--(a)",
    "Q2": "(a)--(b)--(c)--(d)",
    "Q3": "(a)--(b)--(c)--(d)--(a)",
    "Q4": "(a)--(b)--(c)--(a), (c)--(d)",
    "Q5": "(a)--(b)--(c)--(d)--(a)--(c)",
    "Q6": "(a)--(b)--(c)--(d)--(e)--(a)",
    "Q7": "(a)--(b)--(c)--(d)--(a)--(c), (b)--(d)",
    "Q8": "(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)",
    "Q9": "(a)--(b)--(c)--(d)--(e)--(a)--(c)--(e)--(b)--(d)--(a)",
}
LABELS = dict(a=0, b=1, c=2, d=3, e=4)

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--weft", default="weft")
ap.add_argument("--rapidflow")
ap.add_argument("--engines", default="host:1,host,cached,pipeline")
ap.add_argument("--batch", default="64,65536")
ap.add_argument("--patterns", default=",".join(PATTERNS))
ap.add_argument("--labels", default="0,5", help="how many labels of vertices: 0 is none")
ap.add_argument("--limit", type=float, default=30, help="seconds of a program")
ap.add_argument("--time", type=float, default=1e9, help="begin nothing after so many seconds")
ap.add_argument("--runs", type=int, default=1)
ap.add_argument("--out", default="-")
ap.add_argument("--dir", help="where graphs are kept; default: a folder that is removed")
ap.add_argument("--table", action="store_true")
ap.add_argument("graphs", nargs="+")
args = ap.parse_args()


def query(name, labels):
    """The pattern in weft's language, and its vertices and edges."""
    text = PATTERNS[name]
    edges, seen = [], {}
    for path in text.split(", "):
        vs = re.findall(r"\((\w)\)", path)
        edges += zip(vs, vs[1:])
    for v in sorted({v for e in edges for v in e}):
        seen[v] = LABELS[v] if labels else None
    if labels:
        done = set()

        def label(m):
            v = m.group(1)
            if v in done:
                return m.group(0)
            done.add(v)
            return f"({v}:{seen[v]})"

        text = re.sub(r"\((\w)\)", label, text)
    return "MATCH " + text, seen, edges


def table(files):
    cells = [json.loads(line) for f in files for line in open(f)]
    for key in dict.fromkeys((c["graph"], c["labels"]) for c in cells):
        mine = [c for c in cells if (c["graph"], c["labels"]) == key]
        names = list(dict.fromkeys(c["pattern"] for c in mine))
        print(f"\n{key[0]}, {key[1] or 'no'} labels, {mine[0]['updates']} updates, ms\n")
        print("| program | batch |", " | ".join(names), "|")
        print("|---|---|" + "---|" * len(names))
        rows = dict.fromkeys((c["program"], c["batch"]) for c in mine)
        of = {(c["program"], c["batch"], c["pattern"]): c for c in mine}
        for program, batch in rows:
            cs = [of.get((program, batch, n)) for n in names]
            print(f"| {program} | {batch or '–'} |", " | ".join("–" if c is None or c["ms"] is None else f"{c['ms']:.4g}" for c in cs), "|")
        for base in ("rapidflow", "host"):
            for program, batch in rows:
                if program == base or program.startswith("host"):
                    continue
                for what, time_of in (("searches", lambda c: c["ms"]), ("searches and changes of the graph", lambda c: c["ms"] and c["ms"] + c.get("update_ms", 0))):
                    ratios = []
                    for n in names:
                        x = of.get((program, batch, n))
                        y = of.get((base, 0 if base == "rapidflow" else batch, n))
                        if x and y and time_of(x) and time_of(y):
                            ratios.append(time_of(y) / time_of(x))
                    if ratios:
                        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
                        print(f"\n{program} in batches of {batch}, {what}: {mean:.2f} times as fast as {base} in geometric mean, {min(ratios):.2f} at least, of {len(ratios)} patterns.")


if args.table:
    table(args.graphs)
    sys.exit()

start = time.monotonic()
out = sys.stdout if args.out == "-" else open(args.out, "a")


def run(command, limit=None):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=limit)


def prepare(spec, labels, folder):
    """The initial graph, and its updates in two formats."""
    name, *rest = spec.split(":")
    share = float(rest[2]) if len(rest) > 2 else 1.0
    base = os.path.join(folder, re.sub(r"\W", "-", os.path.basename(spec)) + f"-{labels}")
    graph, initial, updates = base + ".weft", base + "-initial.weft", base + "-updates.txt"
    if not os.path.exists(updates):
        more = ["--vertex-labels", str(labels)] if labels else []
        if name == "rmat":
            run([args.weft, "gen", "rmat", "--scale", rest[0], "--m", rest[1], "--seed", "7", *more, "-o", graph])
        elif name == "rgg":
            run([args.weft, "gen", "rgg", "--scale", rest[0], "--degree", rest[1], "--seed", "7", *more, "-o", graph])
        else: # vertices 0 … n-1, as RapidFlow wants them
            edges, numbers = base + ".txt", {}
            read = gzip.open(spec, "rt") if spec.endswith(".gz") else open(spec)
            with read as f, open(edges, "w") as g:
                for line in f:
                    w = re.split(r"[\s,]+", line.strip())
                    if len(w) >= 2 and w[0].isdigit() and w[1].isdigit() and w[0] != w[1]:
                        u, v = (numbers.setdefault(x, len(numbers)) for x in w[:2])
                        g.write(f"{u} {v}\n")
            if labels:
                draw = random.Random(7)
                with open(base + ".labels", "w") as g:
                    g.writelines(f"{v} {draw.randrange(labels)}\n" for v in range(len(numbers)))
                more = ["--labels", base + ".labels"]
            run([args.weft, "convert", "--directed=false", edges, *more, "-o", graph])
        shares = [f"{45 * share:g}%", f"{5 * share:g}%"]
        run([args.weft, "gen", "stream", "-g", graph, "--insert", shares[0], "--delete", shares[1], "--seed", "7", "--initial", initial, "-o", updates])
    return initial, updates


def rapidflow_files(initial, updates, labels):
    """The same in RapidFlow's formats."""
    flow = updates + ".rapidflow"
    if not os.path.exists(flow):
        run([args.weft, "convert", initial, "--to", "tve", "-o", initial + ".tve"])
        with open(initial + ".tve") as f, open(initial + ".graph", "w") as g:
            for line in f:
                w = line.split()
                g.write(" ".join(w[:3] if w[0] in "tv" else w[:3] + ["0"]) + "\n")
        with open(updates) as f, open(flow, "w") as g:
            for line in f:
                w = line.split()
                g.write(("e" if w[0] == "+" else "-e") + f" {w[1]} {w[2]} 0\n")
    return initial + ".graph", flow


def weft(engine, initial, updates, text, batch):
    name, _, switches = engine.rstrip("]").partition("[")
    name, _, threads = name.partition(":")
    more = ["--threads", threads] if threads else []
    for s in filter(None, switches.split(",")):
        more += ["--engine-opt", s]
    r = run([args.weft, "bench", "watch", "-g", initial, "--source", updates, "--engine", name, "--batch", str(batch), "--runs", str(args.runs), "--to", "ndjson", "--progress", "none", *more, text], args.limit)
    x = json.loads(r.stdout.splitlines()[0])
    work = [line for line in r.stderr.splitlines() if "batches" in line]
    return dict(ms=x["search_ms"], update_ms=x["update_ms"], add_ms=x["add_ms"], added=x["added"], removed=x["removed"], updates=x["updates"],
                p50_us=x["p50_us"], p99_us=x["p99_us"], gpu_busy=x.get("gpu_busy"), gpu_lists_bytes=x.get("gpu_lists_bytes"), work=work[-1] if work else "")


def rapidflow(initial, updates, vertices, edges, labels, folder):
    graph, flow = rapidflow_files(initial, updates, labels)
    q = os.path.join(folder, "query.graph")
    number = {v: i for i, v in enumerate(vertices)}
    with open(q, "w") as f:
        f.write(f"t {len(vertices)} {len(edges)}\n")
        for v, i in number.items():
            f.write(f"v {i} {vertices[v] or 0} {sum(v in e for e in edges)}\n")
        for u, v in edges:
            f.write(f"e {number[u]} {number[v]} 0\n")
    limit = max(1, int(args.limit))
    text = run([args.rapidflow, "-d", graph, "-q", q, "-u", flow, "-num", "MAX", "-time_limit", str(limit)], args.limit + 60).stdout
    text = text[text.rindex("Execution Summary"):]
    get = lambda p: float(re.search(p + r" ([0-9][0-9.e+-]*)", text, re.M).group(1))
    took, before = get(r"^Query time \(seconds\):"), get(r"^Preprocessing time \(seconds\):")
    if took + before >= 0.98 * limit: # its clock runs from before its preparations, which it times apart: it stopped before the end of the updates
        raise subprocess.TimeoutExpired(args.rapidflow, limit)
    return dict(ms=1e3 * took, add_ms=1e3 * before, found=int(get("^Result count:")))


with tempfile.TemporaryDirectory() as temporary:
    folder = args.dir or temporary
    os.makedirs(folder, exist_ok=True)
    failed = 0
    for spec in args.graphs:
        for labels in map(int, args.labels.split(",")):
            if time.monotonic() - start > args.time:
                break
            initial, updates = prepare(spec, labels, folder)
            for pattern in args.patterns.split(","):
                text, vertices, edges = query(pattern, labels)
                known = None
                cells = [(e, int(b)) for e in re.split(r",(?![^\[]*\])", args.engines) for b in args.batch.split(",")]
                if args.rapidflow:
                    cells.append(("rapidflow", 0))
                slow = set()
                for engine, batch in cells:
                    if time.monotonic() - start > args.time or engine in slow:
                        continue
                    row = dict(graph=os.path.basename(spec), labels=labels, pattern=pattern, program=engine, batch=batch)
                    try:
                        if engine == "rapidflow":
                            row.update(rapidflow(initial, updates, vertices, edges, labels, folder))
                            count = row["found"]
                        else:
                            row.update(weft(engine, initial, updates, text, batch))
                            count = row["added"] + row["removed"]
                        if known is None:
                            known = count
                        row["right"] = count == known
                        failed += not row["right"]
                    except subprocess.TimeoutExpired:
                        slow.add(engine)
                        row.update(ms=None, why=f"more than {args.limit:g} s")
                    except subprocess.CalledProcessError as e:
                        failed += 1
                        row.update(ms=None, why=e.stderr.strip()[-300:])
                    row.setdefault("updates", 0)
                    print(json.dumps(row), file=out, flush=True)
    sys.exit(failed > 0)
