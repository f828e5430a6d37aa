"""Subgraph matching by weft: counts, matches and motifs of graphs, from Python.

>>> import weftgraph as weft
>>> with weft.from_edges([(1, 2), (2, 3), (3, 1), (3, 4)]) as g:
...     g.count("MATCH (a)--(b)--(c)--(a)")
1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import (
    BinaryNotFound,
    CutShort,
    DeviceError,
    InputError,
    Interrupted,
    MemoryLimitError,
    QueryError,
    ServerError,
    Timeout,
    UsageError,
    WeftError,
)
from .graph import Count, Graph, Match, Rows, from_edges, from_networkx, from_pandas, open

if TYPE_CHECKING:
    from .server import Server


def connect(url: str, **options: Any) -> Server:
    """Return the server of weft at a URL; the arguments are those of weftgraph.server.connect."""
    from . import server  # brings http and ssl, which local graphs do not need

    return server.connect(url, **options)


__version__ = "0.1.0"

__all__ = [
    "BinaryNotFound",
    "Count",
    "CutShort",
    "DeviceError",
    "Graph",
    "InputError",
    "Interrupted",
    "Match",
    "MemoryLimitError",
    "QueryError",
    "Rows",
    "ServerError",
    "Timeout",
    "UsageError",
    "WeftError",
    "connect",
    "from_edges",
    "from_networkx",
    "from_pandas",
    "open",
]
