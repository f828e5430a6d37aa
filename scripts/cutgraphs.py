#!/usr/bin/env python3
"""Cut the small graphs of testdata/graphs out of the full public data sets.

    scripts/cutgraphs.py DATA [OUT]

DATA is a folder with graphs/ and edge-labelled/ as WEFT_DATA names it. A cut
is the subgraph induced by the first vertices that a breadth-first search
meets, so it keeps the triangles and the skewed degrees of its source. The
files in the tree were made by this script; it is kept so that they can be made
again, not run by any test.
"""
import collections
import gzip
import os
import re
import sys


def rows(path):
    with gzip.open(path, "rt") as f:
        for line in f:
            if line[0] not in "#%":
                yield [int(x) for x in re.split(r"[\s,|]+", line.strip())]


def search(edges, start, size):
    """The first size vertices of a breadth-first search that ignores direction."""
    near = collections.defaultdict(set)
    for e in edges:
        near[e[0]].add(e[1])
        near[e[1]].add(e[0])
    seen, queue = {start}, collections.deque([start])
    while queue and len(seen) < size:
        for w in sorted(near[queue.popleft()]):
            if w not in seen and len(seen) < size:
                seen.add(w)
                queue.append(w)
    return seen


def cut(data, out, source, name, start, size, header, sep):
    edges = list(rows(os.path.join(data, source)))
    if "edge-labelled" in source:
        edges = [e for e in edges if len(e) == 3]
    keep = search(edges, start, size)
    kept = [e for e in edges if e[0] in keep and e[1] in keep]
    with open(os.path.join(out, name), "w") as f:
        f.write(header)
        for e in kept:
            f.write(sep.join(map(str, e)) + "\n")
    print(f"{name}: {len(keep)} vertices, {len(kept)} lines")


def main():
    data = sys.argv[1]
    out = sys.argv[2] if len(sys.argv) > 2 else "testdata/graphs"
    cut(data, out, "graphs/ca-grqc.csv.gz", "ca-grqc-cut.csv", 2980, 90, "", ",")
    cut(data, out, "graphs/wiki-vote.txt.gz", "wiki-vote-cut.txt", 30, 80, "# voter candidate\n", "\t")
    cut(data, out, "graphs/cit-hepth.txt.gz", "cit-hepth-cut.txt", 5, 150, "# from to\n", "\t")
    cut(data, out, "edge-labelled/FB15K237.train2id.txt.gz", "fb15k-237-cut.txt", 17, 140, "# head tail relation\n", " ")


if __name__ == "__main__":
    main()
