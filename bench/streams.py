#!/usr/bin/env python3
"""streams.py [--rapidflow PROGRAM] [--csm PROGRAM] [--newsp PROGRAM] [--calig PROGRAM] --weft WEFT STREAM... : weft and other programs in turns,
on one thread, for each query of recorded streams.

A STREAM is a folder with initial.gz, updates.gz, queries and mostly expected.tsv. The programs, of which each is left out that is not given:
  RapidFlow   github.com/shixuansun/RapidFlow
  csm         github.com/RapidsAtHKUST/ContinuousSubgraphMatching: Graphflow, TurboFlux and SymBi (--algorithms)
  NewSP       github.com/hnuGraph/NewSP, built without MULITYGRAPH in configuration/config.h
  CaLiG       github.com/JackChuengQAQ/CaLiG, without the calls of clock() around each update, which take longer than most updates
Their counts of embeddings that come and go are compared with those of expected.tsv or, without this file, with weft's. Each line of the output is a
query. The last lines have, over all queries of a stream, the updates a second of each program: of its stream alone, and with what it does for a query
before the stream. weft_stream_ratio is the program's time for the stream divided by weft's, and weft_after_ratio by weft's with what it does after the stream. A program that takes more than --seconds for a query is stopped there. Its query is listed as late, and is in no sum with it: each program is
compared with weft over the queries that both end.

The phases:
  search  weft: finding matches. RapidFlow does not tell it from the change of its index.
  stream  weft: changing the graph and finding matches. The others: what they do from the first to the last update. RapidFlow changes its index
          then, which has the edges that may match an edge of the query, and never the graph.
  after   weft: making the changes of the graph that no query looks at, as far as they were put off until after the last update. The others: nothing.
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
ap.add_argument("--seconds", type=float, default=0, help="the most time of a program for a query, with reading the graph; 0: 10 minutes")
ap.add_argument("streams", nargs="+")
args = ap.parse_args()


def output(*command):
    r = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=args.seconds or 600)
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
                           "--threads", "1", "--runs", "1", "--to", "ndjson", "--progress", "none"], check=True, capture_output=True, text=True, timeout=args.seconds or 600).stdout
    r = json.loads(text.splitlines()[0])
    return dict(count=r["added"] + r["removed"], updates=r["updates"], search=r["search_ms"], stream=r["search_ms"] + r["update_ms"], after=r.get("late_ms", 0.0), before=r["add_ms"])


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

def queries(folder):
    """The queries of a stream, and the right counts of those that are known."""
    path, expected = os.path.join(folder, "expected.tsv"), {}
    if not os.path.exists(path):
        return sorted(os.listdir(os.path.join(folder, "queries"))), expected
    for line in open(path):
        if not line.startswith("#"):
            q, _, added, removed = line.split()
            expected[q] = int(added) + int(removed)
    return list(expected), expected


for folder in args.streams:
    name = os.path.basename(folder.rstrip("/"))
    names, expected = queries(folder)
    with tempfile.TemporaryDirectory() as work:
        s = Stream(folder, work)
        best = {}  # by program, query and phase
        late = {who: [] for who in programs}
        wrong = {who: [] for who in programs}
        for q in names[: args.limit or None]:
            for _ in range(args.runs):
                for who, run in programs.items():
                    if q in late[who]:
                        continue
                    try:
                        r = run(s, q)
                    except subprocess.TimeoutExpired:
                        late[who].append(q)
                        continue
                    if who == "weft":
                        if r["count"] != expected.setdefault(q, r["count"]):
                            sys.exit(f"{name} {q}: weft counts {r['count']}, and {expected[q]} are right")
                    elif q in expected and r["count"] != expected[q] and q not in wrong[who]:
                        wrong[who].append(q)
                    for k, v in r.items():
                        best[who, q, k] = min(v, best.get((who, q, k), v))
            row = {"stream": name, "query": q, "matches": expected.get(q)}
            for who in programs:
                row.update({f"{who}_{k}_ms": round(best[who, q, k], 4) for k in ("search", "stream", "after", "before") if (who, q, k) in best and q not in late[who]})
            print(json.dumps(row), flush=True)
        for who in programs:
            both = [q for q in names[: args.limit or None] if q not in late[who] + late["weft"] + wrong[who]]
            if not both:
                continue
            total = lambda who, *phases: sum(best[who, q, k] for q in both for k in phases)
            updates = total("weft", "updates")
            rate = lambda ms: round(updates / ms / 1e3, 3)
            stream, whole = total(who, "stream"), total(who, "stream", "before")
            row = {"stream": name, "query": "all", "program": who, "queries": len(both), "updates": updates, "stream_ms": round(stream, 3), "stream_rate": rate(stream),
                   "whole_rate": rate(whole), "weft_stream_ratio": round(stream / total("weft", "stream"), 2), "weft_whole_ratio": round(whole / total("weft", "stream", "before"), 2),
                   "late": late[who], "wrong": wrong[who]}
            if who == "weft":
                row["search_rate"] = rate(total("weft", "search"))
                row["after_ms"] = round(total("weft", "after"), 3)
            else:
                row["weft_after_ratio"] = round(stream / total("weft", "stream", "after"), 2)
                row["weft_search_ratio"] = round(stream / total("weft", "search"), 2)
            print(json.dumps(row), flush=True)
