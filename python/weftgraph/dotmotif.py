"""An executor of DotMotif that searches by weft.

>>> from dotmotif import Motif                                # doctest: +SKIP
>>> from weftgraph.dotmotif import WeftExecutor               # doctest: +SKIP
>>> WeftExecutor(graph=G).find(Motif("A -> B; B -> A"))       # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from dotmotif.executors.NetworkXExecutor import NetworkXExecutor

from . import graph as _graph
from ._conditions import Columns, Conditions

__all__ = ["WeftExecutor"]


class WeftExecutor(NetworkXExecutor):
    """Finds motifs in a networkx graph: weft finds the structure, absent edges included.

    Its answers are those of DotMotif's NetworkXExecutor, in no defined order. Comparisons of attributes with constants
    and with each other are conditions of the search where the language has them exactly. The other constraints are tested
    by that class, on the matches that weft lists while it searches.
    """

    def __init__(self, **kwargs: Any) -> None:
        """Create an executor.

        Arguments:
            graph: the networkx graph. It may change between calls.
            multigraph_edge_match: as in NetworkXExecutor.
            weft: options of Graph.match, such as {"timeout": 60}.
            conditions: whether constraints on attributes become conditions of the search; without them, all are
                tested after it.
        """
        self._options = dict(kwargs.pop("weft", {}))
        self._conditions = bool(kwargs.pop("conditions", True))
        super().__init__(**kwargs)
        self._nodes = list(self.graph)
        self._sorted = False
        self._listed = 0  # matches of the last search
        self._weft: Any = None
        self._state: Any = None
        self._keys: dict[tuple[str, Any], None] = {}  # attributes that motifs have asked for

    def _read(self) -> tuple[list[tuple[int, int]], Columns]:
        """Return the edges of the graph by the numbers of their nodes, and its attributes."""
        nodes = list(self.graph)
        self._sorted = all(type(v) is int for v in nodes) or all(type(v) is str for v in nodes)
        if self._sorted:
            nodes.sort()  # id(a) < id(b) is then a < b
        self._nodes, index = nodes, {v: i for i, v in enumerate(nodes)}
        if self._host_is_multigraph:
            found = dict.fromkeys((index[u], index[v]) for u, v in self.graph.edges())
            rows: list[Any] = [{} for _ in found]
        else:
            found = {(index[u], index[v]): data for u, v, data in self.graph.edges(data=True)}
            rows = list(found.values())
        columns = Columns([self.graph.nodes[v] for v in nodes], rows)
        for what, key in self._keys:
            columns.of(what, key)
        return list(found), columns

    def _open(self, edges: list[tuple[int, int]], columns: Columns) -> Any:
        """Return the graph in weft; it is made again if nodes, edges or attributes in question have changed."""
        state = (tuple(self._nodes), tuple(edges), tuple((at, c.name, tuple(c.values) if c.kind else None) for at, c in columns.all.items()))
        if self._weft is None or state != self._state:
            if self._weft is not None:
                self._weft.close()
            rows = [(u, v, data) for (u, v), data in zip(edges, columns.attributes("edge"))]
            nodes = dict(enumerate(columns.attributes("node")))
            self._weft = _graph.from_edges(rows, nodes, directed=self.graph.is_directed(), node_label=None, edge_label=None)
            self._state = state
        return self._weft

    def _translate(self, motif: Any, names: dict[Any, str], pairs: dict[Any, None], columns: Columns) -> Conditions:
        """Return the constraints of a motif as conditions, or none if its test could raise an exception."""
        found, none = Conditions(columns, names), Conditions(columns, names)

        def pair(u: Any, v: Any) -> Any:
            at = (u, v) if self.graph.is_directed() else tuple(sorted((u, v), key=repr))
            return at if at in pairs else None

        try:
            for (u, v), constraints in motif.list_edge_constraints().items():
                if pair(u, v) is None:
                    return none
                if not self._host_is_multigraph:
                    found.static("edge", found.edge(pair(u, v)), constraints)
            for (u, v), constraints in motif.list_dynamic_edge_constraints().items():
                for key, operators in constraints.items():
                    for operator, (that_u, that_v, that_key) in operators.items():
                        if self._host_is_multigraph or pair(u, v) is None or pair(that_u, that_v) is None:
                            return none
                        found.dynamic("edge", found.edge(pair(u, v)), key, operator, found.edge(pair(that_u, that_v)), that_key)
            for u, constraints in motif.list_node_constraints().items():
                found.static("node", names[u], constraints)
            for u, constraints in motif.list_dynamic_node_constraints().items():
                for key, operators in constraints.items():
                    for operator, others in operators.items():
                        for v, that_key in others:
                            found.dynamic("node", names[u], key, operator, names[v], that_key)
            automorphisms = motif.list_automorphisms() if motif.exclude_automorphisms else []
            ordered = [f"id({names[a]}) < id({names[b]})" for a, b in dict.fromkeys(automorphisms) if a != b]
        except (KeyError, TypeError, ValueError):  # a name that no edge has, or several comparisons of one: for DotMotif to say
            return none
        if ordered and not self._sorted:  # the order of the nodes is for Python to say, if they have one
            return none
        found.texts += ordered
        return found if found.sound else none

    def find(self, motif: Any, limit: int | None = None) -> list[dict[Any, Any]]:
        """Return the matches of a motif as dicts from its nodes to those of the graph."""
        directed = self.graph.is_directed()
        if directed == bool(motif.ignore_direction):
            # Graph and motif differ in having directions: what that means is for networkx to say.
            return super().find(motif, limit)
        present, absent = [], []
        for u, v, attributes in motif.to_nx().edges(data=True):
            (present if attributes["exists"] else absent).append((u, v))
        if any(u == v for u, v in present + absent):
            return super().find(motif, limit)
        names = {v: f"v{i}" for i, v in enumerate(dict.fromkeys(n for e in present for n in e))}
        if len(self.graph) == 0 or not names:
            return super().find(motif, limit)
        pairs = dict.fromkeys((u, v) if directed else tuple(sorted((u, v), key=repr)) for u, v in present)
        if any(((u, v) if directed else tuple(sorted((u, v), key=repr))) in pairs for u, v in absent):
            return []  # an edge that is there and is not
        graph_edges, columns = self._read()
        conditions = self._translate(motif, names, pairs, columns) if self._conditions else Conditions(columns, names)
        self._keys.update(dict.fromkeys(columns.all))
        node = {n: v for v, n in names.items()}
        automorphisms = motif.list_automorphisms() if motif.exclude_automorphisms else []
        edges = motif.list_edge_constraints()
        if not self._host_is_multigraph:
            fits = self._validate_edge_constraints
        elif self._multigraph_edge_match == "all":
            fits = self._validate_multigraph_all_edge_constraints
        else:
            fits = self._validate_multigraph_any_edge_constraints
        found: list[dict[Any, Any]] = []
        weft = self._open(graph_edges, columns)
        query = _query(names, pairs, absent, conditions, directed)
        self._listed = 0
        with weft.match(query, conditions.params, count="embeddings", **{"allow_product": True, **self._options}) as rows:
            for row in rows:
                self._listed += 1
                match = {node[n]: self._nodes[i] for n, i in row.items()}
                if (
                    fits(match, self.graph, edges)
                    and self._validate_dynamic_edge_constraints(match, self.graph, motif.list_dynamic_edge_constraints())
                    and self._validate_node_constraints(match, self.graph, motif.list_node_constraints())
                    and self._validate_dynamic_node_constraints(match, self.graph, motif.list_dynamic_node_constraints())
                    and all(match[a] <= match[b] for a, b in automorphisms)
                ):
                    found.append(match)
                    if limit is not None and len(found) >= limit:
                        break
        return found

    def close(self) -> None:
        """Remove the temporary files of the graph in weft."""
        if self._weft is not None:
            self._weft.close()
            self._weft = None


def _query(names: dict[Any, str], pairs: dict[Any, None], absent: list[tuple[Any, Any]], conditions: Conditions, directed: bool) -> str:
    """Return the query of a motif's edges and conditions. Its rows are of the vertices."""
    arrow = "->" if directed else "-"
    paths = [f"({names[u]})-{'[' + conditions.edges[u, v] + ']' if (u, v) in conditions.edges else ''}{arrow}({names[v]})" for u, v in pairs]
    # A name that only absent edges have is a mistake of the motif: a KeyError, as in NetworkXExecutor.
    paths += [f"NOT ({names[u]})-{arrow}({names[v]})" for u, v in absent]
    where = " WHERE " + " AND ".join(conditions.texts) if conditions.texts else ""
    return f"MATCH {', '.join(paths)}{where} RETURN {', '.join(names.values())}"
