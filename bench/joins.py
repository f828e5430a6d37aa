#!/usr/bin/env python3
"""joins.py GRAPH... [--device gpu:0]: the sets of `weft bench join` by engines join and host and by auto, as JSON lines.

The engines count the queries in turns: one of each set, then the next of each. A graph gets --seconds; the sets have the queries that
were measured by then, the longest walks fewer. Each line of the output has a graph, a set and an engine, as `weft bench join` writes
it, and the sums over the queries that all engines ended ("common"). A line with "nobody" names queries that no engine ended. Kept as
docs/results/sets-NAME.jsonl the lines become a table of docs/ablation.md (`make figures`).

With a GPU, --choices compares the plans of engine join there: with semijoins, in GSI's order, and by its own choice. --constants
measures the times by which weft makes that choice (internal/plan/cost/device.go, internal/route/gpujoin.go).
Environment: WEFT, the program.
"""
import argparse, gzip, json, math, os, re, signal, statistics, subprocess, sys, tempfile, time

WEFT = os.environ.get("WEFT", "weft")
SHAPES = ["P2", "P3", "P4", "T2", "T3", "T4", "Ti2", "Ti3", "Ti4", "J3", "J4", "Tr1", "Tr2", "S1", "S2", "S3", "S4"]
# Long walks often take longer than the limit: they are measured apart, so that they do not use up the time of the others.
GROUPS = [(["walk4", "walk6"] + SHAPES, 0.6), (["walk8", "walk10", "walk12"], 0.4)]
ON_PROCESSOR = [("join", "engine=join,device=cpu"), ("host", "engine=host,device=cpu"), ("auto", "engine=auto,device=cpu")]
ON_GPU = [("join on the GPU", "engine=join,device=%s"), ("auto with the GPU", "engine=auto,device=%s")]
CHOICES = [("chosen", "engine=join,device=%s"), ("semijoins", "engine=join,order=join,device=%s"), ("GSI's order", "engine=join,order=gsi,device=%s")]


def say(*text):
    print(time.strftime("%H:%M:%S"), *text, file=sys.stderr, flush=True)


def short(graph):
    return os.path.basename(graph).split(".")[0]


def weft(*command, seconds=None, env=None):
    """The output of weft. After the time it is interrupted, as by Ctrl-C, and writes what it has."""
    p = subprocess.Popen([WEFT, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    try:
        out, err = p.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        p.send_signal(signal.SIGINT)
        try:
            out, err = p.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
    return p.returncode, out, err


def draw(graph, sets, each):
    """The queries of each set."""
    with tempfile.TemporaryDirectory() as folder:
        code, _, err = weft("bench", "join", "-g", graph, "--seed", str(args.seed), "--each", str(each), "--save", folder, *[x for s in sets for x in ("--set", s)])
        if code:
            sys.exit(f"{graph}: queries cannot be drawn: {err}")
        out = {}
        for s in sets:
            path = os.path.join(folder, short(graph), s + ".gql")
            text = open(path).read() if os.path.exists(path) else ""
            out[s] = [q for q in text.replace(";", "").splitlines() if q]
    return out


def measure(graph, queries, contestants, seconds, runs=1):
    """A line for each query and contestant, with the query's set and name. Queries take turns by set."""
    turns = [(f"{s}#{i}", s, q[i]) for i in range(max(map(len, queries.values()), default=0)) for s, q in queries.items() if i < len(q)]
    if not turns:
        return []
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/turns.gql", "w") as f:
            f.write(";\n".join(q for _, _, q in turns) + "\n")
        command = ["bench", "join", "-g", graph, "-f", folder + "/turns.gql", "--runs", str(runs), "--warmup", "1", "--timeout", f"{args.limit}s",
                   "--threads", str(args.threads), "--progress", "none", "--to", "ndjson", "--detail", folder + "/detail"]
        if args.listing:
            command += ["--listing", str(args.listing)]
        for name, given in contestants:
            command += ["--variant", f"{name}:{given}"]
        code, _, err = weft(*command, seconds=seconds)
        global failed
        failed = failed or "listings differ" in err
        if code not in (0, 130):
            say(f"{graph}: weft bench join: exit {code}: {err[-2000:]}")
        try:
            lines = [json.loads(line) for line in open(folder + "/detail")]
        except FileNotFoundError:
            return []
    out, n = [], len(contestants)
    for i in range(0, len(lines) - n + 1, n):
        name, s, text = turns[i // n]
        of = lines[i:i + n]
        if any(r["text"] != text for r in of):
            sys.exit(f"{graph}: {name} is {text}, and {of[0]['text']} was measured")
        if any("interrupted" in r.get("error", "") for r in of):
            break  # the time is over
        out += [{**r, "graph": short(graph), "set": s, "query": name} for r in of]
    return out


def ended(r):
    return "error" not in r


def totals(graph, lines, contestants):
    """A line for each set and contestant, one for all sets, and one for the queries that nobody ended."""
    sets = list(dict.fromkeys(r["set"] for r in lines))
    for s in sets + ["all"]:
        by_query = {}
        for r in lines:
            if s in ("all", r["set"]):
                by_query.setdefault(r["query"], []).append(r)
        all_ended = [q for q, rs in by_query.items() if all(map(ended, rs))]
        first = {r["query"]: r for r in lines if r["who"] == contestants[0][0]}
        for who, _ in contestants:
            mine = [r for rs in by_query.values() for r in rs if r["who"] == who and ended(r)]
            both = [(r["whole_ms"], first[r["query"]]["whole_ms"]) for r in mine if ended(first[r["query"]])]
            wins = sum(who == min(filter(ended, rs), key=lambda r: r["whole_ms"])["who"] for rs in by_query.values() if any(map(ended, rs)))
            differ = sum(not r["agrees"] for r in mine)
            log = lambda x: math.log(max(x, 1e-6))
            yield {"graph": graph, "set": s, "who": who, "queries": len(by_query), "finished": len(mine), "whole_ms": round(sum(r["whole_ms"] for r in mine), 3),
                   "plan_ms": round(sum(r["plan_ms"] for r in mine), 3), "search_ms": round(sum(r["search_ms"] for r in mine), 3),
                   "mean_ms": round(math.exp(sum(log(r["whole_ms"]) for r in mine) / len(mine)), 3) if mine else 0, "wins": wins,
                   "ratio": round(sum(a for a, _ in both) / sum(b for _, b in both), 3) if both else None,
                   "mean_ratio": round(math.exp(sum(log(a) - log(b) for a, b in both) / len(both)), 3) if both else None,
                   "tables": sum(r["tables"] for r in mine), "matches": sum(int(r["count"] or 0) for r in mine),
                   "common": len(all_ended), "common_ms": round(sum(r["whole_ms"] for r in mine if r["query"] in all_ended), 3),
                   "note": f"{differ} COUNTS DIFFER" if differ else ""}
        if s != "all":
            nobody = [q for q, rs in by_query.items() if not any(map(ended, rs))]
            if nobody:
                yield {"graph": graph, "set": s, "nobody": nobody}


def compare(graph, contestants, each, seconds, kept):
    """The totals of a graph's sets."""
    lines = []
    for sets, share in GROUPS:
        queries = draw(graph, [s for s in sets if s in args.set], each)
        if args.fewer:
            queries = {s: q[:args.fewer] for s, q in queries.items()}
        began = time.time()
        got = measure(graph, queries, contestants, seconds * share)
        say(f"{short(graph)}: {len(got) // len(contestants)} of {sum(map(len, queries.values()))} queries in {time.time() - began:.0f} s")
        lines += got
    for r in lines:
        if ended(r) and not r["agrees"]:
            say(f"COUNTS DIFFER: {r['graph']} {r['query']} {r['who']}: {r['count']}: {r['text']}")
            global failed
            failed = True
        elif not ended(r) and r["error"] != "timeout":
            say(f"{r['graph']} {r['query']} {r['who']}: {r['error']}: {r['text']}")
    if kept:
        with gzip.open(kept, "at") as f:
            f.writelines(json.dumps(r) + "\n" for r in lines)
    return list(totals(short(graph), lines, contestants))


def pairs(graph, text, order):
    """The plan in an order, and about how many list entries semijoins read."""
    code, out, err = weft("explain", "-g", graph, text, "--engine", "join", "--device", "cpu", "--order", order, "--to", "json")
    if code:
        return None, 0
    plan = json.loads(out)["plan"]
    of = {a["name"]: a["pairs"] for a in plan.get("adjacencies", [])}
    return plan, sum(of.get(f"N[:{label}]+", of.get(f"N[:{label}]-", 0)) for label in re.findall(r"\[:([^\]]+)\]", text))


def line(xs, ys):
    """Slope and intercept of a line through points, by the median of the slopes (Theil and Sen)."""
    points = list(zip(xs, ys))
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(points) for b in points[:i] if abs(b[0] - a[0]) > 0.05 * max(xs)]
    if not slopes:
        return None, None
    slope = statistics.median(slopes)
    return slope, statistics.median(y - slope * x for x, y in points)


def constants(graphs):
    """What internal/plan/cost/device.go and internal/route/gpujoin.go have as constants."""
    phases, rows, semijoins, drawn = [], [], [], {}
    both = [(n, s % args.device) for n, s in CHOICES if n != "chosen"]
    for graph in graphs:
        queries = drawn[graph] = draw(graph, ["walk4", "walk6", "walk8", "P3", "T3", "Tr1", "S1"], 10)
        lines = {(r["query"], r["who"]): r for r in measure(graph, queries, both, 20, runs=3) if ended(r)}
        for name, text in ((f"{s}#{i}", text) for s, texts in queries.items() for i, text in enumerate(texts)):
            gsi, semi = lines.get((name, "GSI's order")), lines.get((name, "semijoins"))
            if not gsi or not semi:
                continue
            plan, reads = pairs(graph, text, "gsi")
            if plan is None:
                continue
            semijoins.append((reads, semi["plan_ms"] - gsi["plan_ms"]))
            levels = len(plan["levels"]) - plan.get("tail", {}).get("levels", 0)
            n = sum(x["estimate"] for x in plan["levels"][:levels])
            if n < 1e4:
                phases.append(gsi["search_ms"] / max(levels, 1))
            elif n > 1e6:
                rows.append((n, gsi["search_ms"], plan["cost"]))
    slope, intercept = line(*zip(*semijoins)) if semijoins else (None, None)
    yield {"constant": "phaseTime", "seconds": median(phases, 1e-3), "of": len(phases)}
    yield {"constant": "rowTime", "seconds": median([ms / n for n, ms, _ in rows], 1e-3), "of": len(rows), "rows, ms, elements": [[round(n), ms, round(c)] for n, ms, c in rows]}
    yield {"constant": "semijoinTime", "seconds": slope and slope / 1e3, "intercept_ms": intercept, "of": len(semijoins), "reads, ms": [[a, round(b, 4)] for a, b in semijoins]}
    graph = graphs[0]
    texts = [t for q in drawn[graph].values() for t in q[:2]]
    compilation = {"stack": [], "codegen": []}
    for text in texts[::4]:
        for engine, took in compilation.items():
            with tempfile.TemporaryDirectory() as cache:
                times = []
                for _ in range(2):  # the second finds the kernels in the cache
                    began = time.time()
                    code, _, _ = weft("count", "-g", graph, text, "--engine", engine, "--device", args.device, "--timeout", "20s", env={**os.environ, "WEFT_CACHE": cache})
                    times.append(time.time() - began)
                if code == 0:
                    took.append(times[0] - times[1])
    for engine, took in compilation.items():
        yield {"constant": f"compilation by {engine}", "seconds": median(took), "of": len(took)}
    plans, compiled = [], []
    for r in measure(graph, {"all": texts}, [("stack", f"engine=stack,device={args.device}")], 60, runs=1):
        if ended(r):
            plans.append(r["plan_ms"])
            work = pairs(graph, r["text"], "auto")[0]["cost"]
            if work > 1e6:
                compiled.append((work, r["search_ms"]))
    yield {"constant": "stepsOfCompiled", "per_second": median([1e3 * w / max(ms, 1e-3) for w, ms in compiled]), "of": len(compiled), "steps, ms": [[round(w), ms] for w, ms in compiled]}
    yield {"constant": "shortest", "seconds": median(plans, 1e-3), "of": len(plans)}


def median(xs, scale=1):
    return statistics.median(xs) * scale if xs else None


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("graphs", nargs="+", metavar="GRAPH")
parser.add_argument("--device", default="cpu", help="cpu measures the processor's engines only")
parser.add_argument("--set", default=",".join(s for g, _ in GROUPS for s in g), help="names of sets with commas")
parser.add_argument("--each", type=int, default=0, help="queries of a set; 0: as many as in the papers")
parser.add_argument("--seed", type=int, default=1, help="of the sets of queries; another one draws other queries")
parser.add_argument("--listing", type=int, default=0, metavar="N", help="also compare the listings of queries with at most N embeddings")
parser.add_argument("--fewer", type=int, default=0, help="at most so many of the drawn queries are measured")
parser.add_argument("--limit", type=float, default=1, help="seconds for one search")
parser.add_argument("--seconds", type=float, default=3600, help="for each graph")
parser.add_argument("--threads", type=int, default=0)
parser.add_argument("--commit", default="", help="of weft, where the program does not know it")
parser.add_argument("--choices", action="store_true", help="compare plans of engine join on the GPU")
parser.add_argument("--constants", action="store_true", help="measure the constants of the choice")
parser.add_argument("--detail", default="", help="a file for a line of each query and engine, which is appended to and compressed")
parser.add_argument("--out", type=argparse.FileType("a"), default=sys.stdout)
args = parser.parse_args()
args.set = args.set.split(",")
failed = False
if (args.choices or args.constants) and args.device == "cpu":
    parser.error("--choices and --constants need a GPU: --device gpu:0")
if args.constants:
    for x in constants(args.graphs):
        print(json.dumps(x), file=args.out, flush=True)
    sys.exit()
contestants = [(n, s % args.device) for n, s in CHOICES] if args.choices else ([(n, s % args.device) for n, s in ON_GPU] if args.device != "cpu" else []) + ON_PROCESSOR
if not args.out.seekable() or not args.out.tell():
    where = "the processor"
    if args.device != "cpu":
        smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], stdout=subprocess.PIPE, text=True).stdout
        where = ", driver ".join(smi.splitlines()[0].split(", "))
    of = "; plans of engine join" if args.choices else ""
    of += f"; seed {args.seed}" if args.seed != 1 else ""
    version = args.commit or subprocess.run([WEFT, "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
    print(json.dumps({"kind": "sets", "about": f"{where}, {args.threads or len(os.sched_getaffinity(0))} threads; {time.strftime('%Y-%m-%d')}; {version}; at most {args.limit:g} s a query{of}"}),
          file=args.out, flush=True)
for g in args.graphs:
    for x in compare(g, contestants, args.each, args.seconds, args.detail):
        print(json.dumps(x), file=args.out, flush=True)
sys.exit(failed)
