#!/usr/bin/env python3
"""querysets.py --sizes 4,6,8 DATA OUT: streams for streams.py of a data set of CaLiG (github.com/JackChuengQAQ/CaLiG).

DATA is an unpacked archive of that repository: the files initial and s, and the folder Q with a folder of queries for each number of vertices.
OUT/NAME-SIZE is a stream of one set of queries. An update that adds an edge which is there, or removes one which is not, is left out: the programs
differ about those. Nothing but Python's standard library is used.
"""
import argparse, gzip, os

ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--sizes", default="4,6,8", help="numbers of vertices of queries")
ap.add_argument("data")
ap.add_argument("out")
args = ap.parse_args()


def read(path):
    """The lines of a file in the format of RapidFlow. CaLiG writes -1 minus the ends of an edge to remove, and no labels of edges."""
    with open(path) as f:
        for line in f:
            w = line.split()
            if not w:
                continue
            if w[0] == "v":
                yield f"v {w[1]} {w[2]}"
                continue
            u, v = int(w[1]), int(w[2])
            yield f"-e {-1 - u} {-1 - v} 0" if u < 0 else f"e {u} {v} 0"


def changes(lines, edges):
    """Those lines that change a set of edges, in which they are made."""
    for line in lines:
        w = line.split()
        if w[0] != "v":
            e = frozenset(w[1:3])
            if (e in edges) == (w[0] == "e"):
                continue
            (edges.add if w[0] == "e" else edges.remove)(e)
        yield line


edges = set()
parts = {part: "".join(line + "\n" for line in changes(read(os.path.join(args.data, name)), edges)) for part, name in (("initial", "initial"), ("updates", "s"))}
name = os.path.basename(args.data.rstrip("/"))
for size in args.sizes.split(","):
    out = os.path.join(args.out, f"{name}-{size}")
    os.makedirs(os.path.join(out, "queries"), exist_ok=True)
    for part, text in parts.items():
        with gzip.open(os.path.join(out, part + ".gz"), "wt") as f:
            f.write(text)
    queries = os.path.join(args.data, "Q", size)
    for q in os.listdir(queries):
        if q.startswith("q"):
            with open(os.path.join(out, "queries", q), "w") as f:
                f.writelines(line + "\n" for line in read(os.path.join(queries, q)))
