#!/usr/bin/env python3
"""Write the directed motifs' catalogue, or count directed motifs, with igraph and networkx.

    apt-get install python3-igraph python3-networkx
    /usr/bin/python3 scripts/directedmotifs.py catalogue > internal/pattern/directed.txt
    /usr/bin/python3 scripts/directedmotifs.py counts > testdata/known/directedmotifs.tsv

Counts are of induced subgraphs in wiki-vote-cut.txt. Those of three vertices are what
igraph and networkx agree on, those of four are igraph's.
"""
import os
import sys

import igraph
import networkx as nx
from networkx.algorithms.triads import triad_type

GRAPH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "testdata", "graphs", "wiki-vote-cut.txt")
TRIADS = "021D 021U 021C 111D 111U 030T 030C 201 120D 120U 120C 210 300".split()


def connected(k):
    """The connected directed graphs of k vertices by igraph's numbers."""
    number = 0
    while True:
        try:
            g = igraph.Graph.Isoclass(n=k, cls=number, directed=True)
        except igraph.InternalError:
            return
        if g.is_connected(mode="weak"):
            yield number, sorted(g.get_edgelist())
        number += 1


def triad(edges):
    g = nx.DiGraph()
    g.add_nodes_from(range(3))
    g.add_edges_from(edges)
    return triad_type(g)


def catalogue():
    print("# Connected directed graphs on three vertices by their names in the triad census (Holland and")
    print("# Leinhardt 1970), and on four by the numbers that igraph gives them. u-v is an edge from u to v.")
    text = lambda edges: " ".join("%d-%d" % e for e in edges)
    by_name = {triad(edges): edges for _, edges in connected(3)}
    for name in TRIADS:
        print("triad_%s: %s" % (name, text(by_name[name])))
    for number, edges in connected(4):
        print("tetrad(%d): %s" % (number, text(edges)))


def counts():
    edges = {tuple(int(x) for x in line.split()) for line in open(GRAPH) if line[0] not in "#%"}
    edges = sorted((a, b) for a, b in edges if a != b)
    g = igraph.Graph.TupleList(edges, directed=True)
    three, four = g.motifs_randesu(size=3), g.motifs_randesu(size=4)
    census = nx.triadic_census(nx.DiGraph(edges))
    print("# Written by scripts/directedmotifs.py: induced subgraphs of wiki-vote-cut.txt.")
    for number, shape in connected(3):
        name = triad(shape)
        assert three[number] == census[name], name
        print("triad_%s\t%d" % (name, three[number]))
    for number, _ in connected(4):
        print("tetrad(%d)\t%d" % (number, four[number]))


{"catalogue": catalogue, "counts": counts}[sys.argv[1]]()
