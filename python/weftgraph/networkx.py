"""weft for networkx: a backend, and counts of subgraphs.

networkx finds the backend ``weft`` by its entry point: ``nx.triangles(G, backend="weft")``, or
the variable ``NETWORKX_BACKEND_PRIORITY=weft``. Its answers are those of networkx.

Functions of this module take networkx graphs and need no dispatch:

>>> import networkx as nx
>>> import weftgraph.networkx as wx
>>> wx.count_cliques(nx.complete_graph(6), 3)
20
>>> wx.count_monomorphisms(nx.karate_club_graph(), nx.cycle_graph(3))
270
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import graph as _graph

__all__ = [
    "BackendGraph",
    "backend_interface",
    "count_cliques",
    "count_isomorphisms",
    "count_monomorphisms",
    "get_info",
    "monomorphisms",
]

_TRIANGLE = "MATCH (a)--(b)--(c)--(a)"
# In a directed graph a triangle counts once for each choice of its edges.
_CHOICES = "MATCH (a)-[e]-(b)-[f]-(c)-[g]-(a)"
_SQUARE = "MATCH (a)--(b)--(c)--(d)--(a)"
# The number of edges from which weft is faster than networkx, with the time to write the graph and to start
# processes. networkx looks at all pairs of neighbours for squares, which takes longer.
_WORTH = {"square_clustering": 5_000}
_WORTH_ELSE = 50_000


class BackendGraph:
    """A networkx graph in the form of the backend: a graph of weft and the degrees of its nodes."""

    __networkx_backend__ = "weft"

    def __init__(self, G: Any):
        self._directed, self._multi = G.is_directed(), G.is_multigraph()
        self.graph: dict[str, Any] = {}
        self.nodes = list(G)
        self.index = {v: i for i, v in enumerate(self.nodes)}
        self.loops = any(v in G._adj[v] for v in G._adj)
        self._neighbours = {v: list(G._adj[v]) for v in self.nodes} if not self._multi else {}
        index = self.index
        self._edges = [(index[u], index[v]) for u, v in G.edges()]
        self.size = len(self._edges)
        self.weft = self._read(self._edges)

    def _read(self, edges: list[tuple[int, int]]) -> _graph.Graph | None:
        return _graph.from_edges(edges, range(len(self.nodes)), directed=self._directed) if self.nodes else None

    def without(self, nodes: set[Any]) -> tuple[int, _graph.Graph | None]:
        """Return the number of the other nodes, and the graph of the edges between them. The caller closes the graph."""
        gone = {self.index[v] for v in nodes}
        return len(self.nodes) - len(gone), self._read([(u, v) for u, v in self._edges if u not in gone and v not in gone])

    def is_directed(self) -> bool:
        return self._directed

    def is_multigraph(self) -> bool:
        return self._multi

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, v: Any) -> bool:
        try:
            return v in self.index
        except TypeError:
            return False

    def number_of_edges(self) -> int:
        return self.size

    def degree(self, v: Any) -> int:
        """Return the number of v's neighbours, without v itself."""
        return sum(1 for u in self._neighbours[v] if u != v)

    def arcs(self) -> dict[Any, tuple[int, int]]:
        """Return for each node of a directed graph its number of arcs, and of other nodes with arcs both ways. Loops do not count."""
        found = {(u, v) for u, v in self._edges if u != v}
        total, both = [0] * len(self.nodes), [0] * len(self.nodes)
        for u, v in found:
            total[u] += 1
            total[v] += 1
            both[u] += (v, u) in found
        return {v: (total[i], both[i]) for i, v in enumerate(self.nodes)}

    def neighbours(self, v: Any) -> list[Any]:
        return [u for u in self._neighbours[v] if u != v]

    def parts(self, query: str) -> dict[Any, int]:
        """Return for each node in how many matches it is the vertex a."""
        if self.weft is None:
            return {}
        counts = self.weft.participation(query, "a")
        return {v: counts.get(i, 0) for i, v in enumerate(self.nodes)}


def _backend(G: Any) -> BackendGraph:
    return G if isinstance(G, BackendGraph) else BackendGraph(G)


def _chosen(G: BackendGraph, nodes: Any) -> list[Any]:
    """Return the nodes that a networkx function takes for nodes, as Graph.nbunch_iter does."""
    if nodes is None:
        return G.nodes
    if nodes in G:
        return [nodes]
    import networkx

    try:
        return [v for v in nodes if v in G]
    except TypeError as e:
        raise networkx.NetworkXError(f"Node {nodes} is not in the graph.") from e


class _Interface:
    """The functions that networkx calls. Each has the arguments of networkx's own."""

    @staticmethod
    def convert_from_nx(graph: Any, *, name: str | None = None, graph_name: str | None = None, **attributes: Any) -> BackendGraph:
        return _backend(graph)

    @staticmethod
    def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
        return result

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Tell whether the backend gives the same answer as networkx, or why not."""
        G = args[0] if args else kwargs.get("G")
        if not hasattr(G, "is_directed"):
            return "the argument is not a graph"
        if name == "triadic_census":
            if not G.is_directed() or G.is_multigraph():
                return "the triads are those of directed graphs without parallel edges"
            nodes = args[1] if len(args) > 1 else kwargs.get("nodelist")
            return True if nodes is None or not _loops(G) else "networkx counts loops as edges of other triads here"
        clustering = name in ("clustering", "average_clustering")
        if G.is_directed() and not clustering or G.is_multigraph():
            return "weft's backend has undirected graphs without parallel edges"
        if clustering:
            weight = args[2] if len(args) > 2 else kwargs.get("weight")
            if weight is not None:
                return "edges have no weights in weft's backend"
        if name == "square_clustering" and _loops(G):
            return "networkx counts loops as neighbours here"
        return True

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Tell whether the graph is large enough for a process to be faster than networkx."""
        G = args[0] if args else kwargs.get("G")
        least = _WORTH.get(name, _WORTH_ELSE)
        if isinstance(G, BackendGraph) or G is not None and G.number_of_edges() >= least:
            return True
        return f"networkx is as fast below {least:,} edges"

    @staticmethod
    def triangles(G: Any, nodes: Any = None) -> Any:
        G = _backend(G)
        counts = G.parts(_TRIANGLE)
        if nodes is not None and nodes in G:
            return counts[nodes]
        return {v: counts[v] for v in _chosen(G, nodes)}

    @staticmethod
    def clustering(G: Any, nodes: Any = None, weight: None = None) -> Any:
        G = _backend(G)
        counts = G.parts(_CHOICES if G.is_directed() else _TRIANGLE)
        arcs = G.arcs() if G.is_directed() else {}

        def of(v: Any) -> float:
            t = counts[v]
            if t == 0:
                return 0
            if arcs:
                d, both = arcs[v]
                return t / (d * (d - 1) - 2 * both)
            d = G.degree(v)
            return 2 * t / (d * (d - 1))

        found = {v: of(v) for v in _chosen(G, nodes)}
        return found[nodes] if nodes is not None and nodes in G else found

    @staticmethod
    def average_clustering(G: Any, nodes: Any = None, weight: None = None, count_zeros: bool = True) -> float:
        values = list(_Interface.clustering(_backend(G), nodes).values())
        if not count_zeros:
            values = [c for c in values if abs(c) > 0]
        return sum(values) / len(values)

    @staticmethod
    def transitivity(G: Any) -> float:
        G = _backend(G)
        triangles = int(G.weft.count("triangle")) if G.weft is not None else 0
        pairs = sum(d * (d - 1) for d in map(G.degree, G.nodes))
        return 0 if triangles == 0 else 6 * triangles / pairs

    @staticmethod
    def square_clustering(G: Any, nodes: Any = None) -> Any:
        G = _backend(G)
        squares, triangles = G.parts(_SQUARE), G.parts(_TRIANGLE)

        def of(v: Any) -> float:
            # Of each pair u, w of neighbours networkx adds deg(u) + deg(w) - 2 less the squares of the pair,
            # and 2 less if u and w are adjacent.
            d = G.degree(v)
            possible = (d - 1) * sum(map(G.degree, G.neighbours(v))) - d * (d - 1) - squares[v] - 2 * triangles[v]
            return squares[v] / possible if possible > 0 else squares[v]

        found = {v: of(v) for v in _chosen(G, nodes)}
        return found[nodes] if nodes is not None and nodes in G else found

    @staticmethod
    def triadic_census(G: Any, nodelist: Any = None) -> dict[str, int]:
        G = _backend(G)
        census = _census(len(G), G.weft)
        if nodelist is None:
            return census
        nodes = set(_chosen(G, nodelist))
        if len(nodelist) != len(nodes):
            raise ValueError("nodelist includes duplicate nodes or nodes not in G")
        # The other triads are those of the graph without these nodes.
        n, others = G.without(nodes)
        try:
            for name, count in _census(n, others).items():
                census[name] -= count
        finally:
            if others is not None:
                others.close()
        return census


def _loops(G: Any) -> bool:
    return G.loops if isinstance(G, BackendGraph) else any(v in G._adj[v] for v in G._adj)


def _census(n: int, graph: _graph.Graph | None) -> dict[str, int]:
    """Return the census of the triads of n nodes with the edges of a graph, whose further nodes have none."""
    census = {name: 0 for name in _TRIADS}
    if graph is None:
        return census
    for name, count in graph.motifs(3).items():
        census[name.removeprefix("triad_")] = int(count)
    mutual = int(graph.count("MATCH (a)-->(b)-->(a)"))
    single = int(graph.count("MATCH (a)-->(b), NOT (b)-->(a)"))
    # Each pair of adjacent nodes is in n - 2 triads. Those that are not connected have one such pair.
    census["012"] = single * (n - 2) - sum(_TRIADS[t][1] * c for t, c in census.items() if t not in ("012", "102"))
    census["102"] = mutual * (n - 2) - sum(_TRIADS[t][0] * c for t, c in census.items() if t not in ("012", "102"))
    if n < 3:
        census["012"] = census["102"] = 0
    census["003"] = n * (n - 1) * (n - 2) // 6 - sum(census.values())
    return census


# For each triad its numbers of mutual and of single arcs, which are the digits of its name.
_TRIADS = {
    name: (int(name[0]), int(name[1]))
    for name in ("003", "012", "102", "021D", "021U", "021C", "111D", "111U", "030T", "030C", "201", "120D", "120U", "120C", "210", "300")
}

backend_interface = _Interface()


def get_info() -> dict[str, Any]:
    """Return what networkx shows about the backend."""
    functions = {
        "average_clustering": "Graphs without weights.",
        "clustering": "Graphs without weights.",
        "square_clustering": "Undirected graphs without loops.",
        "transitivity": "Undirected graphs.",
        "triadic_census": "Of some nodes: graphs without loops.",
        "triangles": "Undirected graphs.",
    }
    return {
        "backend_name": "weft",
        "project": "weftgraph",
        "package": "weftgraph",
        "url": "https://github.com/weftgraph/weft",
        "short_summary": "Counts of subgraphs on all cores or GPUs.",
        "functions": {name: {"additional_docs": text} for name, text in functions.items()},
    }


def _pattern(P: Any, directed: bool, labels: dict[Any, str] | None = None) -> tuple[str, dict[str, Any]]:
    """Return the paths of a pattern, and the node of each name."""
    if P.is_multigraph():
        raise ValueError("a pattern has no parallel edges")
    if P.is_directed() != directed:
        raise ValueError("graph and pattern are both directed, or both undirected")
    if any(v in P._adj[v] for v in P._adj):
        raise ValueError("a pattern has no loops")
    name = {v: f"v{i}" for i, v in enumerate(P)}
    arrow = "-->" if directed else "--"
    of = {n: (f":`{labels[v]}`" if labels and v in labels else "") for v, n in name.items()}
    parts = [f"({name[u]}{of[name[u]]}){arrow}({name[v]}{of[name[v]]})" for u, v in P.edges()]
    parts += [f"({name[v]}{of[name[v]]})" for v in P if P.degree(v) == 0]
    return ", ".join(parts), {n: v for v, n in name.items()}


def _of(G: Any) -> BackendGraph:
    import networkx

    if not isinstance(G, BackendGraph) and any(True for _ in networkx.selfloop_edges(G)):
        raise ValueError("the graph has loops, which weft drops; remove them first")
    return _backend(G)


def count_monomorphisms(G: Any, P: Any, **options: Any) -> int:
    """Count the mappings of the pattern P into G that keep edges.

    This is the number of mappings that networkx's GraphMatcher(G, P).subgraph_monomorphisms_iter
    yields. ``options`` are those of Graph.count.
    """
    return _count(G, P, False, options)


def count_isomorphisms(G: Any, P: Any, **options: Any) -> int:
    """Count the mappings of P onto induced subgraphs of G, as subgraph_isomorphisms_iter yields."""
    return _count(G, P, True, options)


def _count(G: Any, P: Any, induced: bool, options: dict[str, Any]) -> int:
    if len(P) == 0:
        return 1
    made = isinstance(G, BackendGraph)
    B = _of(G)
    if B.weft is None:
        return 0
    try:
        paths, _ = _pattern(P, B.is_directed())
        query = f"MATCH {'INDUCED ' if induced else ''}{paths} RETURN count(*)"
        return B.weft.count(query, **{"allow_product": True, **options})
    finally:
        if not made:
            B.weft.close()


def monomorphisms(G: Any, P: Any, *, induced: bool = False, **options: Any) -> Iterator[dict[Any, Any]]:
    """Yield the mappings of P into G as dicts from nodes of P to nodes of G, in no defined order."""
    if len(P) == 0:
        yield {}
        return
    made = isinstance(G, BackendGraph)
    B = _of(G)
    if B.weft is None:
        return
    try:
        paths, node = _pattern(P, B.is_directed())
        query = f"MATCH {'INDUCED ' if induced else ''}{paths}"
        with B.weft.match(query, count="embeddings", **{"allow_product": True, **options}) as rows:
            for row in rows:
                yield {node[n]: B.nodes[i] for n, i in row.items()}
    finally:
        if not made:
            B.weft.close()


def count_cliques(G: Any, k: int, **options: Any) -> int:
    """Count the sets of k nodes of G that are all adjacent (not only the maximal ones)."""
    if k < 1:
        raise ValueError("a clique has at least one node")
    made = isinstance(G, BackendGraph)
    B = _of(G)
    if B.is_directed():
        raise ValueError("cliques are those of undirected graphs")
    if k == 1:
        return len(B)
    if B.weft is None:
        return 0
    try:
        return B.weft.count("MATCH (a)--(b)" if k == 2 else f"clique({k})", **options)
    finally:
        if not made:
            B.weft.close()
