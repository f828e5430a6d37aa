#!/usr/bin/env python3
"""ablation.py GRAPH... [--device gpu:0]: the gain of each technique of engine join, as JSON lines.

`weft bench join` counts sets of queries of each graph with the engine's defaults and with one switch changed, in turns. Kept as
docs/results/ablation-NAME.jsonl the lines become the tables of docs/ablation.md (`make figures`). Environment: WEFT, the program.
"""
import argparse, json, math, os, re, subprocess, sys, tempfile, time

WEFT = os.environ.get("WEFT", "weft")
BASE = "engine=join"
# A technique and what is changed. The first row changes nothing: its ratios show the noise.
CPU = [
    ("nothing", [""]),
    ("filtering by signatures", ["join.filter=off", "join.filter=signature"]),
    ("length of signatures", [f"join.filter=signature,join.signature={n}" for n in (64, 128, 512, 1024)]),
    ("lists by edge label", ["join.lists=interval", "join.lists=hashed"]),
    ("renumbering by share sets", ["join.lists=interval,join.renumber=off"]),
    ("set operations by size", ["join.sets=naive"]),
    ("merges of rows", ["join.merge=off", "join.merge=on"]),
    ("several vertices in a phase", ["join.extend=single", "join.extend=multi"]),
    ("order by joint degrees, semijoins", ["order=gsi", "order=geneva"]),
    ("stealing", ["join.steal=off"]),
    ("size of batches", ["join.batch=64", "join.batch=65536"]),
    ("as GSI", ["join.extend=single,order=gsi,join.filter=signature,join.lists=hashed"]),
    ("as GENEVA", ["join.extend=multi,order=geneva,join.filter=off,join.lists=interval"]),
]
GPU = [x for x in CPU if x[0] != "stealing"] + [
    ("index of interval-PCSR", ["join.lists=interval,join.index=runs", "join.lists=interval,join.index=ranks"]),
    ("places for new rows", ["join.output=prealloc", "join.output=twopass"]),
    ("write cache", ["join.cache=off"]),
    ("four layers of balance", ["join.balance=on"]),
    ("duplicate removal", ["join.share=on"]),
]
# One vertex in a phase, and several, over the queries where the second has such a phase: time of the search, and the bytes of all rows
# that phases hand to the next one, which do not depend on batches.
SEVERAL = [
    ("order by joint degrees, `auto`", "join.extend=single", "join.extend=auto"),
    ("order by joint degrees, `multi`", "join.extend=single", "join.extend=multi"),
    ("the same without arithmetic, `auto`", "join.extend=single,plan.tail=off", "join.extend=auto,plan.tail=off"),
    ("the same without arithmetic, `multi`", "join.extend=single,plan.tail=off", "join.extend=multi,plan.tail=off"),
    ("GENEVA's order without arithmetic, `multi`", "join.extend=single,order=geneva,plan.tail=off", "join.extend=multi,order=geneva,plan.tail=off"),
    ("the same, eliminations after phases", "join.extend=single,order=geneva,plan.tail=off", "join.extend=multi,join.eliminate=after,order=geneva,plan.tail=off"),
]

def settings(base, switch):
    """Settings in which those of a switch take the place of the base's."""
    changed = {s.split("=")[0] for s in switch.split(",")}
    device = [] if args.device == "cpu" else ["device=" + args.device]
    return ",".join([s for s in base.split(",") if s.split("=")[0] not in changed] + [s for s in switch.split(",") if s] + device)


def bench(graph, variants):
    """What `weft bench join` writes: a row for each contestant over all sets, and a row for each query and contestant."""
    with tempfile.TemporaryDirectory() as folder:
        command = [WEFT, "bench", "join", "-g", graph, "--seed", "1", "--each", str(args.each), "--runs", str(args.runs), "--warmup", "1",
                   "--timeout", f"{args.limit}s", "--threads", str(args.threads), "--to", "ndjson", "--progress", "none", "--detail", folder + "/detail"]
        for s in args.set.split(","):
            command += ["--set", s]
        for name, given in variants:
            command += ["--variant", f"{name}:{given}"]
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if p.returncode:
            sys.exit(f"{' '.join(command)}: exit {p.returncode}: {p.stderr[-2000:]}")
        with open(folder + "/detail") as f:
            detail = [json.loads(line) for line in f]
    return [json.loads(line) for line in p.stdout.splitlines()][-len(variants):], detail


def lines(graph):
    """A line for each switch, and one for each comparison of phases of several vertices."""
    short = os.path.basename(graph).split(".")[0]
    sizes = [json.loads(x) for x in subprocess.run([WEFT, "info", "--layouts", graph, "--to", "ndjson"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]
    yield {"graph": short, "layouts": {name: sum(x[name] for x in sizes) for name in ("vertices", "csr", "hashed_pcsr", "interval_pcsr", "runs", "own_pcsr", "own_runs")}}
    if args.layouts:
        return
    switches = [(t, s) for t, all in (CPU if args.device == "cpu" else GPU) for s in all]
    if args.several:
        switches = []
    variants = [("base", settings(BASE, ""))] + [(f"switch {i}", settings(BASE, s)) for i, (_, s) in enumerate(switches)]
    named = {}  # contestants that several comparisons have run once
    for _, single, multi in SEVERAL:
        for s in (single, multi):
            named.setdefault(s, f"several {len(named)}")
    variants += [(name, settings(BASE, s)) for s, name in named.items()]
    total, detail = bench(graph, variants)
    base = total[0]
    yield {"graph": short, "technique": "", "switch": "", "queries": base["queries"], "finished": base["finished"], "ms": base["whole_ms"]}
    for (technique, switch), r in zip(switches, total[1:]):
        yield {"graph": short, "technique": technique, "switch": switch.replace(",", " "), "queries": r["queries"], "finished": r["finished"],
               "ms": r["whole_ms"], "ratio": r["ratio"], "mean_ratio": r["mean_ratio"]}
    for what, single, multi in SEVERAL:
        of = {s: {r["query"]: r for r in detail if r["who"] == named[s]} for s in (single, multi)}
        pairs = [(of[single][q], m) for q, m in of[multi].items() if "error" in m or re.search("pattern [1-7]", m.get("phases", ""))]
        both = [(s, m) for s, m in pairs if "error" not in s and "error" not in m]
        times = [max(m["search_ms"], 0.001) / max(s["search_ms"], 0.001) for s, m in both]
        yield {"graph": short, "several": what, "queries": len(both), "single_only": sum("error" in m and "error" not in s for s, m in pairs),
               "multi_only": sum("error" in s and "error" not in m for s, m in pairs),
               "mean_ratio": math.exp(sum(map(math.log, times)) / len(times)) if times else None,
               "single_ms": sum(s["search_ms"] for s, _ in both), "multi_ms": sum(m["search_ms"] for _, m in both),
               "single": sum(s["tables"] for s, _ in both), "multi": sum(m["tables"] for _, m in both),
               "single_peak": sum(s["peak"] for s, _ in both), "multi_peak": sum(m["peak"] for _, m in both),
               "fifth": sum(5 * m["tables"] <= s["tables"] for s, m in both)}


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("graphs", nargs="+", metavar="GRAPH")
parser.add_argument("--device", default="cpu")
parser.add_argument("--set", default="walk4,walk6,P4,T4,Ti4,J4,Tr1,Tr2,S1,S2,S3,S4", help="names of sets with commas")
parser.add_argument("--each", type=int, default=20, help="queries of a set")
parser.add_argument("--runs", type=int, default=3)
parser.add_argument("--limit", type=float, default=5, help="seconds for one search")
parser.add_argument("--threads", type=int, default=0)
parser.add_argument("--several", action="store_true", help="only phases of several vertices next to those of one")
parser.add_argument("--layouts", action="store_true", help="only the bytes of edge labels' lists in each layout, and with and without renumbering")
parser.add_argument("--commit", default="", help="of weft, where the program does not know it")
parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout)
args = parser.parse_args()
where = "the processor"
if args.device != "cpu":
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], stdout=subprocess.PIPE, text=True).stdout
    where = ", driver ".join(smi.splitlines()[0].split(", "))
version = args.commit or subprocess.run([WEFT, "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
print(json.dumps({"kind": "ablation", "about": f"{where}, {args.threads or len(os.sched_getaffinity(0))} threads; {time.strftime('%Y-%m-%d')}; {version}; "
                  + ("bytes of the lists of edge labels" if args.layouts else f"{args.each} queries of each of {args.set}; median of {args.runs}")}), file=args.out, flush=True)
for g in args.graphs:
    for x in lines(g):
        print(json.dumps(x), file=args.out, flush=True)
