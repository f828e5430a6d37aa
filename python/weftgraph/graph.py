"""Graphs, counts and rows."""

from __future__ import annotations

import json
import os
import re
import tempfile
import weakref
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Hashable, Iterable, Iterator, Mapping, Sequence

from . import _process, _write, errors

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from .picture import MatchPicture, Plan

__all__ = ["Graph", "Count", "Rows", "Match", "open", "from_edges", "from_networkx", "from_pandas"]

_CATALOGUE = re.compile(r"[A-Za-z_][\w.:-]*(\(\s*\d+(\s*,\s*\d+)*\s*\))?")
_CONVERT = 1 << 20  # bytes of a text file from which a conversion pays
# Options of a query, by the flag of the program that has their value.
_OPTIONS = {
    "engine": "--engine",
    "device": "--device",
    "threads": "--threads",
    "timeout": "--timeout",
    "limit": "--limit",
    "semantics": "--semantics",
    "induced": "--induced",
    "count": "--count",
    "memory": "--memory",
    "gpu_memory": "--gpu-memory",
    "order": "--order",
    "seed": "--seed",
    "spill": "--spill",
    "extend": "--extend",
    "allow_product": "--allow-product",
}


class Count(int):
    """A number of matches: an int, with what weft says about it.

    The value is the number that the query asks for: subgraphs under ``iso``,
    embeddings under ``trail`` and ``hom``, or as RETURN or ``count=`` say. It is exact.
    If ``complete`` is False, the search was cut short and the value is a lower bound.
    """

    subgraphs: int | None
    embeddings: int | None
    complete: bool
    query: str
    engine: str
    seconds: dict[str, float]
    report: dict[str, Any]
    notes: list[str]

    @classmethod
    def _of(cls, report: Mapping[str, Any], which: str | None, notes: list[str]) -> Count:
        subgraphs, embeddings = _exact(report.get("subgraphs")), _exact(report.get("embeddings"))
        value = embeddings if which == "embeddings" or subgraphs is None else subgraphs
        self = cls(value or 0)
        self.subgraphs, self.embeddings = subgraphs, embeddings
        self.complete = bool(report.get("complete", True))
        self.query = str(report.get("query", ""))
        self.engine = str(report.get("engine", ""))
        self.seconds = dict(report.get("seconds") or {})
        self.report = dict(report)
        self.notes = notes
        return self

    def __repr__(self) -> str:
        return int.__repr__(self) if self.complete else f"<at least {int(self)}, cut short>"

    __str__ = int.__repr__

    def __reduce__(self) -> Any:
        return int, (int(self),)


def _exact(value: Any) -> int | None:
    return None if value is None else int(value)


class Match(dict):
    """A row of ``match``: a dict from the names of its columns to values.

    In a notebook it is shown as a picture of the match among its neighbours.
    """

    def __init__(self, values: Mapping[str, Any], graph: Graph | None = None, query: str = "", options: Mapping[str, Any] | None = None):
        super().__init__(values)
        self._graph, self._query, self._options = graph, query, dict(options or {})

    def picture(self, **options: Any) -> MatchPicture:
        """Return the picture of the match in its neighbourhood (Graph.picture)."""
        if self._graph is None:
            raise ValueError("this row does not know its graph")
        return self._graph.picture(self, self._query, **{**self._options, **options})

    def _repr_svg_(self) -> str | None:
        if self._graph is None or self._graph.closed:
            return None
        try:
            return self.picture()._repr_svg_()
        except errors.WeftError:
            return None


class Rows:
    """The rows of a listing, read while weft finds them.

    Iterate once, or call one of ``to_list``, ``to_pandas`` and ``to_arrow``. The search begins
    with the first row. ``close``, the end of a ``with`` block, or the end of the
    iteration ends the process. If ``timeout`` cuts the listing short, Timeout is
    raised after the last row, and ``complete`` is False.
    """

    def __init__(self, graph: Graph, query: str, command: Sequence[str], options: Mapping[str, Any]):
        self._graph, self._query, self._command, self._options = graph, query, list(command), dict(options)
        self._process: _process.Process | None = None
        self._started = False
        self.complete: bool | None = None
        self.notes: list[str] = []

    def _start(self, form: str) -> _process.Process:
        if self._started:
            raise ValueError("the rows have been read already; call match again")
        self._started = True
        self._process = _process.Process([*self._command[:-1], "--to", form, self._command[-1]]
                                         if self._command[-2] != "--" else
                                         [*self._command[:-2], "--to", form, *self._command[-2:]])
        return self._process

    def _end(self, process: _process.Process) -> None:
        code, text = process.finish()
        self._process = None
        self.complete = code == 0
        self.notes = errors.messages(text)
        if code != 0:
            raise errors.from_exit(code, text)

    def __iter__(self) -> Iterator[Match]:
        process = self._start("ndjson")
        back = self._graph._back
        try:
            for line in _process.lines(process):
                if not line.endswith(b"\n"):
                    break  # the process was ended in the middle of a row
                row = json.loads(line)
                if back is not None:
                    row = {k: _node(v, back) for k, v in row.items()}
                yield Match(row, self._graph, self._query, self._options)
            self._end(process)
        finally:
            if self.complete is None:
                self.complete = False
            process.close()
            self._process = None

    def to_list(self) -> list[Match]:
        """Return all rows. Memory grows with their number."""
        return self._gather(list)

    def _gather(self, make: Any) -> Any:
        rows: list[Match] = []
        try:
            rows.extend(self)
        except (errors.Timeout, errors.Interrupted) as e:
            e.partial = make(rows)
            raise
        except KeyboardInterrupt as e:
            raise errors.Interrupted("interrupted", partial=make(rows)) from e
        return make(rows)

    def to_pandas(self) -> pandas.DataFrame:
        """Return all rows as a pandas.DataFrame, with a column for each item. Needs pandas."""
        import pandas

        def make(rows: list[Match]) -> pandas.DataFrame:
            if rows:
                return pandas.DataFrame([dict(r) for r in rows])
            return pandas.DataFrame(columns=self._graph._columns(self._query, self._options))

        return self._gather(make)

    def to_arrow(self) -> pyarrow.Table:
        """Return all rows as a pyarrow.Table, read from weft's Arrow stream. Needs pyarrow.

        Nodes that have numbers in the file (Graph.renumbered) stay numbered in the table.
        """
        import pyarrow

        process = self._start("arrow")
        try:
            with pyarrow.ipc.open_stream(process.stdout) as reader:
                table = reader.read_all()
        except pyarrow.ArrowInvalid:
            self._end(process)
            raise
        finally:
            if self._process is not None and self.complete is None and process.stdout.closed:
                process.close()
        try:
            self._end(process)
        except (errors.Timeout, errors.Interrupted) as e:
            e.partial = table
            raise
        finally:
            process.close()
        return table

    def close(self) -> None:
        """End the search. Blocks until its process has ended."""
        self._started = True
        if self._process is not None:
            self._process.close()
            self._process = None
            self.complete = False

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _node(value: Any, back: Mapping[str, Hashable]) -> Any:
    """Return a value of a row with the caller's nodes instead of names in the file."""
    if isinstance(value, str):
        return back.get(value, value)
    if isinstance(value, dict) and "src" in value and "dst" in value:
        return {**value, "src": back.get(value["src"], value["src"]), "dst": back.get(value["dst"], value["dst"])}
    return value


class Graph:
    """A graph in a file, and the queries on it. Each query is a process of weft.

    Close it, or use it in a ``with`` block, to remove its temporary files at once; else
    they go with the object. Safe for concurrent use by threads.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        flags: Sequence[str] = (),
        *,
        binary: str | os.PathLike[str] | None = None,
        options: Mapping[str, Any] | None = None,
        folder: tempfile.TemporaryDirectory[str] | None = None,
        back: Mapping[str, Hashable] | None = None,
        convert: bool = False,
    ):
        self.path = os.fspath(path)
        self.binary = _process.find_binary(binary)
        self._read = [self.path, *flags]  # replaced in one step: another thread may be reading it
        self._defaults = dict(options or {})
        _flags_of(self._defaults)
        self._back = back
        self._forth = None if back is None else {v: k for k, v in back.items()}
        self._convert = convert
        self._folder = folder
        self._cleanup = weakref.finalize(self, folder.cleanup) if folder is not None else None
        self.closed = False
        self.notes: list[str] = []

    @property
    def renumbered(self) -> bool:
        """Whether nodes have names of their own in the file, because weft's ids are numbers or texts.

        Rows have the caller's nodes all the same. A query can name one by ``node_id``.
        """
        return self._back is not None

    def node_id(self, node: Hashable) -> int | str:
        """Return the id that a query has for a node, as in ``WHERE id(a) = $v``."""
        if self._forth is not None:
            return self._forth[node]
        if not isinstance(node, (int, str)):
            raise KeyError(node)
        return node

    # -- queries

    def count(self, query: str, params: Mapping[str, Any] | None = None, **options: Any) -> Count:
        """Count the matches of a query, or of a pattern of the catalogue, exactly.

        Args:
            query: a text such as ``MATCH (a)--(b)--(c)--(a)``, or a name such as ``clique(4)``.
            params: values of ``$name`` in the query.
            options: ``engine``, ``device``, ``threads``, ``timeout`` (seconds, or a text such as
                ``"5m"``), ``limit``, ``semantics``, ``induced``, ``count``, ``memory``, ``gpu_memory``,
                ``order``, ``seed``, ``allow_product`` and ``engine_opt`` (a dict), as in the program.
        """
        code, out, text = self._run("count", query, params, options, "json")
        which = self._option(options, "count") or _asked(query)
        return self._counts(code, out, text, which)[0]

    def match(self, query: str, params: Mapping[str, Any] | None = None, **options: Any) -> Rows:
        """List the matches of a query. See ``count`` for the arguments, and Rows for the result."""
        return Rows(self, query, self._command("match", query, params, options), options)

    def exists(self, query: str, params: Mapping[str, Any] | None = None, **options: Any) -> bool:
        """Tell whether a query has a match. The search stops at the first one."""
        options = {k: v for k, v in options.items()}
        code, _, text = self._run("exists", query, params, options, "json", without=("limit", "count", "spill"))
        if code in (0, 1):
            return code == 0
        raise errors.from_exit(code, text)

    def motifs(self, k: int = 3, *, edge_induced: bool = False, directions: bool = True, **options: Any) -> dict[str, Count]:
        """Count all connected patterns of k vertices; return the counts by the patterns' names."""
        more = ["-k", str(k)]
        if edge_induced:
            more.append("--edge-induced")
        if not directions:
            more.append("--no-directions")
        code, out, text = self._run("motifs", None, None, options, "json", more=more,
                                    without=("semantics", "induced", "count", "order", "spill", "extend", "allow_product", "seed"))
        return {c.query: c for c in self._counts(code, out, text, self._option(options, "count"))}

    def orbits(self, k: int = 4, *, edge_induced: bool = False, directions: bool = True, **options: Any) -> dict[Any, list[int]]:
        """Count for each vertex how often it is at each orbit of the motifs of two to k vertices, 3, 4 or 5: its graphlet degrees.

        The order is that of ``weft motifs --help``: 4 orbits for k = 3, 15 for k = 4, and 73 for k = 5. A directed graph needs ``directions=False``.
        """
        more = ["-k", str(k), "--orbits"]
        if edge_induced:
            more.append("--edge-induced")
        if not directions:
            more.append("--no-directions")
        code, out, text = self._run("motifs", None, None, options, "ndjson", more=more,
                                    without=("semantics", "induced", "count", "order", "spill", "extend", "allow_product", "seed"))
        if code != 0:
            raise errors.from_exit(code, text)
        orbits: dict[Any, list[int]] = {}
        for line in out.splitlines():
            vertex, *numbers = json.loads(line).values()
            orbits[vertex if self._back is None else self._back.get(vertex, vertex)] = [int(n) for n in numbers]
        return orbits

    def participation(self, query: str, vertex: str | None = None, params: Mapping[str, Any] | None = None, **options: Any) -> dict[Any, int]:
        """Count for each vertex of the graph in how many matches it plays a part.

        Args:
            query: a query that ends with ``RETURN participation(v)``, or one without RETURN.
            vertex: the name in the query whose part is counted, if the query has no RETURN.
        """
        if vertex is not None:
            if _CATALOGUE.fullmatch(query.strip()):
                query = "MATCH " + query
            query = f"{query}\nRETURN participation({vertex})"
        code, out, text = self._run("count", query, params, options, "ndjson")
        counts: dict[Any, int] = {}
        for line in out.splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                break
            if "participation" not in row or len(row) != 2:
                raise errors.UsageError("participation needs a query that returns participation of one name")
            name = next(k for k in row if k != "participation")
            value = row[name]
            counts[value if self._back is None else self._back.get(value, value)] = int(row["participation"])
        if code != 0:
            e = errors.from_exit(code, text)
            if isinstance(e, (errors.Timeout, errors.Interrupted)):
                e.partial = counts
            raise e
        return counts

    def explain(self, query: str, params: Mapping[str, Any] | None = None, *, analyze: bool = False, **options: Any) -> Plan:
        """Return the plan of a query. With ``analyze`` the query also runs, and the plan has actual sizes."""
        from .picture import Plan

        without = ("limit", "count", "spill") if not analyze else ("count", "spill")
        more = ["--analyze"] if analyze else []
        code, out, text = self._run("explain", query, params, options, "json", more=more, without=without)
        if code != 0:
            raise errors.from_exit(code, text)
        return Plan(json.loads(out))

    def info(self) -> dict[str, Any]:
        """Return what ``weft info`` tells about the graph: sizes, degrees, labels, properties."""
        code, out, text = self._run("info", None, None, {}, "json", without=tuple(_OPTIONS))
        if code != 0:
            raise errors.from_exit(code, text)
        return json.loads(out)

    def picture(self, match: Mapping[str, Any], query: str | None = None, *, neighbours: int = 40, **options: Any) -> MatchPicture:
        """Return a picture of a match among at most ``neighbours`` of its neighbours.

        Without ``query``, all values of the match are taken for vertices.
        """
        from .picture import MatchPicture

        plan = self.explain(query, **options) if query is not None else None
        names = [n for n in (plan.vertices if plan is not None else match) if n in match]
        if not names:
            raise ValueError("the row has no vertex of the pattern: return the pattern's names")
        at = {n: match[n] for n in names}
        ids = [self.node_id(v) for v in at.values()]
        directed = bool(self.info()["directed"])
        found = self.match(
            "MATCH (a)-->(b) WHERE id(a) IN $ids OR id(b) IN $ids RETURN a, b" if directed
            else "MATCH (a)--(b) WHERE id(a) IN $ids RETURN a, b",
            {"ids": ids}, limit=4 * neighbours + 4 * len(ids) ** 2,
        ).to_list()
        within = "MATCH (a)-->(b)" if directed else "MATCH (a)--(b)"
        near: dict[Any, None] = dict.fromkeys(at.values())
        for row in found:
            for v in (row["a"], row["b"]):
                if len(near) < len(ids) + neighbours:
                    near.setdefault(v)
        rows = self.match(f"{within} WHERE id(a) IN $ids AND id(b) IN $ids RETURN a, b",
                          {"ids": [self.node_id(v) for v in near]}).to_list()
        return MatchPicture(at, [(r["a"], r["b"]) for r in rows], directed, plan)

    # -- commands

    def _option(self, options: Mapping[str, Any], name: str) -> Any:
        return options.get(name, self._defaults.get(name))

    def _source(self) -> list[str]:
        """Return the arguments that name the graph; converts it first where that pays."""
        if self.closed:
            raise ValueError("the graph is closed")
        if self._convert:
            self._convert = False
            folder = tempfile.TemporaryDirectory(prefix="weftgraph-")
            out = os.path.join(folder.name, "graph.weft")
            try:
                self.notes = convert(self.binary, self._read, out)
            except BaseException:
                folder.cleanup()
                self._convert = True
                raise
            self._folder = folder
            self._cleanup = weakref.finalize(self, folder.cleanup)
            self._read = [out]
        file, *flags = self._read
        return ["--graph=" + file, *flags]

    def _command(
        self,
        command: str,
        query: str | None,
        params: Mapping[str, Any] | None,
        options: Mapping[str, Any],
        without: Sequence[str] = (),
        more: Sequence[str] = (),
    ) -> list[str]:
        for name in options:
            if name in without:
                raise errors.UsageError(f"{command} has no option {name}")
        merged = {k: v for k, v in self._defaults.items() if k not in without}
        merged.update(options)
        arguments = [self.binary, command, *self._source(), *more, *_flags_of(merged)]
        if command not in ("info",):
            arguments += ["--progress", "none"]
        for name, value in (params or {}).items():
            arguments.append(f"--param={name}={_parameter(value)}")
        if query is None:
            return arguments
        if not isinstance(query, str):
            raise TypeError(f"a query is a text, not {type(query).__name__}")
        if _CATALOGUE.fullmatch(query.strip()):
            return [*arguments, "--pattern=" + query.strip()]
        return [*arguments, "--", query]

    def _run(self, command: str, query: str | None, params: Mapping[str, Any] | None, options: Mapping[str, Any], form: str,
             without: Sequence[str] = (), more: Sequence[str] = ()) -> tuple[int, bytes, str]:
        return _process.run(self._command(command, query, params, options, without, [*more, "--to", form]))

    def _counts(self, code: int, out: bytes, text: str, which: str | None) -> list[Count]:
        notes = errors.messages(text)
        try:
            report = json.loads(out) if out else []
        except ValueError:
            report = []
        counts = [Count._of(r, which, notes) for r in (report if isinstance(report, list) else [report])]
        if code != 0:
            e = errors.from_exit(code, text)
            if isinstance(e, (errors.Timeout, errors.Interrupted)) and counts:
                e.partial = counts[0] if len(counts) == 1 else {c.query: c for c in counts}
                if isinstance(e, errors.Timeout) and not notes:
                    e.message = "the time limit passed; the partial result is a lower bound"
            raise e
        if not counts or "query" not in counts[0].report:
            raise errors.UsageError("the query does not return a count; use match or participation")
        return counts

    def _columns(self, query: str, options: Mapping[str, Any]) -> list[str]:
        """Return the names of the columns of a listing, by a listing of no row as CSV."""
        command = self._command("match", query, None, {**options, "limit": 1}, more=["--to", "csv"])
        _, out, _ = _process.run(command)
        import csv

        return next(csv.reader(out.decode().splitlines()[:1]), [])

    # -- end

    def close(self) -> None:
        """Remove the graph's temporary files. Queries on it raise ValueError from then on."""
        self.closed = True
        if self._cleanup is not None:
            self._cleanup()

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<weftgraph.Graph {self.path}{' (closed)' if self.closed else ''}>"


def _asked(query: str) -> str | None:
    """Return the number that the query's RETURN asks for, if it says so."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", " ", query, flags=re.S)
    if re.search(r"\bRETURN\s+COUNT\s*\(\s*DISTINCT\s+SUBGRAPHS\s*\)", text, re.I):
        return "subgraphs"
    if re.search(r"\bRETURN\s+COUNT\s*\(\s*\*\s*\)", text, re.I):
        return "embeddings"
    return None


def _flags_of(options: Mapping[str, Any]) -> list[str]:
    flags = []
    for name, value in options.items():
        if value is None:
            continue
        if name == "engine_opt":
            flags += [f"--engine-opt={k}={_switch(v)}" for k, v in value.items()]
        elif name not in _OPTIONS:
            raise errors.UsageError(f"there is no option {name}; the options are {', '.join([*_OPTIONS, 'engine_opt'])}")
        elif isinstance(value, bool):
            flags.append(f"{_OPTIONS[name]}={str(value).lower()}")
        elif name == "timeout" and isinstance(value, (int, float)):
            flags.append(f"--timeout={max(value, 1e-9):.9f}s")
        else:
            flags.append(f"{_OPTIONS[name]}={value}")
    return flags


def _switch(value: Any) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _parameter(value: Any) -> str:
    if isinstance(value, (list, tuple, set, frozenset)):
        value = list(value)
    elif hasattr(value, "tolist"):  # arrays and numbers of numpy
        value = value.tolist()
    elif value is not None and not isinstance(value, (bool, int, float, str)):
        raise TypeError(f"a parameter of type {type(value).__name__}: it may be None, a truth value, a number, a text or a list of these")
    return json.dumps(value, ensure_ascii=False)


def convert(binary: str, source: Sequence[str], out: str) -> list[str]:
    """Convert a graph file to weft's own format; return weft's notes."""
    code, _, text = _process.run([binary, "convert", *source, "--output", out, "--progress", "none"])
    if code != 0:
        raise errors.from_exit(code, text)
    return errors.messages(text)


def open(
    path: str | os.PathLike[str],
    *,
    directed: bool | None = None,
    format: str | None = None,
    columns: str | Sequence[str] | None = None,
    labels: str | os.PathLike[str] | None = None,
    vertices: str | os.PathLike[str] | None = None,
    header: bool | None = None,
    skip: int | None = None,
    duplicates: str | None = None,
    null: Sequence[str] | None = None,
    convert: bool | None = None,
    binary: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Graph:
    """Open a graph file of any format that weft reads.

    Args:
        path: the file.
        directed: whether edges have a direction; without it, as the file says.
        format, columns, labels, vertices, header, skip, duplicates, null: as the flags of the program.
        convert: whether the first query converts the file to weft's own format in a temporary
            folder, so that later ones open it in milliseconds. Without it, files of more than
            1 MiB are converted.
        binary: the program weft.
        options: options of all queries of the graph (see Graph.count).
    """
    flags: list[str] = []
    if directed is not None:
        flags.append(f"--directed={str(directed).lower()}")
    if columns is not None and not isinstance(columns, str):
        columns = ",".join(columns)
    if null is not None:
        null_text = null if isinstance(null, str) else ",".join(null)
        flags.append(f"--null={null_text}")
    if header is not None:
        flags.append(f"--header={'yes' if header else 'no'}")
    for name, value in (("format", format), ("columns", columns), ("labels", labels), ("vertices", vertices),
                        ("skip", skip), ("duplicates", duplicates)):
        if value is not None:
            flags.append(f"--{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    file = Path(path)
    try:
        size = file.stat().st_size
    except OSError as e:
        raise errors.InputError(f"{os.fspath(path)}: {e.strerror}") from e
    if convert is None:
        convert = file.suffix != ".weft" and file.is_file() and size > _CONVERT
    return Graph(path, flags, binary=binary, options=options, convert=convert)


def from_edges(
    edges: Iterable[Sequence[Any]],
    nodes: Mapping[Hashable, Mapping[str, Any]] | Iterable[Hashable] = (),
    *,
    directed: bool = False,
    multi: bool = False,
    node_label: str | None = "label",
    edge_label: str | None = "label",
    binary: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Graph:
    """Make a graph of edges ``(u, v)`` or ``(u, v, attributes)``.

    Args:
        edges: pairs of nodes, each with a dict of attributes if it has any.
        nodes: nodes without edges, or a dict from nodes to their attributes.
        directed: whether edges have a direction.
        multi: whether equal edges stay several edges; without it they are one.
        node_label, edge_label: the attributes that are labels in patterns.
        options: options of all queries of the graph (see Graph.count).

    Nodes may be any values that can be keys of a dict. Attributes are numbers, texts, truth
    values or None, which is a missing value. Edges from a node to itself are dropped, and
    ``notes`` says so.
    """
    table: dict[Hashable, Mapping[str, Any]] = {}
    if isinstance(nodes, Mapping):
        table.update(nodes)
    else:
        table.update((v, {}) for v in nodes)
    rows: list[_write.Edge] = []
    for edge in edges:
        if len(edge) not in (2, 3) or (len(edge) == 3 and not isinstance(edge[2], Mapping)):
            raise TypeError(f"an edge is (u, v) or (u, v, dict), not {edge!r}")
        u, v = edge[0], edge[1]
        table.setdefault(u, {})
        table.setdefault(v, {})
        rows.append((u, v, edge[2] if len(edge) == 3 else {}))
    ids, back = _write.ids_of(list(table))
    if not table:
        raise ValueError("the graph has no nodes")
    chosen = _process.find_binary(binary)
    folder = tempfile.TemporaryDirectory(prefix="weftgraph-")
    try:
        out = os.path.join(folder.name, "graph.weft")
        source = _write.write(Path(folder.name), table, rows, dict(zip(table, ids)), directed=directed,
                              node_label=node_label, edge_label=edge_label)
        source += [f"--directed={str(directed).lower()}", f"--duplicates={'keep' if multi else 'merge'}"]
        notes = convert(chosen, source, out)
        for name in ("edges.tsv", "vertices.tsv", "graph.graphml"):
            Path(folder.name, name).unlink(missing_ok=True)
    except BaseException:
        folder.cleanup()
        raise
    graph = Graph(out, binary=chosen, options=options, folder=folder, back=back)
    graph.notes = notes
    return graph


def from_networkx(
    G: Any,
    *,
    node_attributes: bool | Iterable[str] = True,
    edge_attributes: bool | Iterable[str] = True,
    node_label: str | None = "label",
    edge_label: str | None = "label",
    binary: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Graph:
    """Make a graph of a networkx graph, with all attributes or those that are named.

    Attributes that weft cannot hold raise TypeError; nothing is left out in silence.
    """

    def chosen(data: Mapping[str, Any], which: bool | frozenset[str]) -> Mapping[str, Any]:
        if isinstance(which, bool):
            return data if which else {}
        return {k: v for k, v in data.items() if k in which}

    of_nodes = node_attributes if isinstance(node_attributes, bool) else frozenset(node_attributes)
    of_edges = edge_attributes if isinstance(edge_attributes, bool) else frozenset(edge_attributes)
    return from_edges(
        ((u, v, chosen(d, of_edges)) for u, v, d in G.edges(data=True)),
        {v: chosen(d, of_nodes) for v, d in G.nodes(data=True)},
        directed=G.is_directed(), multi=G.is_multigraph(),
        node_label=node_label, edge_label=edge_label, binary=binary, **options,
    )


def from_pandas(
    edges: pandas.DataFrame,
    source: str = "source",
    target: str = "target",
    *,
    directed: bool = False,
    multi: bool = False,
    attributes: bool | Iterable[str] = True,
    edge_label: str | None = "label",
    binary: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Graph:
    """Make a graph of a table of edges. Further columns are attributes; missing values stay missing."""
    names = [c for c in edges.columns if c not in (source, target)]
    if not isinstance(attributes, bool):
        names = list(attributes)
    elif not attributes:
        names = []
    values = [[None if gone else v for v, gone in zip(edges[n].tolist(), edges[n].isna().tolist())] for n in names]
    ends = edges[source].tolist(), edges[target].tolist()
    rows = ((u, v, dict(zip(names, row))) for u, v, row in zip(*ends, zip(*values) if values else ((),) * len(edges)))
    return from_edges(rows, directed=directed, multi=multi, edge_label=edge_label, binary=binary, **options)
