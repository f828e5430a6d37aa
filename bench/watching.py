#!/usr/bin/env python3
"""watching.py --weft WEFT [--threads N] [--batch N,N] [--scale S --edges M] [--dir DIR] : how fast watches are on a large graph, and how it grows with cores.

It makes an R-MAT graph with 2^S vertices and about M edges, and a stream that adds 5 % of its edges and removes 5 %. Each line of the output is a
query and a size of batches (4096): updates a second with one thread and with N, for the search alone and with the change of the graph, their ratios, and response
times of updates that arrive at half of the full rate, in batches of at most 64, with one thread and with N. The machine should do nothing else: each wait
for a processor is part of a response time. Nothing but Python's standard library is used.
"""
import argparse, json, os, subprocess, tempfile

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--weft", default="weft")
ap.add_argument("--threads", type=int, default=os.cpu_count())
ap.add_argument("--scale", type=int, default=20)
ap.add_argument("--edges", type=int, default=10600000)
ap.add_argument("--batch", default="4096", help="sizes of batches, with commas between them")
ap.add_argument("--runs", type=int, default=3)
ap.add_argument("--dir", help="where the graph is kept; default: a folder that is removed")
args = ap.parse_args()

QUERIES = {
    "labelled triangle": "MATCH (a:0)--(b:1)--(c:2)--(a)",
    "triangle": "MATCH (a)--(b)--(c)--(a)",
    "labelled diamond": "MATCH (a:0)--(b:1)--(c:0)--(d:2)--(a)--(c)",
    "clique of 4": "MATCH clique(4)",
}


def weft(*command):
    return subprocess.run([args.weft, *command], check=True, capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as temporary:
    folder = args.dir or temporary
    os.makedirs(folder, exist_ok=True)
    graph, initial, updates = (os.path.join(folder, f"rmat{args.scale}-{args.edges}{x}") for x in (".weft", "-initial.weft", "-updates.txt"))
    if not os.path.exists(updates):
        weft("gen", "rmat", "--scale", str(args.scale), "--m", str(args.edges), "--seed", "1", "--vertex-labels", "8", "-o", graph)
        weft("gen", "stream", "-g", graph, "--initial", initial, "-o", updates, "--seed", "1", "--progress", "none")

    def bench(query, threads, batch, *more):
        out = weft("bench", "watch", "-g", initial, "--source", updates, query, "--threads", str(threads), "--batch", str(batch), "--to", "ndjson", "--progress", "none", *more)
        return json.loads(out.splitlines()[0])

    for name, query, batch in ((name, query, int(batch)) for name, query in QUERIES.items() for batch in args.batch.split(",")):
        row = {"query": name, "batch": batch}
        full = {}
        for threads in dict.fromkeys((1, args.threads)):
            full[threads] = r = bench(query, threads, batch, "--runs", str(args.runs))
            row.update({f"searches_per_s_{threads}": r["searches_per_s"], f"updates_per_s_{threads}": r["updates_per_s"]})
            if batch != int(args.batch.split(",")[0]):
                continue
            r = bench(query, threads, 64, "--runs", "1", "--load", "50%")
            row.update({f"{k}_{threads}": r[k] for k in ("load_per_s", "p50_us", "p95_us", "p99_us")})
        for what in ("searches", "updates"):
            row[what + "_ratio"] = round(full[args.threads][what + "_per_s"] / full[1][what + "_per_s"], 2)
        print(json.dumps(row), flush=True)
