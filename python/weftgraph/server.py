"""Graphs of a server, ``weft serve``, over HTTP. They answer the same calls as graphs in files."""

from __future__ import annotations

import base64
import http.client
import json
import re
import ssl
import time
import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Hashable, Iterator, Mapping
from urllib.parse import quote, urlsplit

from . import errors
from .graph import _CATALOGUE, Count, Graph, Match, Rows, _asked, _switch

if TYPE_CHECKING:
    import os

    import pyarrow

    from .picture import Plan

__all__ = ["Job", "JobStatus", "RemoteGraph", "RemoteRows", "Server", "connect"]

_LOOPBACK = re.compile(r"localhost|127\.\d+\.\d+\.\d+|::1")
_FIELDS = {"engine", "device", "threads", "semantics", "induced", "order", "seed", "allow_product", "limit"}
_KINDS: dict[str, type[errors.WeftError]] = {
    "query": errors.QueryError,
    "usage": errors.UsageError,
    "bad_request": errors.UsageError,
    "input": errors.InputError,
    "memory": errors.MemoryLimitError,
    "device": errors.DeviceError,
}
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}


def connect(
    url: str,
    *,
    token: str | None = None,
    user: str | None = None,
    password: str | None = None,
    ca: str | os.PathLike[str] | None = None,
    insecure: bool = False,
) -> Server:
    """Return the server at a URL such as ``http://localhost:8642``. No request is made yet.

    Args:
        token: a token of ``weft user add``.
        user, password: a user and a password, instead of a token.
        ca: a file with certificates of authorities, for TLS, instead of those of the system.
        insecure: allow what is refused otherwise: with http, a token or password that goes to another machine without
            TLS; with https, a certificate that nobody vouches for. The second gives a warning.
    """
    return Server(url, token=token, user=user, password=password, ca=ca, insecure=insecure)


class Server:
    """A server of weft. ``server.graph(name)`` is a graph of it. Safe for concurrent use."""

    def __init__(self, url: str, *, token: str | None = None, user: str | None = None, password: str | None = None,
                 ca: str | os.PathLike[str] | None = None, insecure: bool = False):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise errors.UsageError(f"{url}: the address of a server is http://HOST:PORT or https://HOST:PORT")
        if (user is None) != (password is None) or (token is not None and user is not None):
            raise errors.UsageError("a server takes a token, or user and password")
        if parts.scheme == "http" and (token or user) and not insecure and not _LOOPBACK.fullmatch(parts.hostname):
            raise errors.UsageError(f"{url}: credentials would be sent without TLS; use https, or insecure=True")
        self.url = url.rstrip("/")
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path.rstrip("/")
        if ca is not None and parts.scheme == "http":
            raise errors.UsageError(f"{url}: ca= is for https")
        if ca is not None and insecure:
            raise errors.UsageError("insecure=True takes any certificate, and ca= one of an authority: choose")
        self._tls = _tls(ca, insecure) if parts.scheme == "https" else None
        self._headers = {"Accept": "application/json"}
        if token is not None:
            self._headers["Authorization"] = "Bearer " + token
        elif user is not None:
            self._headers["Authorization"] = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

    def __repr__(self) -> str:
        return f"<weftgraph.Server {self.url}>"

    def graphs(self) -> list[str]:
        """Return the names of the graphs that the user may read."""
        return [g["name"] for g in self._ask("GET", "/v1/graphs")["graphs"]]

    def graph(self, name: str | None = None, **options: Any) -> RemoteGraph:
        """Return a graph by its name, or the only one. ``options`` are those of all its queries."""
        if name is None:
            names = self.graphs()
            if len(names) != 1:
                raise errors.UsageError(f"the server has {len(names)} graphs ({', '.join(names)}): name one")
            name = names[0]
        else:
            self._ask("GET", "/v1/graphs/" + quote(name, safe=""))
        return RemoteGraph(self, name, options)

    def job(self, id: int) -> Job:
        """Return a job by its number, as one that another process started. Its result is taken as the query asks."""
        status = JobStatus(self._ask("GET", f"/v1/jobs/{int(id)}"))
        if status.kind not in _CALLS:
            raise errors.UsageError(f"job {id} is of the kind {status.kind}, which this version of weftgraph does not know")
        return Job(self, status, RemoteGraph(self, status.graph, {})._reader(status.kind, status.query, {}))

    def running(self) -> list[JobStatus]:
        """Return the queries that run or wait, jobs or not: the user's, and for an administrator all."""
        return [JobStatus(s) for s in self._ask("GET", "/v1/running")["running"]]

    def _open(self, method: str, path: str, body: Any = None, accept: str | None = None) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        if self._tls is not None:
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(self._host, self._port, context=self._tls)
        else:
            connection = http.client.HTTPConnection(self._host, self._port)
        headers = dict(self._headers)
        if accept is not None:
            headers["Accept"] = accept
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, self._path + path, data, headers)
            response = connection.getresponse()
            if response.status >= 400:
                raise _problem(response.status, response.read())
            return connection, response
        except (OSError, http.client.HTTPException) as e:
            connection.close()
            if isinstance(e, errors.WeftError):
                raise
            hint = "; ca= names a file with the certificate of its authority" if isinstance(e, ssl.SSLCertVerificationError) else ""
            raise errors.ServerError(f"{self.url}: {e}{hint}") from e
        except BaseException:
            connection.close()
            raise

    def _do(self, method: str, path: str) -> None:
        """Make a request whose answer has no body."""
        connection, response = self._open(method, path)
        response.close()
        connection.close()

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection, response = self._open(method, path, body)
        try:
            return json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as e:
            raise errors.ServerError(f"{self.url}: the answer ended early: {e}") from e
        except KeyboardInterrupt as e:
            raise errors.Interrupted("interrupted") from e
        finally:
            connection.close()  # a search that nobody waits for ends


# The calls that can be jobs.
_CALLS = ("count", "match", "exists", "motifs", "orbits", "participation", "explain", "info")


def _tls(ca: str | os.PathLike[str] | None, insecure: bool) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as e:  # ssl.SSLError is one
        raise errors.InputError(f"{ca}: not a file of certificates: {e}") from e
    if insecure:
        warnings.warn("insecure=True: the server's certificate is not checked, so anybody on the way may read and change what is sent", stacklevel=5)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _problem(status: int, body: bytes) -> errors.WeftError:
    try:
        problem = json.loads(body)
    except ValueError:
        problem = {}
    message = problem.get("caret") or problem.get("detail") or problem.get("title") or http.client.responses.get(status, "")
    kind = str(problem.get("kind", ""))
    if kind in _KINDS:
        return _KINDS[kind](message)
    return errors.ServerError(message, status=status, kind=kind)


def _cut(run: Mapping[str, Any], partial: Any) -> None:
    """Raise an exception for a result that was cut short by anything except the caller's limit."""
    reason = run.get("cut")
    if run.get("complete", True) or reason == "limit":
        return
    if reason == "time":
        raise errors.Timeout("the time limit passed; the result is partial", partial=partial)
    error = run.get("error") or {}
    raise errors.CutShort(f"the server cut the result short: {error.get('detail') or reason}", reason=str(reason), partial=partial)


def _seconds(value: Any) -> float:
    if isinstance(value, (int, float)):
        return float(value)
    parts = re.findall(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)", str(value))
    if not parts or "".join(a + b for a, b in parts) != str(value):
        raise errors.UsageError(f"timeout {value!r}: want seconds, or a text such as 30s or 5m")
    return sum(float(a) * _UNITS[b] for a, b in parts)


class RemoteGraph:
    """A graph of a server. The calls and their results are those of Graph."""

    renumbered = False
    closed = False
    _back = None

    def __init__(self, server: Server, name: str, options: Mapping[str, Any]):
        self.server, self.name, self._defaults = server, name, dict(options)
        self._body(None, None, {})

    def __repr__(self) -> str:
        return f"<weftgraph.RemoteGraph {self.name} of {self.server.url}>"

    def node_id(self, node: Hashable) -> Hashable:
        """Return the id that a query has for a node, which is the node."""
        return node

    def _body(self, query: str | None, params: Mapping[str, Any] | None, options: Mapping[str, Any], without: tuple[str, ...] = ()) -> dict[str, Any]:
        body: dict[str, Any] = {"graph": self.name}
        if query is not None:
            body["pattern" if _CATALOGUE.fullmatch(query.strip()) else "query"] = query.strip()
        if params:
            body["params"] = {k: v.tolist() if hasattr(v, "tolist") else list(v) if isinstance(v, (tuple, set, frozenset)) else v for k, v in params.items()}
        for name, value in {**{k: v for k, v in self._defaults.items() if k not in without}, **options}.items():
            if name in without:
                raise errors.UsageError(f"this call has no option {name}")
            if value is None:
                continue
            if name == "timeout":
                body["seconds"] = _seconds(value)
            elif name == "count":
                body["list"] = value
            elif name == "engine_opt":
                body["switches"] = {k: _switch(v) for k, v in value.items()}
            elif name in _FIELDS:
                body[name] = value
            else:
                raise errors.UsageError(f"a query of a server has no option {name}")
        return body

    def _reader(self, kind: str, query: str, options: Mapping[str, Any]) -> Callable[[Any], Any]:
        """Return the function that makes the result of a call from the server's answer."""

        def count(answer: Any) -> Count:
            which = options.get("count", self._defaults.get("count")) or _asked(query)
            result = Count._of(answer["result"], which, answer["run"].get("notes") or [])
            _cut(answer["run"], result)
            return result

        def match(answer: Any) -> list[Match]:  # of a job; RemoteRows reads rows while they come
            rows = [Match(row, self, query, options) for row in answer["rows"]]  # type: ignore[arg-type]
            _cut(answer["run"], rows)
            return rows

        def exists(answer: Any) -> bool:
            if answer["exists"] is None:
                _cut({**answer["run"], "complete": False}, None)
            return bool(answer["exists"])

        def motifs(answer: Any) -> dict[str, Count]:
            counts = {r["query"]: Count._of(r, None, []) for r in answer["results"]}
            _cut(answer["run"], counts)
            return counts

        def orbits(answer: Any) -> dict[Any, list[int]]:
            counts = {row["vertex"]: [int(n) for name, n in row.items() if name != "vertex"] for row in answer["rows"]}
            _cut(answer["run"], counts)
            return counts

        def participation(answer: Any) -> dict[Any, int]:
            counts = {next(v for n, v in row.items() if n != "participation"): int(row["participation"]) for row in answer["rows"]}
            _cut(answer["run"], counts)
            return counts

        def explain(answer: Any) -> Plan:
            from .picture import Plan

            _cut(answer["run"], None)
            return Plan(answer["plan"])

        def info(answer: Any) -> dict[str, Any]:
            return answer["info"]

        readers: dict[str, Callable[[Any], Any]] = {
            "count": count, "match": match, "exists": exists, "motifs": motifs, "orbits": orbits, "participation": participation, "explain": explain, "info": info}
        return readers[kind]

    # Each of these makes the request of a call.

    def _request_count(self, query: str, params: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        return self._body(query, params, options)

    _request_match = _request_count

    def _request_exists(self, query: str, params: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        return self._body(query, params, options, ("limit", "count"))

    def _request_motifs(self, k: int = 3, *, edge_induced: bool = False, directions: bool = True, **options: Any) -> dict[str, Any]:
        body = self._body(None, None, options, ("limit", "count", "semantics", "induced", "order", "seed", "allow_product"))
        return {**body, "k": k, "induced": not edge_induced, "directions": directions}

    def _request_orbits(self, k: int = 4, *, edge_induced: bool = False, directions: bool = True, **options: Any) -> dict[str, Any]:
        without = ("limit", "count", "semantics", "induced", "order", "seed", "allow_product", "engine", "device", "engine_opt")
        return {**self._body(None, None, options, without), "k": k, "induced": not edge_induced, "directions": directions}

    def _request_participation(self, query: str, vertex: str | None = None, params: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        body = self._body(query, params, options, ("limit", "count"))
        return body if vertex is None else {**body, "vertex": vertex}

    def _request_explain(self, query: str, params: Mapping[str, Any] | None = None, *, analyze: bool = False, **options: Any) -> dict[str, Any]:
        body = self._body(query, params, options, ("limit", "count"))
        return {**body, "profile": True} if analyze else body

    def _request_info(self) -> dict[str, Any]:
        return {"graph": self.name}

    def _call(self, kind: str, body: dict[str, Any], options: Mapping[str, Any]) -> Any:
        return self._reader(kind, body.get("query", body.get("pattern", "")), options)(self.server._ask("POST", "/v1/" + kind, body))

    def count(self, query: str, params: Mapping[str, Any] | None = None, **options: Any) -> Count:
        """Count the matches of a query (Graph.count)."""
        return self._call("count", self._request_count(query, params, **options), options)

    def match(self, query: str, params: Mapping[str, Any] | None = None, **options: Any) -> RemoteRows:
        """List the matches of a query (Graph.match)."""
        return RemoteRows(self, query, self._request_match(query, params, **options), options)

    def exists(self, query: str, params: Mapping[str, Any] | None = None, **options: Any) -> bool:
        """Tell whether a query has a match."""
        return self._call("exists", self._request_exists(query, params, **options), options)

    def motifs(self, k: int = 3, *, edge_induced: bool = False, directions: bool = True, **options: Any) -> dict[str, Count]:
        """Count all connected patterns of k vertices."""
        return self._call("motifs", self._request_motifs(k, edge_induced=edge_induced, directions=directions, **options), options)

    def orbits(self, k: int = 4, *, edge_induced: bool = False, directions: bool = True, **options: Any) -> dict[Any, list[int]]:
        """Count for each vertex how often it is at each orbit of the motifs of two to k vertices (Graph.orbits)."""
        return self._call("orbits", self._request_orbits(k, edge_induced=edge_induced, directions=directions, **options), options)

    def participation(self, query: str, vertex: str | None = None, params: Mapping[str, Any] | None = None, **options: Any) -> dict[Any, int]:
        """Count for each vertex of the graph in how many matches it plays a part."""
        return self._call("participation", self._request_participation(query, vertex, params, **options), options)

    def explain(self, query: str, params: Mapping[str, Any] | None = None, *, analyze: bool = False, **options: Any) -> Plan:
        """Return the plan of a query."""
        return self._call("explain", self._request_explain(query, params, analyze=analyze, **options), options)

    def start(self, call: str, *args: Any, **options: Any) -> Job:
        """Start a call without waiting for it, as ``g.start("count", "clique(5)")``, and return its job.

        Args:
            call: "count", "match", "exists", "motifs", "orbits", "participation", "explain" or "info".
            args, options: the arguments of this call.

        The server goes on with a job when this process ends, and keeps its result for a while (``weft serve --keep-jobs``). A
        job of "match" keeps at most 16 MiB of rows.
        """
        if call not in _CALLS:
            raise errors.UsageError(f"{call!r} cannot be a job: want one of {', '.join(_CALLS)}")
        body = getattr(self, "_request_" + call)(*args, **options)
        read = self._reader(call, body.get("query", body.get("pattern", "")), options)
        if call == "match":
            body["format"] = "ndjson"  # of which a part can be read
        return Job(self.server, JobStatus(self.server._ask("POST", "/v1/jobs", {**body, "kind": call})), read)

    def info(self) -> dict[str, Any]:
        """Return what the server tells about the graph."""
        return self._call("info", self._request_info(), {})

    def _columns(self, query: str, options: Mapping[str, Any]) -> list[str]:
        import csv

        connection, response = self.server._open("POST", "/v1/match", self._body(query, None, {**options, "limit": 1}), "text/csv")
        try:
            return next(csv.reader(response.read().decode().splitlines()[:1]), [])
        finally:
            connection.close()

    picture = Graph.picture

    def close(self) -> None:
        """Do nothing: the graph is the server's."""

    def __enter__(self) -> RemoteGraph:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class JobStatus(dict):
    """What a server tells about a job or a query: a dict, with its most used values as attributes.

    ``state`` is "waiting", "running" or "done". ``done`` of ``total`` parts of the search are over; ``total`` is 0 if it
    is not known. ``run`` tells how a job that is done ended.
    """

    @property
    def id(self) -> int:
        return int(self["id"])

    @property
    def kind(self) -> str:
        return str(self["kind"])

    @property
    def graph(self) -> str:
        return str(self["graph"])

    @property
    def query(self) -> str:
        return str(self.get("query", ""))

    @property
    def state(self) -> str:
        return str(self["state"])

    @property
    def rows(self) -> int:
        """The number of rows so far."""
        return int(self["rows"])

    @property
    def seconds(self) -> float:
        """The time that the query has run."""
        return float(self["seconds"])

    @property
    def fraction(self) -> float | None:
        """How much of the search is over, from 0 to 1, or None if it is not known."""
        if self.state == "done":
            return 1.0
        return self["done"] / self["total"] if self["total"] else None

    @property
    def over(self) -> bool:
        """Whether the job is done, or was cut short."""
        return "run" in self


class Job:
    """A call that a server runs and nobody needs to wait for (RemoteGraph.start). Safe for concurrent use."""

    def __init__(self, server: Server, status: JobStatus, read: Callable[[Any], Any]):
        self.server, self.id, self.kind = server, status.id, status.kind
        self._read = read
        self._path = f"/v1/jobs/{status.id}"

    def __repr__(self) -> str:
        return f"<weftgraph.Job {self.id}, {self.kind}, of {self.server.url}>"

    def status(self) -> JobStatus:
        """Return how far the job is."""
        return JobStatus(self.server._ask("GET", self._path))

    def progress(self, timeout: float | None = None) -> Iterator[JobStatus]:
        """Yield the status each time that it changes, and last when the job is over.

        If the job is not over after ``timeout`` seconds, Timeout is raised. The job goes on.
        """
        ends = None if timeout is None else time.monotonic() + timeout
        connection, response = self.server._open("GET", self._path + "/events", None, "text/event-stream")
        data = b""
        try:
            while True:
                if ends is not None:
                    left = ends - time.monotonic()
                    if left <= 0:
                        raise TimeoutError
                    if connection.sock is not None:
                        connection.sock.settimeout(left)
                line = response.readline()
                if not line:
                    raise errors.ServerError(f"{self.server.url}: the events of job {self.id} ended early")
                if line.startswith(b"data:"):
                    data += line[5:].strip()
                elif line.strip() == b"" and data:
                    status, data = JobStatus(json.loads(data)), b""
                    yield status
                    if status.over:
                        return
        except TimeoutError as e:
            raise errors.Timeout(f"job {self.id} is not over after {timeout} s; it goes on") from e
        except (OSError, http.client.HTTPException, ValueError) as e:
            if isinstance(e, errors.WeftError):
                raise
            raise errors.ServerError(f"{self.server.url}: the events of job {self.id} ended early: {e}") from e
        finally:
            connection.close()
            response.close()

    def wait(self, timeout: float | None = None) -> JobStatus:
        """Wait until the job is over, and return its status. After ``timeout`` seconds, raise Timeout; the job goes on."""
        status = None
        for status in self.progress(timeout):
            pass
        assert status is not None  # or progress has raised
        return status

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the job, and return what its call returns or raise what it raises. Of "match" this is a list of the rows.

        A job that was cancelled raises CutShort, whose ``partial`` is what was found so far.
        """
        run = self.wait(timeout)["run"]
        connection, response = self.server._open("GET", self._path + "/answer")
        try:
            form, answer = response.headers.get_content_type(), response.read()
        except (OSError, http.client.HTTPException) as e:
            raise errors.ServerError(f"{self.server.url}: the answer ended early: {e}") from e
        finally:
            connection.close()
            response.close()
        if form == "application/x-ndjson":
            return self._read({"rows": _whole_rows(answer), "run": run})
        if form != "application/json":
            raise errors.UsageError(f"job {self.id} has its rows as {form}: its result is for who started it")
        try:
            return self._read(json.loads(answer))
        except ValueError as e:
            if isinstance(e, errors.WeftError):
                raise
            _cut(run, None)
            raise errors.ServerError(f"{self.server.url}: the answer is not JSON: {e}") from e

    def cancel(self) -> None:
        """End the search of the job. Its result so far stays. A job that is over is left as it is."""
        if not self.status().over:
            self.server._do("DELETE", self._path)

    def forget(self) -> None:
        """Cancel the job, wait until it is over, and let the server forget its result."""
        self.cancel()
        self.wait()
        self.server._do("DELETE", self._path)


def _whole_rows(answer: bytes) -> list[dict[str, Any]]:
    """Return the rows of lines of JSON, without the line that says how the search ended, and without one that was cut off."""
    *lines, _ = answer.split(b"\n")
    rows = [json.loads(line) for line in lines]
    return rows[:-1] if rows and _is_run(rows[-1]) else rows


def _is_run(row: Mapping[str, Any]) -> bool:
    """Tell whether a line is not a row but says how the search ended. An edge that a query calls weft is not."""
    run = row.get("weft")
    return len(row) == 1 and isinstance(run, dict) and "complete" in run and "src" not in run


class RemoteRows(Rows):
    """The rows of a listing of a server. The search waits for a slow reader; its end ends the search."""

    def __init__(self, graph: RemoteGraph, query: str, body: Mapping[str, Any], options: Mapping[str, Any]):
        super().__init__(graph, query, [], options)  # type: ignore[arg-type]
        self._server, self._request = graph.server, dict(body)
        self._connection: http.client.HTTPConnection | None = None

    def _begin(self, accept: str) -> http.client.HTTPResponse:
        if self._started:
            raise ValueError("the rows have been read already; call match again")
        self._started = True
        self._connection, response = self._server._open("POST", "/v1/match", self._request, accept)
        return response

    def __iter__(self) -> Iterator[Match]:
        response = self._begin("application/x-ndjson")
        connection = self._connection
        try:
            for line in self._lines(response):
                row = json.loads(line)
                if _is_run(row):
                    run = row["weft"]
                    self.complete = bool(run["complete"])
                    _cut(run, None)
                    return
                yield Match(row, self._graph, self._query, self._options)
            self.complete = True
        finally:
            if self.complete is None:
                self.complete = False
            if connection is not None:
                connection.close()
                response.close()

    def _lines(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        # HTTPResponse.readline takes a connection that breaks between two chunks for the end; read1 does not.
        rest = b""
        while True:
            try:
                part = response.read1(1 << 16)
            except (OSError, http.client.HTTPException, ValueError) as e:
                raise errors.ServerError(f"{self._server.url}: the rows ended early: {e}") from e
            if not part:
                break
            *whole, rest = (rest + part).split(b"\n")
            yield from whole
        if rest:
            raise errors.ServerError(f"{self._server.url}: the rows ended early, in the middle of one")

    def to_arrow(self) -> pyarrow.Table:
        """Return all rows as a pyarrow.Table. Needs pyarrow 11 or later.

        If the server cut the rows short, for another reason than the caller's limit, errors.CutShort is raised, whose ``partial``
        is the table of the rows until then. The stream does not tell the reason.
        """
        import pyarrow

        response, batches, complete = self._begin("application/vnd.apache.arrow.stream"), [], True
        try:
            with pyarrow.ipc.open_stream(response) as reader:
                for batch, metadata in reader.iter_batches_with_custom_metadata():
                    if metadata is not None and metadata.get(b"weft.complete") == b"false":
                        complete = False
                    batches.append(batch)
                table = pyarrow.Table.from_batches(batches, reader.schema)
            self.complete = complete
        except (OSError, http.client.HTTPException) as e:
            raise errors.ServerError(f"{self._server.url}: the rows ended early: {e}") from e
        finally:
            self.close()
        limit = self._request.get("limit")
        if not complete and (limit is None or table.num_rows < limit):
            raise errors.CutShort("the server cut the result short", reason="unknown", partial=table)
        return table

    def close(self) -> None:
        """End the search."""
        self._started = True
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            if self.complete is None:
                self.complete = False
