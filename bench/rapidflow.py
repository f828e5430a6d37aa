#!/usr/bin/env python3
"""rapidflow.py --rapidflow PROGRAM --weft WEFT STREAM... : weft and RapidFlow in turns, on one thread, for each query of recorded streams.

A STREAM is a folder with initial.gz, updates.gz, expected.tsv and queries. RapidFlow (github.com/shixuansun/RapidFlow) counts embeddings that
come and go together; both programs' counts are compared with those of expected.tsv. Each line of the output is a query. The last
lines have the updates a second over all queries: of the search alone, with the change of graph and index, and with RapidFlow's building of
the index. Nothing but Python's standard library is used.
"""
import argparse, gzip, json, os, re, subprocess, sys, tempfile

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--rapidflow", required=True)
ap.add_argument("--weft", default="weft")
ap.add_argument("--batch", type=int, default=64, help="updates that weft makes together")
ap.add_argument("--runs", type=int, default=3)
ap.add_argument("--limit", type=int, default=0, help="only so many queries of each stream")
ap.add_argument("streams", nargs="+")
args = ap.parse_args()


def number(text, name):
    return float(re.search(name + r"[^:]*: *([0-9.e+-]+)", text).group(1))


def rapidflow(graph, updates, query):
    text = subprocess.run([args.rapidflow, "-d", graph, "-q", query, "-u", updates, "-num", "MAX", "-time_limit", "120"], check=True, capture_output=True, text=True).stdout
    text = text[text.rindex("Execution Summary"):]
    return dict(count=int(number(text, "Result count")), search=number(text, "Search time"), whole=number(text, "Query time"), index=number(text, "Preprocessing time"))


def weft(folder, query):
    out = subprocess.run([args.weft, "bench", "watch", "-g", os.path.join(folder, "initial.gz"), "--source", os.path.join(folder, "updates.gz"), "-f", query, "--batch", str(args.batch),
                          "--threads", "1", "--runs", "1", "--to", "ndjson", "--progress", "none"], check=True, capture_output=True, text=True).stdout
    r = json.loads(out.splitlines()[0])
    return dict(count=r["added"] + r["removed"], search=r["search_ms"] / 1e3, whole=(r["search_ms"] + r["update_ms"]) / 1e3, updates=r["updates"])


for folder in args.streams:
    name = os.path.basename(folder.rstrip("/"))
    expected = {}
    for line in open(os.path.join(folder, "expected.tsv")):
        if not line.startswith("#"):
            q, _, added, removed = line.split()
            expected[q] = int(added) + int(removed)
    with tempfile.TemporaryDirectory() as work:
        plain = {}
        for part in ("initial", "updates"):
            plain[part] = os.path.join(work, part)
            with gzip.open(os.path.join(folder, part + ".gz")) as i, open(plain[part], "wb") as o:
                o.write(i.read())
        total = {"rapidflow": {}, "weft": {}}
        updates = 0
        for q in list(expected)[: args.limit or None]:
            query = os.path.join(folder, "queries", q)
            best = {}
            for _ in range(args.runs):
                for who, run in (("rapidflow", lambda: rapidflow(plain["initial"], plain["updates"], query)), ("weft", lambda: weft(folder, query))):
                    r = run()
                    if r["count"] != expected[q]:
                        sys.exit(f"{name} {q}: {who} counts {r['count']}, and {expected[q]} are right")
                    for k, v in r.items():
                        best[who, k] = min(v, best.get((who, k), v))
            updates += best["weft", "updates"]
            row = {"stream": name, "query": q, "matches": expected[q]}
            for (who, k), v in best.items():
                if k in ("search", "whole", "index"):
                    total[who][k] = total[who].get(k, 0) + v
                    row[f"{who}_{k}_ms"] = round(v * 1e3, 4)
            print(json.dumps(row), flush=True)
        rate = lambda *t: round(updates / sum(t) / 1e6, 3)
        r, w = total["rapidflow"], total["weft"]
        print(json.dumps({"stream": name, "query": "all", "updates": updates, "rapidflow_search": rate(r["search"]), "rapidflow_whole": rate(r["whole"]), "rapidflow_with_index": rate(r["whole"], r["index"]),
                          "weft_search": rate(w["search"]), "weft_whole": rate(w["whole"]), "search_ratio": round(r["search"] / w["search"], 2), "whole_ratio": round(r["whole"] / w["whole"], 2),
                          "with_index_ratio": round((r["whole"] + r["index"]) / w["whole"], 2)}), flush=True)
