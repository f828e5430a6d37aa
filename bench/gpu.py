#!/usr/bin/env python3
"""gpu.py [options]: weft beside its GPU peers on graphs that nobody tuned for, as JSON lines.
`make figures` makes tables of them when they are docs/results/gpu-peers.jsonl.

Peers get their best build and their best numbering of the vertices: each runs on
the graph as it is and in both orders by degree, and the fastest counts. Environment:
  WEFT              the program
  WEFT_PEERS        folder of the peers' executables (README.md names them)
  WEFT_BENCH_DATA   folder of graphs/
  WEFT_BENCH_WORK   folder for converted graphs (kept between runs)
  WEFT_BENCH_TOOLS  folder of peergraph, built from the source here
"""
import argparse, gzip, json, os, re, statistics, subprocess, sys, time

env = os.environ.get
WEFT, PEERS, DATA = env("WEFT", "weft"), env("WEFT_PEERS", ""), env("WEFT_BENCH_DATA", "data")
WORK = os.path.abspath(env("WEFT_BENCH_WORK", "/tmp/weft-bench"))
TOOLS = env("WEFT_BENCH_TOOLS", WORK)

# Graphs that no switch of weft was set by: two generated ones and two of SNAP's.
GRAPHS = {
    "rgg-60": ["gen", "rgg", "--scale", "19", "--degree", "60", "--seed", "90210"],
    "rmat-30": ["gen", "rmat", "--scale", "21", "--m", "30000000", "--seed", "77123"],
    "cit-hepth": "cit-hepth.txt.gz",
    "as-caida": "as-caida.txt.gz",
}
PATTERNS = {
    "P1": "01 02 12", "P2": "01 02 03 12 13 23", "P3": "01 02 03 12 23", "P4": "01 03 12 23", "P5": "01 02 13 14 23 24 34",
    "P6": "01 02 12 13 14 23 24 34", "P7": "01 02 03 04 12 13 24 34", "P8": "01 02 03 04 13 14 23 24 34",
    "P9": "01 02 03 04 12 13 14 23 24 34",
}
ORDERS = ["", "desc", "asc"]
# Executable and last arguments of G2Miner's programs, and how each counts.
G2 = {
    "P1": [("g2_tc", [], "visits")], "P2": [("g2_clique", ["4"], "visits"), ("g2_clique_bitset", ["4"], "visits")],
    "P9": [("g2_clique", ["5"], "visits"), ("g2_clique_bitset", ["5"], "visits")],
    "P3": [("g2_sgl", ["diamond"], "visits"), ("g2_sgl_count", ["diamond"], "counts")], "P4": [("g2_sgl", ["rectangle"], "visits")],
}


class Failed(Exception):
    pass


def run(cmd, limit):
    start = time.monotonic()
    try:
        p = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=limit, text=True, errors="replace",
                           env={**os.environ, "CUDA_MODULE_LOADING": "EAGER"})
    except subprocess.TimeoutExpired:
        raise Failed(f"over {limit} s")
    except OSError as e:
        raise Failed(str(e))
    if p.returncode:
        raise Failed(f"exit {p.returncode}: {p.stdout.strip()[-200:]}")
    return p.stdout, time.monotonic() - start


def repeat(cmd):
    """The outputs of up to args.runs processes, fewer where they take long."""
    out, start = [], time.monotonic()
    while len(out) < args.runs and (not out or time.monotonic() - start < args.case):
        out.append(run(cmd, args.limit)[0])
    return out


def find(pattern, text):
    m = re.findall(pattern, text, re.M)
    if not m:
        raise Failed(f"nothing like {pattern}: {text[-200:]}")
    return m


def ours(graph):
    path = f"{WORK}/{graph}.weft"
    if not os.path.exists(path):
        os.makedirs(WORK, exist_ok=True)
        how = GRAPHS[graph]
        subprocess.run([WEFT, *how, "-o", path] if isinstance(how, list) else [WEFT, "convert", f"{DATA}/graphs/{how}", path, "--directed=false"], check=True)
    return path


def theirs(graph, order, triangles):
    """The graph in the peers' forms, in an order of its vertices."""
    d = f"{WORK}/gpu-{graph}-{order}"
    if not os.path.exists(f"{d}/info"):
        how, bin = GRAPHS[graph], f"{WORK}/{graph}.bin"
        if isinstance(how, list):
            if not os.path.exists(bin):
                subprocess.run([WEFT, "convert", ours(graph), bin], check=True)
        else:
            bin = f"{WORK}/{graph}.txt"
            with open(bin, "wb") as f:
                f.write(gzip.open(f"{DATA}/graphs/{how}").read())
        subprocess.run([f"{TOOLS}/peergraph", bin, d, "gm", "gb", "gs", f"tri={triangles}", *([order] if order else [])], check=True)
    return d


def pattern_file(p):
    path = f"{WORK}/{p}.graph"
    if not os.path.exists(path):
        edges = PATTERNS[p].split()
        n = 1 + max(int(c) for e in edges for c in e)
        degree = [sum(str(v) in e for e in edges) for v in range(n)]
        with open(path, "w") as f:
            f.write(f"t {n} {len(edges)}\n" + "".join(f"v {v} 0 {degree[v]}\n" for v in range(n)) + "\n".join(f"e {e[0]} {e[1]}" for e in edges))
    return path


def matrix(p):
    edges = PATTERNS[p].split()
    n = 1 + max(int(c) for e in edges for c in e)
    return [str(n), "".join("1" if f"{min(i, j)}{max(i, j)}" in edges else "0" for i in range(n) for j in range(n))]


def weft(graph, p, extra=()):
    """Medians of a warm process in ms (search, planning, preparation), the count, and the whole command's wall seconds."""
    common = ["-g", ours(graph), "--pattern", f"gmatch:{p}", "--device", "gpu:0", "--progress", "none", *extra]
    text, _ = run([WEFT, "bench", *common, "--runs", str(args.runs), "--warmup", "2", "--timeout", f"{args.limit}s", "--to", "ndjson"], args.limit * (args.runs + 3))
    r = json.loads(find(r"^\{.*\}$", text)[-1])
    if r["note"]:
        raise Failed(r["note"])
    whole = [run([WEFT, "count", *common, "--to", "json"], args.limit)[1] for _ in range(3)]
    return {"ms": r["median_ms"], "least": r["least_ms"], "most": r["most_ms"], "plan": r["plan_ms"], "prepare": r["prepare_ms"], "count": int(r["count"]),
            "command_s": round(statistics.median(whole), 3)}


def peer_runs(graph, p, order, triangles):
    """Contestants of a cell in one order: name, how it counts, and what runs it."""
    d = theirs(graph, order, triangles)
    for exe, last, how in G2.get(p, []):
        def g2(exe=exe, last=last):
            got = repeat([f"{PEERS}/{exe}", f"{d}/gm/graph", *last])
            times = [float(find(r"^runtime \[.*= *([\d.e+-]+)", t)[-1]) * 1e3 for t in got]
            return times, int(find(r"^(?:total_num|num_)\S* = (\d+)", got[-1])[-1])
        yield "G2Miner" + (" COUNT=1" if how == "counts" else "") + (" bitset" if "bitset" in exe else ""), how, g2
    def gmatch():
        got = repeat([f"{PEERS}/gmatch", "-b", f"{d}/graph.bin", "-q", pattern_file(p)])
        times = [float(find(r"Processing, time \(ms\): ([\d.e+-]+)\(host\)", t)[-1]) for t in got]
        kernel = [float(find(r"Processing, time \(ms\):.*, ([\d.e+-]+)\(kernel\)", t)[-1]) for t in got]
        return [max(a, b) for a, b in zip(times, kernel)], int(find(r"unique count: (\d+)", got[-1])[-1])
    yield "gMatch", "visits", gmatch
    exe = f"{PEERS}/gs_{graph}-{order}_{p}"
    if os.path.exists(exe):
        def graphset():
            text, _ = run([exe, f"{d}/graph.g", *matrix(p)], args.limit)
            got = find(r"^Pattern count: (\d+) in ([\d.]+) s", text)
            return [float(s) * 1e3 for _, s in got][1:] or [float(got[0][1]) * 1e3], int(got[-1][0])
        yield "GraphSet generated", "counts", graphset


def emit(**line):
    args.out.write(json.dumps(line) + "\n")
    args.out.flush()
    print(" ".join(f"{k}={v}" for k, v in line.items()), file=sys.stderr, flush=True)


def about():
    """The device, its driver, the day and weft's commit."""
    smi, _ = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], 30)
    version, _ = run([WEFT, "--version"], 30)
    return f"One {', driver '.join(smi.splitlines()[0].split(', '))}; {time.strftime('%Y-%m-%d')}; {args.commit or version.strip()}"


def measure():
    began = time.monotonic()
    emit(kind="gpu peers", about=about())
    for graph in args.graphs:
        text, _ = run([WEFT, "count", "-g", ours(graph), "--pattern", "triangle", "--to", "json", "--progress", "none"], 60)
        triangles = json.loads(text[text.index("{"):])["subgraphs"]
        for p in args.patterns:
            if time.monotonic() - began > args.budget:
                return
            truth = None
            for who, how, extra in (("weft", "counts", []), ("weft, every match visited", "visits", ["--engine", "fine", "--engine-opt", "plan.tail=off"])):
                try:
                    r = weft(graph, p, extra)
                    truth = truth or r["count"]
                    emit(graph=graph, pattern=p, who=who, how=how, order="", ok=r["count"] == truth, **r)
                except Failed as e:
                    emit(graph=graph, pattern=p, who=who, how=how, order="", note=str(e))
            for order in ORDERS:
                for who, how, call in peer_runs(graph, p, order, triangles):
                    try:
                        times, count = call()
                        emit(graph=graph, pattern=p, who=who, how=how, order=order, ms=round(statistics.median(times), 4), least=min(times), most=max(times), count=count, ok=count == truth)
                    except Failed as e:
                        emit(graph=graph, pattern=p, who=who, how=how, order=order, note=str(e))


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--graphs", type=lambda s: s.split(","), default=list(GRAPHS))
parser.add_argument("--patterns", type=lambda s: s.split(","), default=list(PATTERNS))
parser.add_argument("--runs", type=int, default=5)
parser.add_argument("--limit", type=int, default=20, help="seconds for one run")
parser.add_argument("--case", type=float, default=10, help="seconds after which a contestant is not run again")
parser.add_argument("--budget", type=float, default=3600, help="seconds in all")
parser.add_argument("--commit", default="", help="of weft, where the program does not know it")
parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout)
args = parser.parse_args()
measure()
