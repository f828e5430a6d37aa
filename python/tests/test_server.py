"""Graphs of a server, against the same graphs in files. Skipped if the program has no weft serve."""

import os
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

import weftgraph as weft
from weftgraph import _process
from weftgraph.server import Job, JobStatus, RemoteGraph

TRIANGLE = "MATCH (a)--(b)--(c)--(a)"


def start(folder, *flags):
    """Start weft serve with the graphs of a folder; return the process and its port."""
    program = _process.find_binary()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    child = subprocess.Popen([program, "serve", "-g", folder / "k4.txt", "-g", folder / "follows.csv", "-g", folder / "k40.txt", "--listen", f"localhost:{port}", *flags],
                             stderr=subprocess.PIPE, text=True)
    for line in child.stderr:
        if "answering at" in line:
            break
    else:
        pytest.fail(f"weft serve ended: {child.wait()}")
    threading.Thread(target=child.stderr.read, daemon=True).start()
    return child, port


def stop(child):
    child.send_signal(signal.SIGTERM)
    assert child.wait(60) in (0, 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if subprocess.run([_process.find_binary(), "serve", "--help"], capture_output=True).returncode != 0:
        pytest.skip("this program has no weft serve")
    folder = tmp_path_factory.mktemp("served")
    (folder / "k4.txt").write_text("1 2\n1 3\n1 4\n2 3\n2 4\n3 4\n4 5\n")
    (folder / "follows.csv").write_text("src,dst,label,since\nann,bob,FOLLOWS,2001\nbob,ann,FOLLOWS,2003\nann,cyd,FOLLOWS,2002\ncyd,dan,BLOCKS,2004\n")
    (folder / "k40.txt").write_text("".join(f"{u} {v}\n" for u in range(40) for v in range(u)))
    return folder


@pytest.fixture(scope="module")
def served(folder):
    child, port = start(folder)
    yield weft.connect(f"http://localhost:{port}"), folder
    stop(child)


@pytest.fixture(scope="module")
def secured(folder, tmp_path_factory):
    """A server with a certificate that it made itself, and two users."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    keys = tmp_path_factory.mktemp("keys")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=weft",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", keys / "key.pem", "-out", keys / "cert.pem"], check=True, capture_output=True)
    add = [_process.find_binary(), "user", "add", "--users", keys / "users.jsonl"]
    subprocess.run([*add, "ana", "--graphs", "k4,k40"], input="correct horse\n", text=True, check=True, capture_output=True)
    token = subprocess.run([*add, "ana", "--graphs", "k4,k40", "--token"], text=True, check=True, capture_output=True).stdout.strip()
    child, port = start(folder, "--tls-cert", keys / "cert.pem", "--tls-key", keys / "key.pem", "--users", keys / "users.jsonl")
    yield f"https://localhost:{port}", keys / "cert.pem", token
    stop(child)


def test_same_answers(served):
    server, folder = served
    assert sorted(server.graphs()) == ["follows", "k4", "k40"]
    far, near = server.graph("k4"), weft.open(folder / "k4.txt")
    for query, options in ((TRIANGLE, {}), (TRIANGLE + " RETURN count(*)", {}), ("wedge", {"semantics": "hom"}), ("wedge", {"induced": True}),
                           (TRIANGLE, {"engine": "oracle", "threads": 1, "timeout": "5m"})):
        a, b = far.count(query, **options), near.count(query, **options)
        assert (a, a.subgraphs, a.embeddings, a.complete) == (b, b.subgraphs, b.embeddings, b.complete)
    key = lambda rows: sorted(map(repr, rows))
    assert key(far.match("MATCH (a)--(b) WHERE id(a) IN $x RETURN a, b", {"x": [1, 2]})) == key(near.match("MATCH (a)--(b) WHERE id(a) IN $x RETURN a, b", {"x": [1, 2]}))
    assert far.exists("clique(4)") and not far.exists("clique(5)")
    assert far.motifs(3) == near.motifs(3) and far.motifs(3, edge_induced=True) == near.motifs(3, edge_induced=True)
    assert far.orbits() == near.orbits() and far.orbits(5, edge_induced=True) == near.orbits(5, edge_induced=True)
    assert far.participation("triangle", "v0") == near.participation("triangle", "v0")
    assert far.info()["edges"] == 7
    assert far.explain(TRIANGLE).vertices == near.explain(TRIANGLE).vertices
    assert far.picture({"a": 1})._repr_svg_() == near.picture({"a": 1})._repr_svg_()
    assert server.graph("follows").match("MATCH (a)-[weft]->(b) WHERE weft.since = 2004 RETURN weft").to_list() == [
        {"weft": {"src": "cyd", "dst": "dan", "label": "BLOCKS", "since": 2004}}]


def test_rows(served):
    g = served[0].graph("k40")
    with g.match("clique(5)") as rows:
        assert len(next(iter(rows))) == 5
    assert rows.complete is False
    rows = g.match("triangle", limit=3)
    assert len(rows.to_list()) == 3 and rows.complete is False
    rows = g.match("triangle")
    assert sum(1 for _ in rows) == 9880 and rows.complete is True


def test_pandas(served):
    pytest.importorskip("pandas")
    g = served[0].graph("follows")
    assert len(g.match("MATCH (a)-[:FOLLOWS]->(b) RETURN a, b").to_pandas()) == 3
    assert list(g.match("MATCH (a)-[:NOPE]->(b) RETURN a, b").to_pandas().columns) == ["a", "b"]


def test_arrow(served):
    pyarrow = pytest.importorskip("pyarrow")
    g = served[0].graph("follows")
    table = g.match("MATCH (a)-[:BLOCKS]->(b) RETURN a, b").to_arrow()
    assert isinstance(table, pyarrow.Table) and table.to_pylist() == [{"a": "cyd", "b": "dan"}]
    assert g.match("MATCH (a)-[:NOPE]->(b) RETURN a, b").to_arrow().column_names == ["a", "b"]
    assert served[0].graph("k40").match("triangle").to_arrow().num_rows == 9880
    with pytest.raises(weft.QueryError):
        g.match("MATCH (a)--(").to_arrow()
    rows = g.match("MATCH (a)--(b)")
    assert rows.to_arrow().num_rows == len(g.match("MATCH (a)--(b)").to_list()) and rows.complete is True
    rows = served[0].graph("k40").match("triangle", limit=10)
    assert rows.to_arrow().num_rows == 10 and rows.complete is False
    with pytest.raises(weft.CutShort, match="cut the result short") as e:
        served[0].graph("k40").match("clique(8)", timeout=0.2).to_arrow()
    assert isinstance(e.value.partial, pyarrow.Table) and e.value.partial.num_rows > 0


def test_errors(served):
    server, _ = served
    g = server.graph("k4")
    with pytest.raises(weft.QueryError) as e:
        g.count("MATCH (a)--(b")
    assert (e.value.line, e.value.column) == (1, 14) and "^" in str(e.value)
    with pytest.raises(weft.UsageError):
        g.count(TRIANGLE, engine="nope")
    with pytest.raises(weft.UsageError, match="no option memory"):
        g.count(TRIANGLE, memory="1G")
    with pytest.raises(weft.DeviceError):
        g.count(TRIANGLE, device="gpu:99")
    with pytest.raises(weft.ServerError) as e:
        server.graph("absent")
    assert (e.value.status, e.value.kind) == (404, "unknown_graph")
    with pytest.raises(weft.UsageError, match="name one"):
        server.graph()
    with pytest.raises(weft.ServerError):
        weft.connect("http://localhost:1").graphs()


def test_timeout(served):
    g = served[0].graph("k40")
    with pytest.raises(weft.Timeout) as e:
        g.count("cycle(12)", engine="oracle", timeout=0.3)
    assert not e.value.partial.complete
    with pytest.raises(weft.Timeout) as e:
        g.match("cycle(12)", engine="oracle", timeout=0.3).to_list()
    assert isinstance(e.value.partial, list)


def test_credentials():
    for options in ({"user": "x"}, {"token": "t", "user": "x", "password": "y"}):
        with pytest.raises(weft.UsageError):
            weft.connect("http://localhost", **options)
    with pytest.raises(weft.UsageError, match="without TLS"):
        weft.connect("http://example.org", token="t")
    with pytest.raises(weft.UsageError):
        weft.connect("localhost:8642")
    assert weft.connect("http://localhost", user="é", password="p")._headers["Authorization"] == "Basic w6k6cA=="
    assert weft.connect("https://example.org", token="t")._headers["Authorization"] == "Bearer t"


def test_tls_and_users(secured, folder):
    url, certificate, token = secured
    for server in (weft.connect(url, user="ana", password="correct horse", ca=certificate), weft.connect(url, token=token, ca=os.fspath(certificate))):
        assert sorted(server.graphs()) == ["k4", "k40"]
        g = server.graph("k4")
        assert g.count(TRIANGLE) == 4
        assert len(g.match(TRIANGLE, count="embeddings").to_list()) == 24
        assert g.start("exists", "clique(4)").result(60) is True
        with pytest.raises(weft.ServerError) as e:  # as if it were not there
            server.graph("follows")
        assert (e.value.status, e.value.kind) == (404, "unknown_graph")
        g = server.graph("k40")
        with g.match("clique(5)") as rows:
            next(iter(rows))
    for credentials in ({"user": "ana", "password": "wrong"}, {"token": token[:-1] + ("a" if token[-1] != "a" else "b")}, {}):
        with pytest.raises(weft.ServerError) as e:
            weft.connect(url, ca=certificate, **credentials).graphs()
        assert e.value.status == 401, credentials


def test_certificates(secured, tmp_path):
    url, certificate, token = secured
    with pytest.raises(weft.ServerError, match="ca= names a file"):
        weft.connect(url, token=token).graphs()
    with pytest.warns(UserWarning, match="not checked"):
        server = weft.connect(url, token=token, insecure=True)
    assert sorted(server.graphs()) == ["k4", "k40"]
    with pytest.raises(weft.InputError, match="nothing.pem"):
        weft.connect(url, ca=tmp_path / "nothing.pem")
    (tmp_path / "bad.pem").write_text("not a certificate")
    with pytest.raises(weft.InputError, match="bad.pem"):
        weft.connect(url, ca=tmp_path / "bad.pem")
    with pytest.raises(weft.UsageError, match="choose"):
        weft.connect(url, ca=certificate, insecure=True)
    with pytest.raises(weft.UsageError, match="for https"):
        weft.connect("http://localhost", ca=certificate)
    with pytest.raises(weft.ServerError):  # HTTP where TLS is expected
        weft.connect(url.replace("https", "http"), token=token).graphs()


def test_jobs_have_the_results_of_calls(served):
    server, folder = served
    g = server.graph("k4")
    key = lambda rows: sorted(map(repr, rows))
    jobs = {
        "count": g.start("count", TRIANGLE + " RETURN count(*)"),
        "match": g.start("match", "MATCH (a)--(b) WHERE id(a) IN $x RETURN a, b", {"x": [1, 2]}),
        "exists": g.start("exists", "clique(5)"),
        "motifs": g.start("motifs", 3, edge_induced=True),
        "orbits": g.start("orbits", 3),
        "participation": g.start("participation", "triangle", "v0"),
        "explain": g.start("explain", TRIANGLE),
        "info": g.start("info"),
    }
    assert jobs["count"].result(60) == 24
    assert key(jobs["match"].result(60)) == key(g.match("MATCH (a)--(b) WHERE id(a) IN $x RETURN a, b", {"x": [1, 2]}))
    assert jobs["exists"].result(60) is False
    assert jobs["motifs"].result(60) == g.motifs(3, edge_induced=True)
    assert jobs["orbits"].result(60) == g.orbits(3)
    assert jobs["participation"].result(60) == g.participation("triangle", "v0")
    assert jobs["explain"].result(60).vertices == g.explain(TRIANGLE).vertices
    assert jobs["info"].result(60)["edges"] == 7
    assert jobs["count"].result() == 24  # again
    again = server.job(jobs["count"].id)  # as from another process
    assert (again.kind, again.result(60)) == ("count", 24)
    assert isinstance(g.start("match", "edge", limit=2).result(60)[0], weft.Match)
    jobs["count"].forget()
    with pytest.raises(weft.ServerError) as e:
        jobs["count"].status()
    assert e.value.status == 404


def test_jobs_that_fail(served):
    g = served[0].graph("k40")
    with pytest.raises(weft.QueryError) as e:
        g.start("count", "MATCH (a)--(b")
    assert (e.value.line, e.value.column) == (1, 14)
    with pytest.raises(weft.UsageError, match="cannot be a job"):
        g.start("picture", {})
    with pytest.raises(weft.UsageError, match="no option memory"):
        g.start("count", TRIANGLE, memory="1G")
    job = g.start("count", "cycle(12)", engine="oracle", timeout=0.3)
    with pytest.raises(weft.Timeout) as e:
        job.result(60)
    assert not e.value.partial.complete
    with pytest.raises(weft.CutShort) as e:  # more than a job may keep
        g.start("match", "clique(6)").result(300)
    assert e.value.reason == "size" and len(e.value.partial) > 100_000 and sorted(e.value.partial[0]) == ["v0", "v1", "v2", "v3", "v4", "v5"]


def test_progress_and_cancelling(served):
    server, _ = served
    g = server.graph("k40")
    slow = {"engine_opt": {"plan.method": "nest", "plan.tail": False}}
    job = g.start("count", "cycle(10)", **slow)
    states = job.progress()
    first = next(states)
    assert first.state in ("waiting", "running") and not first.over and first.id == job.id
    while not first.fraction:
        first = next(states)
    assert first.state == "running" and first.seconds > 0 and first.rows == 0 and 0 < first.fraction < 1
    assert [s for s in server.running() if s.id == job.id][0].query == "cycle(10)"
    begun = time.monotonic()
    with pytest.raises(weft.Timeout, match="it goes on"):
        job.wait(0.3)
    assert 0.2 < time.monotonic() - begun < 30 and not job.status().over
    job.cancel()
    *_, last = states
    assert last.over and last.state == "done" and last.fraction == 1 and last["run"]["cut"] == "cancel"
    with pytest.raises(weft.CutShort) as e:
        job.result(60)
    assert e.value.reason == "cancel" and e.value.partial >= 0 and not e.value.partial.complete
    job.cancel()  # does nothing
    assert job.status().over and all(s.id != job.id for s in server.running())
    job.forget()


def test_events_that_end_early():
    """A connection that breaks is an error, and not the end of the job."""
    status = b'{"id":7,"kind":"count","graph":"g","state":"running","rows":0,"done":0,"total":0,"seconds":0}'
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def answer():
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                data = b"event: progress\ndata: " + status + b"\n\nevent: done\nda"
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % len(data) + data + b"\r\n")

        worker = threading.Thread(target=answer)
        worker.start()
        server = weft.connect(f"http://127.0.0.1:{listener.getsockname()[1]}")
        states = Job(server, JobStatus(id=7, kind="count"), lambda answer: answer).progress()
        assert next(states).state == "running"
        with pytest.raises(weft.ServerError, match="early"):
            next(states)
        worker.join(10)


@pytest.mark.parametrize("sent, whole", [
    (b"8\r\n{\"a\":1}\n\r\n0\r\nWeft-Complete: true\r\n\r\n", True),
    (b"8\r\n{\"a\":1}\n\r\n", False),  # the connection ends between two chunks,
    (b"8\r\n{\"a\":1}\n\r\n8\r\n{\"a\"", False),  # inside one,
    (b"8\r\n{\"a\":1}\n\r\n8", False),  # and inside the size of one
])
def test_rows_that_end_early(sent, whole):
    """A connection that breaks is an error, and not the end of the rows."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def answer():
            connection, _ = listener.accept()
            with connection:
                request = b""
                while b"\r\n\r\n" not in request:
                    request += connection.recv(65536)
                length = int(request.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                while len(request.split(b"\r\n\r\n", 1)[1]) < length:
                    request += connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Weft-Complete\r\n\r\n" + sent)

        worker = threading.Thread(target=answer)
        worker.start()
        graph = RemoteGraph(weft.connect(f"http://127.0.0.1:{listener.getsockname()[1]}"), "g", {})
        rows = graph.match("MATCH (a)")
        if whole:
            assert rows.to_list() == [{"a": 1}] and rows.complete is True
        else:
            with pytest.raises(weft.ServerError, match="early"):
                rows.to_list()
            assert rows.complete is False
        worker.join(10)
