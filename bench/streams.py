#!/usr/bin/env python3
"""streams.py [--rapidflow PROGRAM] [--csm PROGRAM] [--newsp PROGRAM] [--calig PROGRAM] --weft WEFT STREAM... : weft and other programs in turns,
on one thread, for each query of recorded streams.

A STREAM is a folder with initial.gz, updates.gz, expected.tsv and queries. The programs, of which each is left out that is not given:
  RapidFlow   github.com/shixuansun/RapidFlow
  csm         github.com/RapidsAtHKUST/ContinuousSubgraphMatching: Graphflow, TurboFlux and SymBi (--algorithms)
  NewSP       github.com/hnuGraph/NewSP, built without MULITYGRAPH in configuration/config.h
  CaLiG       github.com/JackChuengQAQ/CaLiG, without the calls of clock() around each update, which take longer than most updates
Their counts of embeddings that come and go are compared with those of expected.tsv. Each line of the output is a query. The last lines have, over all
queries of a stream, the updates a second of each program: of its stream alone, and with what it does for a query before the stream.

The phases:
  search  weft: finding matches. RapidFlow does not tell it from the change of its index.
  stream  weft: changing the graph and finding matches. The others: what they do from the first to the last update. RapidFlow changes its index
          then, which has the edges that may match an edge of the query, and never the graph.
  before  weft: planning the query. The others: building their index of the graph, for this query alone.
Nothing but Python's standard library is used.
"""
import argparse, gzip, json, os, re, subprocess, sys, tempfile

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name in ("rapidflow", "csm", "newsp", "calig"):
    ap.add_argument("--" + name)
ap.add_argument("--algorithms", default="graphflow,turboflux,symbi", help="of csm")
ap.add_argument("--weft", default="weft")
ap.add_argument("--batch", type=int, default=64, help="updates that weft makes together")
ap.add_argument("--runs", type=int, default=3, help="of each program and query, of which the least times count")
ap.add_argument("--limit", type=int, default=0, help="only so many queries of each stream")
ap.add_argument("streams", nargs="+")
args = ap.parse_args()


def output(*command):
    r = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return r.stdout


def number(text, pattern):
    return float(re.search(pattern, text, re.MULTILINE).group(1))


NUMBER = r"([0-9][0-9.e+-]*)"


class Stream:
    """A stream's files in the formats of the programs."""

    def __init__(self, folder, work):
        self.folder, self.work = folder, work
        for part in ("initial", "updates"):
            with gzip.open(os.path.join(folder, part + ".gz"), "rt") as f:
                text = f.read()
            with open(self.plain(part), "w") as f:
                f.write(text)
            with open(self.bare(part), "w") as f:
                f.write(bare(text))

    def plain(self, part):
        return os.path.join(self.work, part)

    def bare(self, part):
        return os.path.join(self.work, part + ".bare")

    def query(self, q):
        return os.path.join(self.folder, "queries", q)

    def bare_query(self, q):
        with open(self.query(q)) as f:
            text = bare(f.read())
        with open(self.bare("query"), "w") as f:
            f.write(text)
        return self.bare("query")


def bare(text):
    """A graph or stream without labels of edges, where the ends of an edge to remove are -1 minus their numbers."""
    out = []
    for line in text.splitlines():
        w = line.split()
        if w and w[0] == "v":
            out.append(f"v {w[1]} {w[2]}")
        elif w and w[0] == "e":
            out.append(f"e {w[1]} {w[2]}")
        elif w and w[0] == "-e":
            out.append(f"e {-1 - int(w[1])} {-1 - int(w[2])}")
    return "\n".join(out) + "\n"


def weft(s, q):
    text = subprocess.run([args.weft, "bench", "watch", "-g", os.path.join(s.folder, "initial.gz"), "--source", os.path.join(s.folder, "updates.gz"), "-f", s.query(q), "--batch", str(args.batch),
                           "--threads", "1", "--runs", "1", "--to", "ndjson", "--progress", "none"], check=True, capture_output=True, text=True).stdout
    r = json.loads(text.splitlines()[0])
    return dict(count=r["added"] + r["removed"], updates=r["updates"], search=r["search_ms"], stream=r["search_ms"] + r["update_ms"], before=r["add_ms"])


def rapidflow(s, q):
    text = output(args.rapidflow, "-d", s.plain("initial"), "-q", s.query(q), "-u", s.plain("updates"), "-num", "MAX", "-time_limit", "120")
    text = text[text.rindex("Execution Summary"):]
    return dict(count=int(number(text, "^Result count: " + NUMBER)), stream=1e3 * number(text, r"^Query time \(seconds\): " + NUMBER), before=1e3 * number(text, r"^Preprocessing time \(seconds\): " + NUMBER))


def framework(program, s, q, *more):
    return output(program, "-d", s.plain("initial"), "-q", s.query(q), "-u", s.plain("updates"), "--report-initial", "off", "--print-prep", "off", "--time-limit", "120", *more)


def matches(text):
    return int(number(text, f"^{NUMBER} positive matches")) + int(number(text, f"^{NUMBER} negative matches"))


def csm(algorithm):
    def run(s, q):
        text = framework(args.csm, s, q, "-a", algorithm)
        return dict(count=matches(text), stream=number(text, f"^Incremental Matching: {NUMBER}ms"), before=number(text, f"^Preprocessing: {NUMBER}ms"))
    return run


def newsp(s, q):
    text = framework(args.newsp, s, q)
    return dict(count=matches(text), stream=number(text, f"^#Time: {NUMBER}") / 1e3, before=number(text, f"^Preprocessing: {NUMBER}") / 1e3)


def calig(s, q):
    text = output(args.calig, "-d", s.bare("initial"), "-q", s.bare_query(q), "-s", s.bare("updates"))
    return dict(count=int(number(text, f"^updated matches: {NUMBER}")), stream=number(text, rf"^Updating totally cost \(ms\): {NUMBER}"),
                before=number(text, rf"^Constructing cost \(ms\): {NUMBER}") + number(text, rf"^Static filtering cost \(ms\): {NUMBER}"))


programs = {"weft": weft}
if args.rapidflow:
    programs["rapidflow"] = rapidflow
if args.csm:
    programs.update({a: csm(a) for a in args.algorithms.split(",")})
if args.newsp:
    programs["newsp"] = newsp
if args.calig:
    programs["calig"] = calig

for folder in args.streams:
    name = os.path.basename(folder.rstrip("/"))
    expected = {}
    for line in open(os.path.join(folder, "expected.tsv")):
        if not line.startswith("#"):
            q, _, added, removed = line.split()
            expected[q] = int(added) + int(removed)
    with tempfile.TemporaryDirectory() as work:
        s = Stream(folder, work)
        total = {who: {} for who in programs}
        wrong = {who: [] for who in programs}
        updates = 0
        for q in list(expected)[: args.limit or None]:
            best = {}
            for _ in range(args.runs):
                for who, run in programs.items():
                    r = run(s, q)
                    if r["count"] != expected[q]:
                        if who == "weft":
                            sys.exit(f"{name} {q}: weft counts {r['count']}, and {expected[q]} are right")
                        if q not in wrong[who]:
                            wrong[who].append(q)
                    for k, v in r.items():
                        best[who, k] = min(v, best.get((who, k), v))
            updates += best["weft", "updates"]
            row = {"stream": name, "query": q, "matches": expected[q]}
            for (who, k), v in best.items():
                if k in ("search", "stream", "before"):
                    total[who][k] = total[who].get(k, 0) + v
                    row[f"{who}_{k}_ms"] = round(v, 4)
            print(json.dumps(row), flush=True)
        rate = lambda ms: round(updates / ms / 1e3, 3)
        w = total["weft"]
        for who, t in total.items():
            row = {"stream": name, "query": "all", "program": who, "updates": updates, "stream_rate": rate(t["stream"]), "whole_rate": rate(t["stream"] + t["before"]),
                   "weft_stream_ratio": round(t["stream"] / w["stream"], 2), "weft_whole_ratio": round((t["stream"] + t["before"]) / (w["stream"] + w["before"]), 2), "wrong": wrong[who]}
            if who == "weft":
                row["search_rate"] = rate(w["search"])
            if who == "rapidflow":
                row["weft_search_ratio"] = round(t["stream"] / w["search"], 2)
            print(json.dumps(row), flush=True)
