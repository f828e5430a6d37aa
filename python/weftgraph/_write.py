"""Edges and attributes of Python as files that weft reads.

A graph without attributes becomes an edge list of numbers, which is fast to read.
A graph with attributes becomes GraphML, which keeps types and empty texts.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, Hashable, Iterable, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

_BAD = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_RESERVED = {"src", "dst", "source", "target", "id"}

Edge = tuple[Hashable, Hashable, Mapping[str, Any]]


def ids_of(nodes: Sequence[Hashable]) -> tuple[list[str], dict[Any, Any] | None]:
    """Return the ids that stand for nodes in a file, and the way back.

    Whole numbers from 0 to 2^63-1 and texts stand for themselves: the way back is
    None. Other nodes are called ``node:0``, ``node:1``, and so on, or another such
    name that no node has.
    """
    if all(type(v) is int and 0 <= v < 2**63 for v in nodes):
        return [str(v) for v in nodes], None
    if all(type(v) is str and _plain(v) for v in nodes):
        # A reader takes ids for numbers if all are: then 01 and 1 could be one.
        texts = [str(v) for v in nodes]
        if not all(re.fullmatch("[0-9]+", t) for t in texts):
            return texts, None
    prefix = "node:"
    while any(isinstance(v, str) and v.startswith(prefix) for v in nodes):
        prefix = "_" + prefix
    ids = [f"{prefix}{i}" for i in range(len(nodes))]
    return ids, dict(zip(ids, nodes))


def _plain(text: str) -> bool:
    return text != "" and text == text.strip() and not _BAD.search(text) and not re.search("[\t\n\r]", text)


def write(
    folder: Path,
    nodes: Mapping[Hashable, Mapping[str, Any]],
    edges: Sequence[Edge],
    ids: Mapping[Hashable, str],
    *,
    directed: bool,
    node_label: str | None,
    edge_label: str | None,
) -> list[str]:
    """Write a graph into a folder; return the arguments of ``weft convert`` that read it."""
    attributes = any(nodes.values()) or any(d for _, _, d in edges)
    if edges and not attributes and all(t.isdigit() for t in ids.values()):
        table, rows = folder / "edges.tsv", folder / "vertices.tsv"
        with open(table, "w", encoding="utf-8") as f:
            f.write("src:int\tdst:int\n")
            f.writelines(f"{ids[u]}\t{ids[v]}\n" for u, v, _ in edges)
        with open(rows, "w", encoding="utf-8") as f:
            f.write("id:int\n")
            f.writelines(f"{t}\n" for t in ids.values())
        return [str(table), "--format", "tsv", "--vertices", str(rows)]
    file = folder / "graph.graphml"
    node_columns = _columns("node", nodes.values(), node_label)
    edge_columns = _columns("edge", (d for _, _, d in edges), edge_label)
    with open(file, "w", encoding="utf-8") as f:
        f.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        f.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for what, columns in (("node", node_columns), ("edge", edge_columns)):
            for key, name, kind in columns.values():
                f.write(f'<key id="{key}" for="{what}" attr.name={quoteattr(name)} attr.type="{kind}"/>\n')
        f.write(f'<graph edgedefault="{"directed" if directed else "undirected"}">\n')
        for v, data in nodes.items():
            f.write(f"<node id={quoteattr(ids[v])}>{_data(data, node_columns)}</node>\n")
        for u, v, data in edges:
            f.write(f"<edge source={quoteattr(ids[u])} target={quoteattr(ids[v])}>{_data(data, edge_columns)}</edge>\n")
        f.write("</graph>\n</graphml>\n")
    return [str(file), "--format", "graphml"]


def _columns(what: str, rows: Iterable[Mapping[str, Any]], label: str | None) -> dict[str, tuple[str, str, str]]:
    """Return for each attribute its key in the file, its name, and its type."""
    kinds: dict[str, str] = {}
    for data in rows:
        for name, value in data.items():
            if value is None:
                continue
            if not isinstance(name, str) or (name in _RESERVED and name != label):
                raise ValueError(f"attribute {name!r} of an {what}: the name is not a text or means something else to weft; choose others by {what}_attributes")
            if name == label:
                kinds[name] = "string"
                continue
            kind = _kind(what, name, value)
            had = kinds.setdefault(name, kind)
            if had != kind:
                if {had, kind} == {"long", "double"}:
                    kinds[name] = "double"
                else:
                    raise TypeError(f"attribute {name!r} has values of different types ({had}, {kind}); choose others by {what}_attributes")
    names = {n: ("label" if n == label else n) for n in kinds}
    if label not in (None, "label") and "label" in kinds and label in kinds:
        raise ValueError(f"both {label!r} and 'label' would be labels of an {what}")
    return {n: (f"{what[0]}{i}", names[n], k) for i, (n, k) in enumerate(kinds.items())}


def _kind(what: str, name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return "long"
        raise TypeError(f"attribute {name!r}: {value} has more than 64 bits; choose others by {what}_attributes")
    if isinstance(value, float):
        return "double"
    if isinstance(value, str):
        if _BAD.search(value):
            raise TypeError(f"attribute {name!r}: the text {value!r} has characters that a file of weft cannot hold; choose others by {what}_attributes")
        return "string"
    raise TypeError(
        f"attribute {name!r} has a value of type {type(value).__name__}; weft has numbers, texts and truth values. "
        f"Choose others by {what}_attributes"
    )


def _data(data: Mapping[str, Any], columns: Mapping[str, tuple[str, str, str]]) -> str:
    parts = []
    for name, value in data.items():
        if value is None:
            continue
        key, _, kind = columns[name]
        if kind == "boolean":
            text = "true" if value else "false"
        elif kind == "double":
            value = float(value)
            text = repr(value) if math.isfinite(value) else {math.inf: "INF", -math.inf: "-INF"}.get(value, "NaN")
        elif isinstance(value, (list, tuple, set, frozenset)):
            text = ";".join(map(str, value))
        else:
            text = str(value)
        parts.append(f'<data key="{key}">{escape(text, {chr(13): "&#13;"})}</data>')
    return "".join(parts)
