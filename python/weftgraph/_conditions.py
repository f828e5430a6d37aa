"""Constraints of DotMotif as conditions of a query.

A condition holds wherever DotMotif's own test of the constraint holds, so it loses no match. Constraints that the
language has no exact words for are left out, and DotMotif tests them on the matches.
"""

from __future__ import annotations

import math
from typing import Any, Hashable, Iterable, Mapping

from . import _write

__all__ = ["Conditions"]

_COMPARISONS = {"=": "=", "==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_ORDERED = {"<", "<=", ">", ">="}
_EXACT = 2**53  # whole numbers up to it keep their value beside floating-point ones


def _kind(values: Iterable[Any]) -> str | None:
    """Return "number" or "text" if all values that are not None are of this kind and weft holds each exactly, and else None."""
    kinds, large, floats = set(), False, False
    for value in values:
        if value is None:
            continue
        if type(value) is int and -(2**63) <= value < 2**63:
            large = large or abs(value) > _EXACT
            kinds.add("number")
        elif type(value) is float:
            floats = True
            kinds.add("number")
        elif type(value) is str and not _write._BAD.search(value):
            kinds.add("text")
        else:
            return None
    if len(kinds) != 1 or large and floats:
        return None
    return kinds.pop()


def _constant(value: Any) -> str | None:
    """Return the kind of a constant, or None."""
    if type(value) is float and not math.isfinite(value):
        return None
    return _kind([value])


class Column:
    """The values of an attribute, one for each node or edge of a graph in order, and the name that they have in weft."""

    def __init__(self, name: str, key: Hashable, rows: list[Mapping[Any, Any]]):
        self.name, self.values = name, [row.get(key) for row in rows]
        values = self.values
        self.kind = _kind(values)
        self.full = all(v is not None for v in values)
        self.nones = not self.full and any(v is None and key in row for v, row in zip(values, rows))  # not the same as missing
        self.arrays = self.kind is None and any(getattr(v, "ndim", 0) for v in values)  # whose comparison has no truth value


class Columns:
    """The attributes of nodes and edges that conditions have asked for. Those of other kinds than numbers or texts are not for weft."""

    def __init__(self, nodes: list[Mapping[Any, Any]], edges: list[Mapping[Any, Any]]):
        self._rows = {"node": nodes, "edge": edges}
        self.all: dict[tuple[str, Hashable], Column] = {}

    def of(self, what: str, key: Hashable) -> Column:
        """Return the column of an attribute."""
        column = self.all.get((what, key))
        if column is None:
            name = f"{what[0]}{len(self.all)}"
            column = self.all[what, key] = Column(name, key, self._rows[what])
        return column

    def attributes(self, what: str) -> list[dict[str, Any]]:
        """Return the attributes of each node or edge that weft is to hold."""
        columns = [c for (w, _), c in self.all.items() if w == what and c.kind is not None]
        return [{c.name: c.values[i] for c in columns if c.values[i] is not None} for i in range(len(self._rows[what]))]


class Conditions:
    """Conditions on the names of a query, with their parameters.

    ``edges`` are the edges that a condition names, by their pair of names in the motif.
    """

    def __init__(self, columns: Columns, names: Mapping[Hashable, str]):
        self._columns, self._names = columns, names
        self.texts: list[str] = []
        self.params: dict[str, Any] = {}
        self.edges: dict[tuple[Hashable, Hashable], str] = {}
        self.sound = True  # False where DotMotif's own test could raise an exception, which a condition must not hide

    def _parameter(self, value: Any) -> str:
        name = f"p{len(self.params)}"
        self.params[name] = list(value) if isinstance(value, (tuple, set, frozenset)) else value
        return "$" + name

    def static(self, what: str, name: str, constraints: Mapping[Hashable, Mapping[str, Iterable[Any]]]) -> None:
        """Add what the constraints of a node or edge with constants say."""
        for key, operators in constraints.items():
            for operator, values in operators.items():
                for value in values:
                    self._compare(what, name, key, operator, value)

    def _compare(self, what: str, name: str, key: Hashable, operator: str, value: Any) -> None:
        column = self._columns.of(what, key)
        if column.kind is None:
            self.sound = self.sound and not column.arrays
            return
        x = f"{name}.{column.name}"
        if operator in _COMPARISONS and _constant(value) == column.kind:
            text = f"{x} {_COMPARISONS[operator]} {self._parameter(value)}"
            missing = operator == "!="
        elif operator in ("in", "!in") and isinstance(value, (list, tuple, set, frozenset)) and value and all(_constant(v) == column.kind for v in value):
            if column.kind == "number" and _kind(value) is None:
                return
            text = f"{x} {'NOT ' if operator == '!in' else ''}IN {self._parameter(value)}"
            missing = operator == "!in"
        else:
            return
        # In Python None differs from all values; in a query a comparison with NULL is not true.
        self.texts.append(f"({text} OR {x} IS NULL)" if missing and not column.full else text)

    def dynamic(self, what: str, a: str, key: Hashable, operator: str, b: str, other: Hashable) -> None:
        """Add a comparison of two attributes. Of nodes, a missing one makes it false, and None is compared."""
        x, y = self._columns.of(what, key), self._columns.of(what, other)
        same = x.kind is not None and x.kind == y.kind
        if operator not in _COMPARISONS or not same:
            # An order of values of different kinds, or a text in a number, is a TypeError.
            self.sound = self.sound and operator in ("=", "==", "!=") and not x.arrays and not y.arrays
            return
        nones = x.nones or y.nones if what == "node" else not (x.full and y.full)
        if nones:  # None is compared
            self.sound = self.sound and operator not in _ORDERED
            return
        self.texts.append(f"{a}.{x.name} {_COMPARISONS[operator]} {b}.{y.name}")

    def edge(self, pair: tuple[Hashable, Hashable]) -> str:
        """Return the name of an edge in the query."""
        return self.edges.setdefault(pair, f"e{len(self.edges)}")
