#!/usr/bin/env python3
"""versions.py --old WEFT --new WEFT [options] STEP... > RESULTS.jsonl: two versions of weft in turns, in the cells of docs/benchmarks.md and docs/gpu.md.
versions.py --table RESULTS.jsonl...: the results as Markdown tables.

Steps: cpu (held-out graphs), gpu (the graphs beside other programs), visit (the same,
every match visited), engines (stack and codegen on smaller graphs).

Each version makes its own graph files. On each graph the versions take turns, old, new, new, old, as often as --rounds says. A
turn's time is the median of its runs, and a cell has the ratio of the medians of both versions' turns. The second table has the
largest time of the old version's turns, divided by the least: what turns of one version differ by. A cell is slower if each turn
of the new version took longer than each of the old one. Nothing but Python's standard library is used.
"""
import argparse, json, os, statistics, subprocess, sys

ALL = [f"P{i}" for i in range(1, 10)]
HELDOUT = ["cit-hepth", "as-caida", ["rgg", "--scale", "16", "--degree", "60", "--seed", "90210"], ["rmat", "--scale", "18", "--m", "3000000", "--seed", "77123"]]
PEERS = [["rgg", "--scale", "19", "--degree", "60", "--seed", "90210"], ["rmat", "--scale", "21", "--m", "30000000", "--seed", "77123"]]
SMALL = ["ego-facebook", "wiki-vote", "email-enron", ["rgg", "--scale", "20", "--degree", "40", "--seed", "1"]]
# step: graphs, patterns to leave out by graph, runs, flags
STEPS = {
    "cpu": (HELDOUT, {}, 5, ["--device", "cpu"]),
    "gpu": (PEERS, {"rmat-21": ["P9"]}, 5, ["--device", "gpu:0"]),
    "visit": (PEERS, {"rmat-21": ["P9"]}, 2, ["--device", "gpu:0", "--engine", "fine", "--engine-opt", "plan.tail=off", "--timeout", "10s"]),
    "engines": (SMALL, {}, 7, ["--device", "gpu:0", "--variant", "stack:engine=stack", "--variant", "codegen:engine=codegen"]),
}


def name(graph):
    return graph if isinstance(graph, str) else f"{graph[0]}-{graph[2]}"


def made(version, weft, graph):
    """The graph as a file of this version."""
    path = os.path.join(args.work, f"{version}-{name(graph)}.weft")
    if not os.path.exists(path):
        command = ["convert", os.path.join(args.data, graph + ".txt.gz"), path] if isinstance(graph, str) else ["gen", *graph, "-o", path]
        subprocess.run([weft, *command], check=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    return path


def measure(step):
    """All turns of a step, graph by graph."""
    for g in STEPS[step][0]:
        for _ in range(args.rounds):
            for version in ("old", "new", "new", "old"):
                turn(step, g, version, versions[version])


def turn(step, g, version, weft):
    _, without, runs, flags = STEPS[step]
    patterns = [p for p in ALL if p not in without.get(name(g), [])]
    command = [weft, "bench", "-g", made(version, weft, g), "--warmup", "1", "--runs", str(runs), "--to", "ndjson", "--progress", "none", *flags]
    if args.threads:
        command += ["--threads", str(args.threads)]
    for p in patterns:
        command += ["--pattern", "gmatch:" + p]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        r = json.loads(line)
        if r["who"] == "weft" and step == "engines":
            continue
        emit(step=step, graph=name(g), pattern=r["pattern"].removeprefix("gmatch:"), who=r["who"], version=version,
             **{k: r[k] for k in ("median_ms", "least_ms", "most_ms", "plan_ms", "prepare_ms", "count", "note")})
    if done.returncode:
        emit(step=step, graph=name(g), version=version, note=f"exit code {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")


def emit(**row):
    print(json.dumps(row), flush=True)


def table(files):
    rows = [json.loads(l) for f in files for l in open(f)]
    for r in rows:
        if r.get("machine"):
            print(f"{r['machine']}; old {r['old']}, new {r['new']}.\n")
        elif "pattern" not in r or r["note"]:
            print(f"{r['graph']} {r.get('pattern', '')}, {r['version']}: {r['note']}\n")
    for step in STEPS:
        cells = {}
        for r in rows:
            if r.get("step") == step and "pattern" in r and not r["note"]:
                cells.setdefault((r["graph"], r["who"], r["pattern"]), {}).setdefault(r["version"], []).append(r)
        if not cells:
            continue
        lines, spreads, ratios, slow = {}, {}, [], []
        for (g, who, p), c in cells.items():
            if len(c) < 2:
                continue
            if len({r["count"] for v in c.values() for r in v}) > 1:
                sys.exit(f"{step} {g} {p}: the versions' counts differ")
            old, new = ([r["median_ms"] for r in c[v]] for v in ("old", "new"))
            ratio = statistics.median(new) / statistics.median(old)
            ratios.append(ratio)
            lines.setdefault((g, who), {})[p] = f"{ratio:.2f}"
            spreads.setdefault((g, who), {})[p] = f"{max(old) / min(old):.2f}"
            if min(new) > max(old):
                slow.append((ratio, f"{g} {p} ({who}) {ratio:.2f}, {statistics.median(new) - statistics.median(old):.3g} ms"))
        show(f"`{step}`: new / old", lines)
        show(f"`{step}`: old / old, the longest turn and the shortest", spreads)
        print(f"\nGeometric mean {statistics.geometric_mean(ratios):.3f} of {len(ratios)} cells; slower in each turn: "
              f"{'; '.join(text for _, text in sorted(slow, reverse=True)) or 'none'}.\n")


def show(title, lines):
    print(f"\n{title}\n\n| graph | variant | " + " | ".join(ALL) + " |\n|---|---" + "|---" * len(ALL) + "|")
    for (g, who), line in lines.items():
        print(f"| {g} | {who} | " + " | ".join(line.get(p, "–") for p in ALL) + " |")


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--old")
    ap.add_argument("--new")
    ap.add_argument("--data", default="data/graphs", help="folder of edge lists, NAME.txt.gz")
    ap.add_argument("--work", default="/tmp", help="folder for graph files")
    ap.add_argument("--threads", type=int, help="threads of the processor; default: all cores")
    ap.add_argument("--rounds", type=int, default=1, help="rounds of four turns on each graph")
    ap.add_argument("--table", nargs="+", metavar="FILE")
    ap.add_argument("steps", nargs="*", metavar="STEP")
    args = ap.parse_args()
    if args.table:
        table(args.table)
        sys.exit()
    if not args.steps or set(args.steps) - set(STEPS) or not args.old or not args.new:
        ap.error("give --old, --new and steps: " + " ".join(STEPS))
    versions = {v: os.path.abspath(getattr(args, v)) for v in ("old", "new")}
    said = {v: subprocess.run([w, "version"], stdout=subprocess.PIPE, text=True).stdout.split("\n")[0] for v, w in versions.items()}
    gpu = subprocess.run("nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null", shell=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    emit(machine=f"{args.threads or len(os.sched_getaffinity(0))} threads" + (f", {gpu}" if gpu else ""), **said)
    for step in args.steps:
        measure(step)
