#!/usr/bin/env python3
"""cpu.py [options] STEP...: weft beside its CPU peers, in turns, as JSON lines.

Steps: machine heldout cells motifs labelled scaling reading big memory listing
(README.md says what each does). Nothing but Python's standard library is used.

Environment:
  WEFT              the program
  WEFT_PEERS        folder of the peers' executables (README.md names them);
                    without it weft runs alone
  WEFT_BENCH_DATA   folder of graphs/ and labelled/
  WEFT_BENCH_WORK   folder for converted graphs (kept between runs)
  WEFT_BENCH_TOOLS  folder of parse and peergraph, built from the sources here
  WEFT_FORMAT_TEST  optional: `go test -c ./internal/format`, for the step reading
"""
import argparse, contextlib, gzip, json, os, queue, re, resource, signal, subprocess, sys, tempfile, threading, time

env = os.environ.get
WEFT = env("WEFT", "weft")
PEERS = env("WEFT_PEERS", "")
DATA = env("WEFT_BENCH_DATA", "data")
WORK = os.path.abspath(env("WEFT_BENCH_WORK", "/tmp/weft-bench"))
TOOLS = env("WEFT_BENCH_TOOLS", WORK)

GRAPHS = {"wiki-vote": "wiki-vote.txt.gz", "ego-facebook": "ego-facebook.txt.gz", "email-enron": "email-enron.txt.gz",
          "ego-twitter": "ego-twitter.txt.gz", "ca-grqc": "ca-grqc.csv.gz", "citeseer": "../labelled/citeseer.graph.gz"}
CELLS = ["wiki-vote", "ego-facebook", "email-enron", "ego-twitter"]
# Graphs that nothing in weft was tuned on: two of SNAP's and two generated ones.
HELDOUT = {"cit-hepth": "cit-hepth.txt.gz", "as-caida": "as-caida.txt.gz",
           "rgg-16": ["rgg", "--scale", "16", "--degree", "60", "--seed", "90210"], "rmat-18": ["rmat", "--scale", "18", "--m", "3000000", "--seed", "77123"]}
# Numberings of the vertices that peers get: as the file has them, and by degree.
ORDERS = ["", "desc", "asc"]
# Edges of the patterns, for the peers' files; weft has them in its catalogue.
PATTERNS = {
    "P1": "01 02 12", "P2": "01 02 03 12 13 23", "P3": "01 02 03 12 23", "P4": "01 03 12 23", "P5": "01 02 13 14 23 24 34",
    "P6": "01 02 12 13 14 23 24 34", "P7": "01 02 03 04 12 13 24 34", "P8": "01 02 03 04 13 14 23 24 34",
    "P9": "01 02 03 04 12 13 14 23 24 34",
}
# Subgraphs, edge-induced: confirmed by two to four independent systems each.
KNOWN = {
    "wiki-vote": [608389, 2077903, 40544543, 57654491, 1533407659, 810216972, 301301877, 98471630, 4514137],
    "ego-facebook": [1612010, 30004668, 228787050, 144023053, 25095227541, 21763153227, 10471195360, 6024516808, 517965151],
    "email-enron": [727044, 2341639, 36528276, 36262229, 1019394461, 719709974, 243184738, 101383042, 5809356],
    "ego-twitter": [13082506, 104929938, 1200274418, 1023837230, 73111128724, 55802284392, 22390293129, 10950466362, 784699022],
}
# The peers worth asking: none that is not listed was within three times of the
# fastest on any of these graphs.
PLAYERS = {
    "P1": ["gm_tc_simd", "gapbs_tc"], "P2": ["gm_clique_rec"],
    "P3": ["gm_count_base", "gm_sgl_cmap", "gm_sgl_cmapcount", "graphpi", "peregrine"],
    "P4": ["gm_count_base"], "P5": ["graphpi", "peregrine"], "P6": ["gm_count_base", "graphpi"],
    "P7": ["graphpi", "peregrine"], "P8": ["graphpi", "peregrine"], "P9": ["gm_clique_rec"],
}
GM_PATTERN = {"P3": "diamond", "P4": "rectangle", "P6": "closedhouse"}


found = {}  # counts of held-out graphs, by weft


def known(graph, pattern):
    if graph in HELDOUT:
        if (graph, pattern) not in found:
            found[graph, pattern] = weft(graph, pattern, len(os.sched_getaffinity(0)), args.limit)[2]
        return found[graph, pattern]
    return KNOWN[graph][int(pattern[1]) - 1] if graph in KNOWN else None


# ---- running programs

class Failed(Exception):
    pass


def run(cmd, limit, threads=1, cwd=None, cpus=None, stdout=None, watch=None):
    """Runs a program: its output, wall seconds and peak RSS in bytes. watch is called with its pid now and then."""
    if cpus:
        cmd = ["taskset", "-c", ",".join(map(str, sorted(cpus))), *cmd]
    limit = max(2, min(limit, args.budget + 5 - (time.monotonic() - began)))
    out = tempfile.TemporaryFile()
    start = time.monotonic()
    p = subprocess.Popen(cmd, stdout=stdout or out, stderr=subprocess.STDOUT if not stdout else out, stdin=subprocess.DEVNULL, cwd=cwd,
                         env={**os.environ, "OMP_NUM_THREADS": str(threads)}, start_new_session=True)
    killed = []
    timer = threading.Timer(limit, lambda: (killed.append(1), os.killpg(p.pid, signal.SIGKILL)))
    timer.start()
    if watch:
        while p.poll() is None and os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            watch(p.pid, time.monotonic() - start)
            time.sleep(0.01)
    _, status, usage = os.wait4(p.pid, 0) if p.returncode is None else (0, p.returncode, resource.getrusage(resource.RUSAGE_CHILDREN))
    took = time.monotonic() - start
    timer.cancel()
    p.returncode = os.waitstatus_to_exitcode(status) if p.returncode is None else p.returncode
    out.seek(0)
    text = out.read().decode(errors="replace")
    if killed:
        raise Failed("timeout")
    if p.returncode:
        raise Failed(f"exit {p.returncode}: {text.strip()[-200:]}")
    return text, took, usage.ru_maxrss * 1024


def find(pattern, text, what="its output"):
    m = re.findall(pattern, text, re.M)
    if not m:
        raise Failed(f"nothing like {pattern} in {what}: {text[-200:]}")
    return m[-1]


def jsons(text):
    """The JSON objects of weft's output, whatever it says besides."""
    out, decoder, at = [], json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
            if "seconds" in value:
                out.append(value)
        except ValueError:
            at += 1
    if not out:
        raise Failed(text[-200:])
    return out


# ---- files, made when first asked for

lock = threading.RLock()


def made(path, make):
    with lock:
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            make(path)
    return path


def sh(*cmd):
    r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if r.returncode:
        raise Failed(f"{cmd[0]}: {r.stdout[-300:]}")


def weft_file(graph):
    if graph == "rmat":
        return made(f"{WORK}/rmat.weft", lambda p: sh(WEFT, "gen", "rmat", "--scale", "22", "--m", str(args.edges), "--seed", "1", "-o", p))
    if isinstance(HELDOUT.get(graph), list):
        return made(f"{WORK}/{graph}.weft", lambda p: sh(WEFT, "gen", *HELDOUT[graph], "-o", p))
    return made(f"{WORK}/{graph}.weft", lambda p: sh(WEFT, "convert", "--directed=false", f"{DATA}/graphs/{GRAPHS.get(graph) or HELDOUT[graph]}", p))


def peer_dir(graph, order=""):
    """The graph in the peers' forms (by peergraph, and Peregrine's converter where it is there)."""
    d = f"{WORK}/peer-{graph}{order and '-' + order}"
    with lock:
        if os.path.exists(f"{d}/info"):
            return d
        if graph == "rmat":
            b = made(f"{WORK}/rmat.bin", lambda p: sh(WEFT, "convert", weft_file(graph), p))
            sh(f"{TOOLS}/peergraph", b, d, "gm")
            return d
        if graph in HELDOUT:
            b = made(f"{WORK}/{graph}.bin", lambda p: sh(WEFT, "convert", weft_file(graph), p))
            sh(f"{TOOLS}/peergraph", b, d, "gm", "el", "gp", *([order] if order else []))
            return d
        text = gzip.open(f"{DATA}/graphs/{GRAPHS[graph]}", "rb").read()
        if graph == "citeseer":
            text = b"\n".join(l[2:] for l in text.split(b"\n") if l.startswith(b"e"))
        os.makedirs(WORK, exist_ok=True)
        with open(f"{WORK}/{graph}.txt", "wb") as f:
            f.write(text)
        os.makedirs(d, exist_ok=True)
        if not os.path.exists(f"{d}/pe"):
            sh(f"{TOOLS}/peergraph", f"{WORK}/{graph}.txt", d, "pe")
            os.remove(f"{d}/info")
            os.makedirs(f"{d}/pe.new", exist_ok=True)
            sh(f"{PEERS}/pe_convert", f"{d}/pe.txt", f"{d}/pe.new/")
            os.rename(f"{d}/pe.new", f"{d}/pe")
        sh(f"{TOOLS}/peergraph", f"{WORK}/{graph}.txt", d, "gm", "el", "gp")
    return d


def pattern_file(p):
    def write(path):
        with open(path, "w") as f:
            f.writelines(f"{int(e[0]) + 1} {int(e[1]) + 1}\n" for e in PATTERNS[p].split())
    return made(f"{WORK}/patterns/{p}.pe", write)


def adjacency(p):
    edges = PATTERNS[p].split()
    n = 1 + max(int(c) for e in edges for c in e)
    return [str(n), "".join("1" if f"{min(i, j)}{max(i, j)}" in edges else "0" for i in range(n) for j in range(n))]


# ---- contestants: each run returns search ms, planning ms (None: not printed apart), count, peak bytes

def weft(graph, pattern, threads, limit, cpus=None):
    name = pattern if "(" in pattern or pattern == "triangle" else "gmatch:" + pattern
    text, _, peak = run([WEFT, "count", "--device", "cpu", "-g", weft_file(graph), "--pattern", name, "--to", "json", "--threads", str(threads),
                         "--timeout", f"{limit}s", "--progress", "none"], limit + 5, threads, cpus=cpus)
    r = jsons(text)[0]
    if not r["complete"]:
        raise Failed("timeout")
    return r["seconds"]["search"] * 1e3, r["seconds"]["plan"] * 1e3, int(r["subgraphs"]), peak


def peer(name, graph, pattern, threads, limit, cpus=None):
    name, _, order = name.partition("/")
    d = peer_dir(graph, order)
    if name == "gapbs_tc":
        text, _, peak = run([f"{PEERS}/gapbs_tc", "-f", f"{d}/edges.el", "-s", "-a", "-n", "1"], limit, threads, cpus=cpus)
        return float(find(r"Average Time: +(\S+)", text)) * 1e3, None, int(find(r"(\d+) triangles", text)), peak
    if name.startswith("gm_"):
        last = {"gm_tc_simd": [], "gm_clique_rec": [{"P1": "3", "P2": "4", "P9": "5"}.get(pattern)]}.get(name, [GM_PATTERN.get(pattern)])
        text, _, peak = run([f"{PEERS}/{name}", f"{d}/gm/graph", *last], limit, threads, cpus=cpus)
        count = int(find(r"^(?:total_num|num_)\S* = (\d+)", text))
        if last == ["closedhouse"]:
            count //= 2  # it counts each twice
        return float(find(r"^runtime.*= *([\d.e+-]+)", text)) * 1e3, None, count, peak
    if name == "graphpi":
        text, _, peak = run([f"{PEERS}/gp", f"{d}/gp.txt", str(known(graph, "P1")), *adjacency(pattern), str(threads), "1"], limit, threads, cpus=cpus)
        count, s, plan = find(r"^ans (\d+) time (\S+) plan (\S+)", text)
        return float(s) * 1e3, float(plan) * 1e3, int(count), peak
    if name == "peregrine":
        text, _, peak = run([f"{PEERS}/pe_count", f"{d}/pe", pattern_file(pattern), str(threads)], limit, threads, cwd=PEERS, cpus=cpus)
        return float(find(r"finished after (\S+?)s", text)) * 1e3, None, int(find(r"^\[.*: (\d+)", text)), peak
    raise Failed("no such peer")


# ---- measuring

out_lock = threading.Lock()


def emit(**line):
    with out_lock:
        line["at"] = round(time.monotonic() - began, 1)
        args.out.write(json.dumps(line) + "\n")
        args.out.flush()
        ms = line.get("ms")
        print(f"{line['at']:7.1f}s", " ".join(f"{k}={v}" for k, v in line.items() if k in ("step", "graph", "what", "who", "threads", "note", "mb_s")),
              "" if not ms else f"ms={sorted(ms)[len(ms) // 2]:.3f} of {len(ms)}", file=sys.stderr, flush=True)


def late():
    return time.monotonic() - began > args.budget


def turns(step, graph, what, threads, contestants, truth=None, limit=None, runs=None):
    """Contestants, each a name or a name and its threads, take turns: a round that does not count (unless it was long), then rounds until runs or args.case seconds are reached."""
    limit, runs = limit or args.limit, runs or args.runs
    got = {who: {"ms": [], "plan": [], "count": None, "peak": 0, "note": ""} for who, _ in contestants}
    start, cold = time.monotonic(), {}
    for i in range(runs + 1):
        if late() or i > 1 and time.monotonic() - start > args.case:
            break
        for who, call in contestants:
            g = got[who]
            if g["note"] or i == runs and len(g["ms"]) >= runs or i > 0 and sum(g["ms"]) / 1e3 > args.case / 2:
                continue
            try:
                ms, plan, count, peak = call()
            except Failed as e:
                g["note"] = str(e)
                continue
            except OSError as e:
                g["note"] = f"{e.__class__.__name__}: {e}"
                continue
            if i == 0 and ms < 1000:
                cold[who] = (ms, plan)
            else:
                g["ms"].append(ms)
                g["plan"].append(plan)
            g["count"], g["peak"] = count, max(g["peak"], peak)
    for who, g in got.items():
        if not g["ms"] and who in cold:
            g["ms"], g["plan"] = [cold[who][0]], [cold[who][1]]
        ok = None if truth is None or g["count"] is None else g["count"] == truth
        if ok is False:
            g["note"] = f"WRONG, expected {truth}"
        if isinstance(g["count"], list):
            g["count"] = "right" if ok else "?"
        name, t = who if isinstance(who, tuple) else (who, threads)
        emit(step=step, graph=graph, what=what, who=name, threads=t, ms=[round(x, 3) for x in g["ms"]],
             plan_ms=[round(x, 3) for x in g["plan"] if x is not None], count=str(g["count"]), ok=ok, peak_mb=round(g["peak"] / 1e6), note=g["note"])


def lanes(jobs):
    """Runs jobs(cpus), args.lanes at a time, each on its own cores."""
    cores = sorted(os.sched_getaffinity(0))
    n = min(args.lanes, len(cores))
    if n < 2:
        for j in jobs:
            j(None)
        return
    free, todo = queue.SimpleQueue(), iter(jobs)
    for i in range(n):
        free.put({cores[i * len(cores) // n]})

    def work():
        while True:
            with lock:
                j = next(todo, None)
            if j is None or late():
                return
            cpus = free.get()
            try:
                j(cpus)
            finally:
                free.put(cpus)
    ts = [threading.Thread(target=work) for _ in range(n)]
    [t.start() for t in ts]
    [t.join() for t in ts]


# ---- steps

def machine():
    cpu = find(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
    flags = set(find(r"flags\s*: (.*)", open("/proc/cpuinfo").read()).split())
    version = subprocess.run([WEFT, "version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()
    speeds = subprocess.run([f"{TOOLS}/cores"], stdout=subprocess.PIPE, text=True).stdout.strip() if os.path.exists(f"{TOOLS}/cores") else ""
    emit(step="machine", what=cpu, cores=len(os.sched_getaffinity(0)), avx512="avx512f" in flags, avx2="avx2" in flags,
         load=os.getloadavg(), weft=version, commit=env("WEFT_COMMIT", ""), speeds=speeds)


def cells():
    graphs = args.graphs or CELLS
    for t in args.threads:
        jobs = []
        for g in graphs:
            for p in args.patterns or PATTERNS:
                def job(cpus, g=g, p=p):
                    players = PLAYERS[p] if PEERS else []
                    if args.fast and g == "ego-twitter" and (p in ("P5", "P7") or t == 1 and p in ("P4", "P6", "P8")):
                        players = []  # over a minute even on many cores
                    if args.fast and g != "ego-facebook" and p in ("P5", "P7", "P8"):
                        players = [q for q in players if q != "peregrine"]  # GraphPi is faster
                    turns("cells", g, p, t, [("weft", lambda: weft(g, p, t, args.limit, cpus))] +
                          [(q, lambda q=q: peer(q, g, p, t, args.limit, cpus)) for q in players], known(g, p))
                jobs.append(job)
        if t == 1:
            lanes(jobs)
        else:
            for j in jobs:
                if not late():
                    j(None)


def heldout():
    """The cells of graphs that nothing was tuned on, each peer with the graph in three numberings."""
    for t in args.threads:
        for g in args.graphs or HELDOUT:
            for p in args.patterns or PATTERNS:
                if late():
                    return
                players = [f"{q}/{o}" for q in PLAYERS[p] if q != "peregrine" for o in ORDERS] if PEERS else []
                turns("heldout", g, p, t, [("weft", lambda: weft(g, p, t, args.limit))] + [(q, lambda q=q: peer(q, g, p, t, args.limit)) for q in players], known(g, p))


def motifs():
    for t in args.threads[-1:]:
        for g in ("citeseer", "ca-grqc", "ego-facebook"):
            for k in (4, 5):
                found = {}

                def weft_motifs():
                    text, _, peak = run([WEFT, "motifs", "--device", "cpu", "-g", weft_file(g), "-k", str(k), "--to", "json", "--threads", str(t), "--timeout", f"{args.limit}s", "--progress", "none"], args.limit + 5, t)
                    r = jsons(text)
                    if not all(x["complete"] for x in r):
                        raise Failed("timeout")
                    found["weft"] = sorted(int(x["subgraphs"]) for x in r)
                    return sum(x["seconds"]["search"] for x in r) * 1e3, sum(x["seconds"]["plan"] for x in r) * 1e3, found["weft"], peak

                def graphminer():
                    text, _, peak = run([f"{PEERS}/gm_motif_formula", f"{peer_dir(g)}/gm/graph", "4"], args.limit, t)
                    return float(find(r"^runtime.*= *([\d.e+-]+)", text)) * 1e3, None, sorted(int(x) for x in re.findall(r"^pattern \d+: (\d+)", text, re.M)), peak

                def peregrine():
                    text, _, peak = run([f"{PEERS}/pe_count", f"{peer_dir(g)}/pe", f"{k}-motifs", str(t)], args.limit, t, cwd=PEERS)
                    return float(find(r"finished after (\S+?)s", text)) * 1e3, None, sorted(int(x) for x in re.findall(r"^\[.*: (\d+)", text, re.M)), peak

                class Truth:  # the peers' counts are right if they are weft's, and the other way round
                    def __ne__(self, other): return not self == other
                    def __eq__(self, other): return other == found.get("weft")
                    def __str__(self): return "weft's counts"
                players = [("weft", weft_motifs)]
                if PEERS and k == 4:
                    players.append(("gm_motif_formula", graphminer))
                elif PEERS and not (args.fast and g == "ego-facebook"):
                    players.append(("peregrine", peregrine))
                turns("motifs", g, f"motifs({k})", t, players, Truth())


def labelled():
    """One thread. A line a set, group and contestant: summed times over the queries that every contestant finished."""
    jobs = []
    for name, group in (("hprd", "small"), ("github16", "small"), ("yeast", "first"), ("github16", "big"), ("yeast", "small")):
        jobs.append(lambda cpus, name=name, group=group: labelled_set(name, group, cpus))
    lanes(jobs)


def labelled_set(name, group, cpus):
    d = f"{DATA}/labelled/{name}"
    expected = {}
    for line in open(f"{d}/expected.tsv"):
        f = line.split()
        if f and f[0][0] != "#" and (int(f[1]) < 10**8) == (group == "small"):
            expected[f[0]] = int(f[1])
    graph = made(f"{WORK}/{name}.graph", lambda p: open(p, "wb").write(gzip.open(f"{d}/{name}.graph.gz").read()))
    queries = list(expected)
    first = group == "first"
    limit = min(args.limit, 60)
    results = {}  # who → query → [(search, total)]

    def right(q, count):
        return count >= 10**5 if first else count == expected[q]

    def note(who, q, count, search, total):
        results.setdefault(who, {}).setdefault(q, []).append((search, total, right(q, count)))

    def weft_set(who="weft", some=queries):
        cmd = [WEFT, "count", "--device", "cpu", "-g", graph, "--threads", "1", "--to", "ndjson", "--timeout", f"{limit}s", "--progress", "none"]
        cmd += ["--limit", "100000"] if first else []
        for q in some:
            cmd += ["-f", f"{d}/queries/{q}"]
        try:
            text, _, _ = run(cmd, limit * len(some), cpus=cpus)
        except Failed as e:
            if not str(e).startswith("exit 124"):
                raise
            text = ""
            for q in some:  # one of them ran out of time: ask one by one
                with contextlib.suppress(Failed):
                    text += run(cmd[:cmd.index("-f")] + ["-f", f"{d}/queries/{q}"], limit + 5, cpus=cpus)[0]
        for r in jsons(text):
            s = r["seconds"]
            if r["complete"] or first:
                note(who, r["query"].removesuffix(".graph") + ".graph", int(r["embeddings"]), s["search"], s["plan"] + s["search"])

    def peer_set(who):
        for q in queries:
            p = f"{d}/queries/{q}"
            try:
                if who == "daf":
                    text, _, _ = run([f"{PEERS}/daf", "-d", graph, "-q", p] + (["-m", "100000"] if first else []), limit, cpus=cpus)
                    note(who, q, int(find(r"#Matches: (\d+)", text)), float(find(r"Search time: (\S+)", text)) / 1e3, float(find(r"Total time: (\S+)", text)) / 1e3)
                else:
                    text, _, _ = run([f"{PEERS}/sm", "-d", graph, "-q", p, "-filter", "GQL", "-order", "GQL", "-engine", "LFTJ", "-num", "100000" if first else "MAX"], limit, cpus=cpus)
                    note(who, q, int(find(r"#Embeddings: (\d+)", text)), float(find(r"Enumerate time \(seconds\): (\S+)", text)), float(find(r"Total time \(seconds\): (\S+)", text)))
            except Failed:
                pass

    start = time.monotonic()
    for i in range(args.runs + 1):
        if i > 0 and (late() or time.monotonic() - start > args.case):
            break
        if i == 1 and time.monotonic() - start < args.case / 4:
            results.clear()  # the first round was warm-up
        weft_set()
        if name == "hprd":
            for q in queries:
                weft_set("weft, a process a query", [q])
        if PEERS:
            peer_set("daf")
            peer_set("sm")
    median = lambda xs: sorted(xs)[len(xs) // 2]
    for who, by in results.items():
        everybody = [q for q in queries if all(q in r for r in results.values())]
        emit(step="labelled", graph=name, what=group, who=who, threads=1, queries=len(everybody), finished=len(by), of=len(queries),
             wrong=[q for q in by if not all(x[2] for x in by[q])], ms=[round(1e3 * sum(median([x[1] for x in by[q]]) for q in everybody), 3)],
             search_ms=round(1e3 * sum(median([x[0] for x in by[q]]) for q in everybody), 3), rounds=max(len(x) for x in by.values()),
             each_ms={q.removesuffix(".graph"): round(1e3 * median([x[1] for x in by[q]]), 3) for q in by} if group == "big" else None,
             slowest={q.removesuffix(".graph"): round(1e3 * median([x[1] for x in by[q]]), 2) for q in sorted(by, key=lambda q: -median([x[1] for x in by[q]]))[:3]}, note="")


def ladder():
    cores = len(os.sched_getaffinity(0))
    steps = [t for t in (1, 2, 4, 8, 16, 32, 64) if t <= cores]
    return sorted(steps, key=lambda t: [1, cores, 4, 8, 2].index(t) if t in (1, cores, 4, 8, 2) else 9)


def scaling():
    """P5 to P8 of weft at 1, 2, 4, … threads, or --threads; peers at the fewest and the most. All take turns, a program with one
    thread and with many too: what others on the host do changes a thread's speed by half within minutes."""
    steps = sorted(args.threads) if len(args.threads) > 1 else sorted(ladder())
    with contextlib.suppress(Failed):  # a machine that has just started is slow for seconds: the one-thread times would flatter
        for _ in range(5):
            weft("ego-facebook", "P5", 1, args.limit)
    for g in args.graphs or ("ego-facebook", "ego-twitter"):
        for p in args.patterns or ("P5", "P6", "P7", "P8"):
            players = [(("weft", t), lambda t=t: weft(g, p, t, args.limit)) for t in steps]
            peers = []
            if PEERS and (g == "ego-facebook" or not args.fast):
                peers = ["gm_count_base"] * (p == "P6") + ["graphpi"] * (p != "P6" or not args.fast)
            for t in {steps[0], steps[-1]}:
                players += [((q, t), lambda q=q, t=t: peer(q, g, p, t, args.limit)) for q in peers]
            if not late():
                turns("scaling", g, p, None, players, known(g, p))


def big():
    """Triangles of the rmat graph, one contestant at a time."""
    weft_file("rmat")
    if PEERS:
        peer_dir("rmat")
    limit = max(args.limit, 240)
    for t in ladder():
        if late() or args.max_threads and t > args.max_threads:
            continue
        turns("big", "rmat", "P1", t, [("weft", lambda: weft("rmat", "P1", t, limit))] +
              ([("gm_tc_simd", lambda: peer("gm_tc_simd", "rmat", "P1", t, limit))] if PEERS else []), None, limit, 1 if t < 8 else 2)


def text_file(name, draws):
    """An rmat graph as a text edge list."""
    scale = "22" if draws >= 50_000_000 else "20"
    if draws == args.edges:
        return made(f"{WORK}/{name}.el", lambda p: sh(WEFT, "convert", "--lossy", weft_file("rmat"), p))
    return made(f"{WORK}/{name}.el", lambda p: sh(WEFT, "gen", "rmat", "--scale", scale, "--m", str(draws), "--seed", "2", "-o", p))


def load(path, threads, limit=300, watch=None):
    """Loads a graph and hardly anything else: load seconds, wall seconds, peak."""
    text, wall, peak = run([WEFT, "count", "--device", "cpu", "-g", path, "--pattern", "triangle", "--limit", "1", "--threads", str(threads), "--to", "json", "--progress", "none"], limit, threads, watch=watch)
    return jsons(text)[0]["seconds"]["load"], wall, peak


def reading():
    """A text edge list of 10 M edges, against parse.c; the file is in the page cache."""
    path = text_file("rmat10m", 10_000_000)
    size = os.path.getsize(path)
    rows = {}
    for i in range(args.runs + 1):
        if i > 1 and late():
            break
        got = {"parse.c": float(find(r"([\d.]+) s,", run([f"{TOOLS}/parse", path], 100)[0]))}
        if env("WEFT_FORMAT_TEST"):
            os.environ["WEFT_BIG"] = path
            text, _, _ = run([env("WEFT_FORMAT_TEST"), "-test.run", "^$", "-test.bench", "^BenchmarkPairs$", "-test.benchtime", "2x"], 100, cwd=WORK)
            got["weft, parse alone"] = size / 1e6 / float(find(r"one\S*\s.*?([\d.]+) MB/s", text))
        for t in sorted({1, *args.threads}):
            got[f"weft, load, {t} threads"] = load(path, t)[0]
        for k, s in got.items():
            if i > 0:
                rows.setdefault(k, []).append(s)
    for k, s in rows.items():
        emit(step="reading", graph="rmat10m.el", what=f"{size / 1e6:.0f} MB", who=k, threads=int(k.split()[2]) if "load" in k else 1,
             ms=[round(1e3 * x, 3) for x in s], mb_s=round(size / 1e6 / sorted(s)[len(s) // 2], 1), note="")


def rss(pid):
    with contextlib.suppress(OSError, IndexError):
        f = open(f"/proc/{pid}/status").read()
        get = lambda k: int((re.findall(rf"^{k}:\s+(\d+)", f, re.M) or ["0"])[0]) * 1024
        return get("VmRSS"), get("RssAnon")
    return None


def memory():
    """100 M edges: RSS while loading and after, and the time to open the converted graph."""
    w = weft_file("rmat")
    forms = [("weft", w), ("text", text_file("rmat", args.edges))]
    t = len(os.sched_getaffinity(0))
    for form, path in forms:
        if late():
            return
        trace = []

        def watch(pid, at):
            if r := rss(pid):
                trace.append((at, *r))
        # A search that is stopped after a few seconds: what is held then is the
        # graph. It ends with exit code 124, and its result is partial.
        result = f"{WORK}/memory.json"
        with open(result, "w") as f, contextlib.suppress(Failed):
            run([WEFT, "count", "--device", "cpu", "-g", path, "--pattern", "gmatch:P4", "--threads", str(t), "--timeout", "5s", "--to", "json", "--progress", "none"], 420, t, stdout=f, watch=watch)
        try:
            r = jsons(open(result).read())[0]
        except Failed as failed:
            emit(step="memory", graph="rmat", what=form, who="weft", threads=t, note=f"failed: {failed}")
            continue
        v, e = r["graph"]["vertices"], r["graph"]["edges"]
        csr = 8 * (v + 1) + 4 * 2 * e
        loaded = r["seconds"]["load"]
        # Not the last second either: a process that ends gives its pages back.
        after = [x for x in trace if loaded + 0.5 < x[0] < trace[-1][0] - 1]
        if not after:
            emit(step="memory", graph="rmat", what=form, who="weft", threads=t, note="no time between loading and the end")
            continue
        mid = sorted(after, key=lambda x: x[1])[len(after) // 2]
        opens = [load(path, t) for _ in range(5 if form == "weft" else 0)]
        emit(step="memory", graph="rmat", what=form, who="weft", threads=t, csr_mb=round(csr / 1e6), load_s=loaded, peak_mb=round(max(x[1] for x in trace) / 1e6),
             peak_loading_mb=round(max([x[1] for x in trace if x[0] <= loaded + 0.3] or [0]) / 1e6), after_mb=round(mid[1] / 1e6), after_anon_mb=round(mid[2] / 1e6),
             open_ms=[round(1e3 * x[0], 3) for x in opens], open_wall_ms=[round(1e3 * x[1], 1) for x in opens], note="")


def listing():
    """RSS of a listing of many matches to /dev/null, and of the count of the same pattern."""
    t = len(os.sched_getaffinity(0))
    n = args.matches
    r = weft("ego-twitter", "P4", t, args.limit)
    trace = []

    def watch(pid, at):
        if r := rss(pid):
            trace.append(r[0])
    with open(os.devnull, "w") as null:
        note, took, peak = "", 0.0, 0
        try:
            _, took, peak = run([WEFT, "match", "-g", weft_file("ego-twitter"), "--pattern", "gmatch:P4", "--limit", str(n), "--to", "csv", "--threads", str(t), "--progress", "none"],
                                args.limit * 4, t, stdout=null, watch=watch)
        except Failed as e:
            note = str(e)
    emit(step="listing", graph="ego-twitter", what=f"P4, {n} matches", who="weft", threads=t, count_peak_mb=round(r[3] / 1e6, 1), list_peak_mb=round(max(trace) / 1e6, 1),
         ms=[round(1e3 * took, 1)], note=note)


STEPS = {f.__name__: f for f in (machine, heldout, cells, motifs, labelled, scaling, reading, big, memory, listing)}
if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("steps", nargs="+", choices=STEPS, metavar="STEP")
    ap.add_argument("--out", type=lambda p: open(p, "a"), default=sys.stdout, help="file that results are appended to")
    ap.add_argument("--threads", type=lambda s: [int(x) for x in s.split(",")], default=[len(os.sched_getaffinity(0))], help="threads of cells, as 16,1")
    ap.add_argument("--runs", type=int, default=5, help="runs that count, after one that does not")
    ap.add_argument("--limit", type=int, default=60, help="seconds that one run may take")
    ap.add_argument("--case", type=float, default=40, help="seconds after which a case starts no further round")
    ap.add_argument("--budget", type=float, default=1e9, help="seconds after which nothing new is started")
    ap.add_argument("--lanes", type=int, default=1, help="one-thread cases at a time, each on its own core")
    ap.add_argument("--graphs", type=lambda s: s.split(","), help="graphs of cells")
    ap.add_argument("--patterns", type=lambda s: s.split(","), help="patterns of cells")
    ap.add_argument("--edges", type=int, default=100_000_000, help="draws of the rmat graph")
    ap.add_argument("--matches", type=int, default=10**9, help="matches of listing")
    ap.add_argument("--max-threads", type=int, default=0)
    ap.add_argument("--fast", action="store_true", help="leave out what takes the peers minutes")
    args = ap.parse_args()
    WEFT, DATA, TOOLS = os.path.abspath(WEFT) if "/" in WEFT else WEFT, os.path.abspath(DATA), os.path.abspath(TOOLS)
    PEERS = PEERS and os.path.abspath(PEERS)
    os.makedirs(WORK, exist_ok=True)
    began = time.monotonic()
    for step in args.steps:
        if late():
            break
        try:
            STEPS[step]()
        except Exception as e:  # one step's trouble is not the next one's
            emit(step=step, what="error", note=f"{e.__class__.__name__}: {e}")
