#!/usr/bin/env python3
"""techniques.py [--device gpu:0]: what each technique gains: weft with it and without it, in turns, as JSON lines.

Kept as docs/results/techniques-NAME.jsonl they become a table of docs/techniques.md (`make figures`). Each line has the
searches' medians in ms. Environment: WEFT, the program; WEFT_BENCH_DATA, the folder of graphs/, labelled/ and temporal/.
"""
import argparse, json, os, subprocess, sys, time

WEFT, DATA = os.environ.get("WEFT", "weft"), os.environ.get("WEFT_BENCH_DATA", "data")
RGG = "gen rgg --scale 16 --degree 60 --seed 90210"
RMAT = "gen rmat --scale 18 --m 3000000 --seed 77123"
GITHUB = "labelled/github16/github16.graph.gz"

# Engine, the options of both sides, what is switched, and cases: graphs with patterns or queries.
GPU = [
    ("stack", ["stack.local=off"], ["stack.program=table", "plan.motion=off", "stack.unroll=1", "stack.unroll=2", "stack.unroll=8", "stack.steal=off",
                                    "stack.steal=block", "plan.tail=off", "stack.flat=off", "stack.sieve=0", "stack.roots=vertex"],
     [("graphs/wiki-vote.txt.gz", "gmatch:P5"), ("graphs/ego-facebook.txt.gz", "gmatch:P7"), (RMAT, "gmatch:P9")]),
    ("stack", [], ["stack.local=off", "stack.local.share=off", "stack.local.whole=off"],
     [("graphs/ego-facebook.txt.gz", "triangle"), ("graphs/ego-facebook.txt.gz", "clique(6)"), (RGG, "gmatch:P4")]),
    ("fine", [], ["fine.batch=off", "plan.tail=off", "fine.steal=off", "fine.steal=block", "fine.siblings=off", "fine.lookup=search", "fine.lookup=hash", "fine.pool=0"],
     [("graphs/wiki-vote.txt.gz", "gmatch:P5"), (RMAT, "gmatch:P7"), (RGG, "gmatch:P9")]),
    ("fine", [], ["fine.prune=on"], [("graphs/as-caida.txt.gz", "clique(5)"), (RMAT, "clique(6)")]),
    ("fine", [], ["fine.index=none", "fine.index=hash"], [(GITHUB, "-f")]),
    ("codegen", [], ["codegen.local=off"], [("graphs/ego-facebook.txt.gz", "gmatch:P9"), (RGG, "gmatch:P4")]),
    ("codegen", ["codegen.local=off"], ["codegen.lookup=search", "codegen.lookup=hash"], [("graphs/wiki-vote.txt.gz", "gmatch:P5"), (RMAT, "gmatch:P7")]),
]
CPU = [
    ("host", ["plan.method=nest"], ["plan.motion=off", "plan.tail=off", "plan.restrictions=off", "host.steal=off", "host.bitmap=off"],
     [("graphs/wiki-vote.txt.gz", "gmatch:P5"), ("graphs/ego-facebook.txt.gz", "gmatch:P8"), (RMAT, "gmatch:P3")]),
    ("host", [], ["plan.method=nest"], [("graphs/ego-facebook.txt.gz", "gmatch:P9"), (RGG, "gmatch:P4"), ("graphs/wiki-vote.txt.gz", "cycle(5)"), ("graphs/wiki-vote.txt.gz", "path(5)"), (GITHUB, "-f")]),
    ("host", [], ["host.windows=off"], [("temporal/collegemsg.txt.gz", "temporal_cycle(3)")]),
]


def weft(*args, limit=120):
    return subprocess.run([WEFT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=limit)


def graph(name):
    """A graph as a .weft file, made once, and its short name."""
    gen = name.startswith("gen ")
    short = name.split()[1] if gen else os.path.basename(name).split(".")[0]
    path = f"{args.work}/{short}.weft"
    if not os.path.exists(path):
        directed = ["--directed"] if name.startswith("temporal") else []
        p = weft(*(name.split() + ["-o", path] if gen else ["convert", f"{DATA}/{name}", path, *directed]))
        if p.returncode:
            sys.exit(p.stderr)
    return path, short


def main():
    os.makedirs(args.work, exist_ok=True)
    version = weft("--version").stdout.strip()
    where = "the processor"
    if args.device != "cpu":
        smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], stdout=subprocess.PIPE, text=True).stdout
        where = ", driver ".join(smi.splitlines()[0].split(", "))
    print(json.dumps({"kind": "techniques", "about": f"{where}, {os.cpu_count()} cores; {time.strftime('%Y-%m-%d')}; {args.commit or version}"}), file=args.out, flush=True)
    began = time.monotonic()
    for engine, base, switches, cases in (CPU if args.device == "cpu" else GPU):
        for name, pattern in cases:
            if time.monotonic() - began > args.budget:
                print("out of time", file=sys.stderr)
                return
            path, short = graph(name)
            what = ["-f", f"{DATA}/labelled/github16/queries/{args.query}"] if pattern == "-f" else ["--pattern", pattern]
            options = [x for b in base for x in ("--engine-opt", b)]
            variants = [x for s in switches for x in ("--variant", f"{s}:{s}")]
            try:
                p = weft("bench", "-g", path, *what, "--device", args.device, "--engine", engine, *options, *variants, "--runs", str(args.runs), "--warmup", "1",
                         "--timeout", f"{args.limit}s", "--to", "ndjson", "--progress", "none", limit=args.limit * (len(switches) + 2) * (args.runs + 2))
            except subprocess.TimeoutExpired:
                print(f"{short} {pattern}: no end", file=sys.stderr)
                continue
            rows = [json.loads(l) for l in p.stdout.splitlines() if l.startswith("{")]
            if not rows:
                print(f"{short} {pattern}: {p.stderr.strip()[-300:]}", file=sys.stderr)
                continue
            mine = rows[0]
            for r in rows[1:]:
                line = {"engine": engine, "base": " ".join(base), "switch": r["who"].removeprefix("weft "), "graph": short,
                        "pattern": args.query.split(".")[0] if pattern == "-f" else pattern, "with_ms": mine["median_ms"], "without_ms": r["median_ms"],
                        "equal": r["count"] == mine["count"], "note": r["note"]}
                print(json.dumps(line), file=args.out, flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--device", default="cpu")
parser.add_argument("--runs", type=int, default=5)
parser.add_argument("--limit", type=int, default=10, help="seconds for one search")
parser.add_argument("--budget", type=float, default=3600, help="seconds in all")
parser.add_argument("--query", default="Q_12.graph", help="the labelled query of github16")
parser.add_argument("--work", default="/tmp/weft-techniques", help="folder for converted graphs")
parser.add_argument("--commit", default="", help="of weft, where the program does not know it")
parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout)
args = parser.parse_args()
main()
