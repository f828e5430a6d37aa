#!/usr/bin/env python3
"""Count small patterns in the graphs of testdata/graphs with other programs.

    apt-get install python3-igraph python3-networkx
    /usr/bin/python3 scripts/crosscheck.py [GRAPH...] > testdata/known/crosscheck.tsv

Each line of the output is one count that the programs in its last column agree
on; they are known answers for weft (known_test.go). The script stops where two
programs disagree.

How each program counts:

igraph    injective mappings by LAD (induced or not) and VF2 (not induced);
          homomorphisms and trails as sums of injective counts over the
          pattern's quotients: a mapping that is not injective is an injective
          mapping of the pattern in which the vertices that share an image are
          one. Under trail the quotient must not merge edges.
networkx  injective mappings by DiGraphMatcher and GraphMatcher, edge labels
          through edge_match; homomorphisms through quotients as above.
numpy     homomorphisms of paths and cycles as sums and traces of powers of the
          adjacency matrix (graphs of at most 500 vertices).
python    backtracking over dictionaries, written here: every mode, parallel
          edges, absent edges.

A loop in a graph file is left out, as weft leaves it out. In an undirected
graph the two directions of an edge are one edge.
"""
import collections
import itertools
import os
import re
import sys

import igraph
import networkx as nx
import numpy

GRAPHS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "testdata", "graphs")


class Graph:
    def __init__(self, file, directed, labelled=False, vertex_labels=False):
        self.file, self.directed, self.vlabel = file, directed, {}
        triples = set()
        if vertex_labels:
            import gzip
            for line in gzip.open(os.path.join(GRAPHS, file), "rt"):
                f = line.split()
                if f and f[0] == "v":
                    self.vlabel[int(f[1])] = int(f[2])
                elif f and f[0] == "e":
                    triples.add((min(int(f[1]), int(f[2])), max(int(f[1]), int(f[2])), None))
        else:
            for line in open(os.path.join(GRAPHS, file)):
                if line[0] in "#%":
                    continue
                f = [int(x) for x in re.split(r"[\s,]+", line.strip())]
                a, b = f[0], f[1]
                if a == b:
                    continue
                if not directed:
                    a, b = min(a, b), max(a, b)
                triples.add((a, b, f[2] if labelled else None))
        ids = sorted({x for t in triples for x in t[:2]} | set(self.vlabel))
        index = {x: i for i, x in enumerate(ids)}
        self.n = len(ids)
        self.colour = [self.vlabel.get(x) for x in ids]
        self.arcs = sorted((index[a], index[b], l) for a, b, l in triples)
        # labels[u][v]: the labels of the edges from u to v, one entry an edge
        self.labels = [collections.defaultdict(list) for _ in ids]
        self.back = [set() for _ in ids]
        for u, v, l in self.arcs:
            self.labels[u][v].append(l)
            self.back[v].add(u)
            if not directed:
                self.labels[v][u].append(l)
                self.back[u].add(v)
        pairs = sorted({(u, v) for u, v, _ in self.arcs})
        self.igraph = igraph.Graph(n=self.n, edges=pairs, directed=directed)
        self.nx = (nx.DiGraph if directed else nx.Graph)()
        self.nx.add_nodes_from((v, {"c": self.colour[v]}) for v in range(self.n))
        for u, v in pairs:
            self.nx.add_edge(u, v, ls=frozenset(self.labels[u][v]))
        self.matrix = numpy.zeros((self.n, self.n), dtype=object)
        for u, v in pairs:
            self.matrix[u, v] = 1
            if not directed:
                self.matrix[v, u] = 1


class Pattern:
    """edges: "ab" is a--b or a->b; a third part is its label; colours of vertices."""

    def __init__(self, name, edges, colours="", absent=()):
        self.name = name
        parts = [e.split(":") for e in edges.split()]
        self.names = sorted({c for p in parts for c in p[0]})
        at = {c: i for i, c in enumerate(self.names)}
        self.n = len(self.names)
        self.edges = [(at[p[0][0]], at[p[0][1]], int(p[1]) if len(p) > 1 else None) for p in parts]
        self.colours = [None] * self.n
        for part in colours.split():
            self.colours[at[part[0]]] = int(part[2:])
        self.absent = [(at[e[0]], at[e[1]]) for e in absent]

    def text(self, directed, mode, induced):
        arrow = "->" if directed else "-"
        shown = set()

        def node(v):
            label = ""
            if v not in shown and self.colours[v] is not None:
                label = ":%d" % self.colours[v]
            shown.add(v)
            return "(%s%s)" % (self.names[v], label)

        words = {"iso": "", "trail": "DIFFERENT EDGES ", "hom": "REPEATABLE ELEMENTS "}[mode]
        paths = [node(u) + ("-[:%d]" % l if l is not None else "-") + arrow + node(v) for u, v, l in self.edges]
        paths += ["NOT " + node(u) + "-" + arrow + node(v) for u, v in self.absent]
        return "MATCH " + words + ("INDUCED " if induced else "") + ", ".join(paths)


def partitions(n):
    """All partitions of range(n), each as the block number of every element."""
    def grow(prefix, blocks):
        if len(prefix) == n:
            yield prefix
            return
        for b in range(blocks + 1):
            yield from grow(prefix + [b], max(blocks, b + 1))
    yield from grow([], 0)


def quotients(p, directed, mode):
    """The patterns whose injective mappings make up p's mappings under mode."""
    for block in partitions(p.n):
        if mode == "iso" and max(block) + 1 < p.n:
            continue
        colours, bad = {}, False
        for v, b in enumerate(block):
            c = p.colours[v]
            if c is not None and colours.setdefault(b, c) != c:
                bad = True
        edges = []
        for u, v, l in p.edges:
            a, b = block[u], block[v]
            bad |= a == b
            edges.append((a, b, l) if directed else (min(a, b), max(a, b), l))
        bad |= mode == "trail" and len({e[:2] for e in edges}) < len(edges)
        if not bad:
            yield max(block) + 1, sorted(set(edges), key=str), [colours.get(b) for b in range(max(block) + 1)]


def by_igraph(g, p, mode, induced):
    if any(e[2] is not None for e in p.edges) or p.absent:
        return None
    total = 0
    for n, edges, colours in quotients(p, g.directed, mode):
        small = igraph.Graph(n=n, edges=[e[:2] for e in edges], directed=g.directed)
        domains = None
        if any(c is not None for c in colours):
            domains = [[v for v in range(g.n) if c is None or g.colour[v] == c] for c in colours]
        total += len(g.igraph.get_subisomorphisms_lad(small, domains=domains, induced=induced))
    return total


def by_vf2(g, p, mode, induced):
    if mode != "iso" or induced or p.absent or any(e[2] is not None for e in p.edges):
        return None
    small = igraph.Graph(n=p.n, edges=[e[:2] for e in p.edges], directed=g.directed)
    if any(c is not None for c in p.colours):
        if None in p.colours:
            return None
        return g.igraph.count_subisomorphisms_vf2(small, color1=g.colour, color2=p.colours)
    return g.igraph.count_subisomorphisms_vf2(small)


def by_networkx(g, p, mode, induced):
    if mode == "trail" or p.absent:
        return None
    total = 0
    matcher = nx.algorithms.isomorphism.DiGraphMatcher if g.directed else nx.algorithms.isomorphism.GraphMatcher
    for n, edges, colours in quotients(p, g.directed, mode):
        small = (nx.DiGraph if g.directed else nx.Graph)()
        small.add_nodes_from((v, {"c": c}) for v, c in enumerate(colours))
        want = collections.defaultdict(set)
        for u, v, l in edges:
            want[u, v].add(l)
        for (u, v), ls in want.items():
            small.add_edge(u, v, ls=frozenset(ls - {None}))
        m = matcher(g.nx, small, node_match=lambda big, s: s["c"] is None or s["c"] == big["c"],
                    edge_match=lambda big, s: s["ls"] <= big["ls"])
        found = m.subgraph_isomorphisms_iter() if induced else m.subgraph_monomorphisms_iter()
        total += sum(1 for _ in found)
    return total


def by_numpy(g, p, mode, induced):
    """Paths a-b-c… and cycles a-b-c…-a, in the order of the names."""
    k = len(p.edges)
    chain = [(i, (i + 1) % p.n) for i in range(k)]
    plain = all(l is None for _, _, l in p.edges) and not p.absent and not any(c is not None for c in p.colours)
    if g.n > 500 or mode != "hom" or not plain or [e[:2] for e in p.edges] != chain:
        return None
    power = numpy.linalg.matrix_power(g.matrix, k)
    return int(numpy.trace(power)) if k == p.n else int(power.sum())


def by_python(g, p, mode, induced):
    order = [0]
    while len(order) < p.n:
        order.append(next(v for v in range(p.n) if v not in order and
                          any((u in order and w == v) or (w in order and u == v) for u, w, _ in p.edges)))
    at = {v: i for i, v in enumerate(order)}
    closes = [[e for e in p.edges if max(at[e[0]], at[e[1]]) == i] for i in range(p.n)]
    forbids = [[e for e in p.absent if max(at[e[0]], at[e[1]]) == i] for i in range(p.n)]
    has = {(u, v) for u, v, _ in p.edges} | (set() if g.directed else {(v, u) for u, v, _ in p.edges})
    image = [None] * p.n
    used = collections.Counter()

    def fits(i, x):
        v = order[i]
        if p.colours[v] is not None and g.colour[x] != p.colours[v]:
            return False
        image[v] = x
        if mode == "iso" and any(image[order[j]] == x for j in range(i)):
            return False
        for u, w, l in closes[i]:
            ls = g.labels[image[u]].get(image[w])
            if not ls or (l is not None and l not in ls):
                return False
        for u, w in forbids[i]:
            if g.labels[image[u]].get(image[w]):
                return False
        if induced:
            for j in range(i):
                u = order[j]
                if (u, v) not in has and g.labels[image[u]].get(x) or (v, u) not in has and g.labels[x].get(image[u]):
                    return False
        return True

    def choices(edges):
        """Ways to choose distinct data edges for the pattern edges, under trail."""
        if not edges:
            yield
            return
        (u, w, l), rest = edges[0], edges[1:]
        a, b = image[u], image[w]
        if not g.directed:
            a, b = min(a, b), max(a, b)
        for k, got in enumerate(g.labels[a][b]):
            if (l is None or l == got) and not used[a, b, k]:
                used[a, b, k] += 1
                yield from choices(rest)
                used[a, b, k] -= 1

    def search(i):
        if i == p.n:
            return 1
        total = 0
        if i == 0:
            candidates = range(g.n)
        else:
            u, w, _ = closes[i][0]
            candidates = list(g.labels[image[u]]) if w == order[i] else list(g.back[image[w]])
        for x in candidates:
            if not fits(i, x):
                continue
            if mode == "trail":
                for _ in choices(closes[i]):
                    image[order[i]] = x
                    total += search(i + 1)
            else:
                total += search(i + 1)
            image[order[i]] = x
        return total

    return search(0)


UNDIRECTED = [
    Pattern("wedge", "ab bc"), Pattern("triangle", "ab bc ca"), Pattern("path(4)", "ab bc cd"),
    Pattern("star(3)", "ab ac ad"), Pattern("cycle(4)", "ab bc cd da"), Pattern("tailed_triangle", "ab bc ca cd"),
    Pattern("diamond", "ab bc cd da ac"), Pattern("clique(4)", "ab bc cd da ac bd"), Pattern("cycle(5)", "ab bc cd de ea"),
    Pattern("house", "ab bc cd da ae be"), Pattern("bowtie", "ab bc ca cd de ec"),
]
DENSE = [Pattern("wedge", "ab bc"), Pattern("triangle", "ab bc ca"), Pattern("diamond", "ab bc cd da ac"),
         Pattern("clique(4)", "ab bc cd da ac bd")]
DIRECTED = [
    Pattern("path(3)", "ab bc"), Pattern("fan_out(2)", "ab ac"), Pattern("fan_in(2)", "ba ca"),
    Pattern("feed_forward_loop", "ab bc ac"), Pattern("cyclic triangle", "ab bc ca"), Pattern("mutual", "ab ba"),
    Pattern("mutual and out", "ab ba bc"), Pattern("mutual triangle", "ab ba bc cb ca ac"),
    Pattern("bifan", "ac ad bc bd"), Pattern("directed cycle(4)", "ab bc cd da"), Pattern("directed path(4)", "ab bc cd"),
    Pattern("one way", "ab bc", absent=["ba"]), Pattern("open two-path", "ab bc", absent=["ac", "ca"]),
]
LABELLED = [
    Pattern("labelled edge", "ab", "a:3 b:1"), Pattern("labelled wedge", "ab bc", "a:3 b:3 c:1"),
    Pattern("labelled triangle", "ab bc ca", "a:3 b:3 c:4"), Pattern("partly labelled", "ab bc ca", "a:2"),
    Pattern("labelled cycle(4)", "ab bc cd da", "a:3 b:3 c:3 d:3"), Pattern("labelled star", "ab ac ad", "a:1 b:3 c:3 d:4"),
    Pattern("wedge", "ab bc"), Pattern("triangle", "ab bc ca"), Pattern("diamond", "ab bc cd da ac"),
]
EDGE_LABELLED = [
    Pattern("any", "ab bc"), Pattern("one label", "ab:8 bc"), Pattern("two labels", "ab:8 bc:17"),
    Pattern("same label", "ab:17 bc:17"), Pattern("fork", "ab:3 ac:6"), Pattern("triangle", "ab:8 bc ca"),
    Pattern("mutual", "ab:17 ba:17"), Pattern("parallel", "ab:8 ab:17"), Pattern("feed forward", "ab bc ac"),
    Pattern("three steps", "ab:8 bc:3 cd:17"), Pattern("excluded", "ab:8 bc", absent=["ca"]),
]


def main():
    sets = [
        ("karate.txt", False, {}, UNDIRECTED, True),
        ("ca-grqc-cut.csv", False, {}, DENSE, True),
        ("wiki-vote-cut.txt", True, {}, DIRECTED, True),
        ("cit-hepth-cut.txt", True, {}, DIRECTED, True),
        ("citeseer.graph.gz", False, {"vertex_labels": True}, LABELLED, True),
        ("fb15k-237-cut.txt", True, {"labelled": True}, EDGE_LABELLED, False),
    ]
    versions = {"igraph-lad": igraph.__version__, "igraph-vf2": igraph.__version__, "networkx": nx.__version__,
                "numpy": numpy.__version__, "python": sys.version.split()[0]}
    tools = [("python", by_python), ("numpy", by_numpy), ("igraph-lad", by_igraph), ("igraph-vf2", by_vf2), ("networkx", by_networkx)]
    # mappings × vertices beyond which a program takes minutes
    slow = {"igraph-lad": 40_000_000, "networkx": 3_000_000}
    print("# Written by scripts/crosscheck.py: counts that the programs in the last column agree on.")
    print("graph\tdirected\tlabelled\tpattern\tsemantics\tquery\tembeddings\ttools")
    for file, directed, options, patterns, simple in sets:
        if sys.argv[1:] and file not in sys.argv[1:]:
            continue
        g = Graph(file, directed, **options)
        for p, (mode, induced) in itertools.product(patterns, [("iso", False), ("iso", True), ("trail", False), ("hom", False)]):
            if induced and (p.absent or not simple):
                continue
            answers = {}
            for name, count in tools:
                if not simple and name.startswith("igraph"):
                    continue
                if name in slow and answers["python"] * g.n > slow[name]:
                    continue
                n = count(g, p, mode, induced)
                if n is not None:
                    answers[name] = n
            query = p.text(directed, mode, induced)
            if len(set(answers.values())) != 1:
                sys.exit("%s: %s: %s" % (file, query, answers))
            used = ",".join("%s %s" % (t, versions[t]) for t in answers)
            print(file, str(directed).lower(), str(options.get("labelled", False)).lower(), p.name,
                  "induced" if induced else mode, query, answers["python"], used, sep="\t", flush=True)


if __name__ == "__main__":
    main()
