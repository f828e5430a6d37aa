#!/usr/bin/env python3
"""Writes internal/format/testdata/attributed: graphs by NetworkX and igraph.

Needs Debian's python3-networkx and python3-igraph. Run it in the repository's root.
"""
import os

import igraph
import networkx as nx

os.chdir("internal/format/testdata/attributed")

karate = nx.karate_club_graph()
nx.write_graphml(karate, "karate.graphml")
nx.write_gml(karate, "karate.gml")
nx.write_edgelist(karate, "karate.edgelist")

multi = nx.MultiDiGraph()
bob = 'bob "the" b<&>é'
multi.add_node("ann", labels="P", age=30, h=1.5, ok=True)
multi.add_node(bob)
multi.add_node("cyd", age=2)
multi.add_edge("ann", bob, label="likes", weight=0.5, time=7)
multi.add_edge("ann", bob, label="knows", weight=2, time=8)
multi.add_edge("cyd", "ann", weight=1.5, time=9)
nx.write_graphml(multi, "multi.graphml")
nx.write_gml(multi, "multi.gml")
nx.write_edgelist(multi, "multi.edgelist", delimiter=";")

zachary = igraph.Graph.Famous("Zachary")
zachary.vs["name"] = ["v%d" % i for i in range(34)]
zachary.vs["color"] = ["red" if i % 3 else "blue" for i in range(34)]
zachary.es["weight"] = [i / 2 for i in range(78)]
zachary.es["label"] = ["x" if i % 2 else "y" for i in range(78)]
tree = igraph.Graph.Tree(7, 2, mode="out")
for name, g in ("zachary", zachary), ("tree", tree):
    g.write_graphml(name + ".graphml")
    g.write_gml(name + ".gml")
