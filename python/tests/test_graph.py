"""Graphs, counts, rows, errors and clean ends, over the program."""

import doctest
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import xml.dom.minidom

import pytest

import weftgraph as weft
from weftgraph import _process, errors

TRIANGLE = "MATCH (a)--(b)--(c)--(a)"
K4 = "1 2\n1 3\n1 4\n2 3\n2 4\n3 4\n4 5\n"


@pytest.fixture
def k4(tmp_path):
    (tmp_path / "k4.txt").write_text(K4)
    return weft.open(tmp_path / "k4.txt")


@pytest.fixture
def follows(tmp_path):
    (tmp_path / "follows.csv").write_text("src,dst,label,since\nann,bob,FOLLOWS,2001\nbob,ann,FOLLOWS,2003\nann,cyd,FOLLOWS,2002\ncyd,dan,BLOCKS,2004\n")
    return weft.open(tmp_path / "follows.csv", directed=True)


def slow():
    """A graph and a pattern whose search takes hours."""
    return weft.from_edges([(u, v) for u in range(60) for v in range(u)]), dict(query="cycle(12)", engine="oracle")


def leftovers():
    return {p.name for p in pathlib.Path(tempfile.gettempdir()).glob("weftgraph-*")}


def test_count(k4):
    n = k4.count(TRIANGLE)
    assert n == 4 and n.embeddings == 24 and n.complete and n.engine == "host"
    assert k4.count(TRIANGLE + " RETURN count(*)") == 24
    assert k4.count(TRIANGLE, count="embeddings") == 24
    assert k4.count("wedge", semantics="hom") == 44
    assert k4.count("wedge", induced=True) == 3
    assert k4.count("clique(4)") == 1
    assert n + 1 == 5 and type(n + 1) is int


def test_counts_beyond_2_53():
    # A star of 5000 leaves has 5000·…·4996 ordered choices of five.
    with weft.from_edges([(0, i) for i in range(1, 5001)]) as g:
        assert g.count("star(5)", count="embeddings") == 5000 * 4999 * 4998 * 4997 * 4996 > 2**53


def test_limit_says_incomplete(k4):
    n = k4.count(TRIANGLE, limit=2)
    assert not n.complete and n >= 2 and "cut short" in repr(n)


def test_match(k4, follows):
    assert sorted(sorted(m.values()) for m in k4.match(TRIANGLE)) == [[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]]
    rows = follows.match("MATCH (a)-[e]->(b) WHERE e.since = $year RETURN a, e", {"year": 2004})
    assert rows.to_list() == [{"a": "cyd", "e": {"src": "cyd", "dst": "dan", "label": "BLOCKS", "since": 2004}}]
    assert rows.complete
    with pytest.raises(ValueError):
        rows.to_list()


def test_match_stops_early():
    g, _ = slow()
    with g, g.match("path(6)") as rows:
        found = iter(rows)
        assert len(next(found)) == 6
        child = rows._process._child
        assert child.poll() is None  # a search of hours, which goes on
    assert rows.complete is False
    assert child.poll() is not None


def test_to_pandas(follows):
    pandas = pytest.importorskip("pandas")
    frame = follows.match("MATCH (a)-[:FOLLOWS]->(b) RETURN a, b, deg(a)").to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == ["a", "b", "deg(a)"] and len(frame) == 3
    assert list(follows.match("MATCH (a)-[:NOPE]->(b) RETURN a, b").to_pandas().columns) == ["a", "b"]


def test_to_arrow(follows):
    pytest.importorskip("pyarrow")
    assert follows.match("MATCH (a)-[:BLOCKS]->(b) RETURN a, b").to_arrow().to_pylist() == [{"a": "cyd", "b": "dan"}]
    rows = follows.match("MATCH (a)-[e]->(b)", limit=2)
    assert rows.to_arrow().num_rows == 2 and rows.complete is True


def test_parameters(follows):
    assert follows.count("MATCH (a)-[e]->(b) WHERE id(a) IN $ids", {"ids": ["ann", "cyd"]}) == 3
    assert follows.count("MATCH (a)-[e]->(b) WHERE id(a) = $x", {"x": "it's \"quoted\""}) == 0
    with pytest.raises(TypeError):
        follows.count(TRIANGLE, {"x": object()})


def test_exists_motifs_participation(k4):
    assert k4.exists("clique(4)") is True and k4.exists("clique(5)") is False
    assert k4.motifs(3) == {"wedge": 3, "triangle": 4}
    assert k4.orbits(3)[5] == [1, 3, 0, 0] and len(k4.orbits()[5]) == 15
    five = k4.orbits(5)
    assert len(five[5]) == 73 and five[5][56] == 1 and five[5][:15] == k4.orbits()[5] and sum(five[4][15:]) == 1
    with pytest.raises(weft.UsageError, match="3, 4 or 5"):
        k4.orbits(6)
    want = {1: 3, 2: 3, 3: 3, 4: 3, 5: 0}
    assert k4.participation(TRIANGLE + " RETURN participation(a)") == want
    assert k4.participation("triangle", "v0") == want
    with pytest.raises(weft.UsageError):
        k4.participation(TRIANGLE)


def test_directed_motifs(follows):
    assert {k: v for k, v in follows.motifs(3).items() if v} == {"triad_021C": 1, "triad_111U": 1}
    assert follows.motifs(3, directions=False) == {"wedge": 2, "triangle": 0}


def test_info(k4):
    assert (k4.info()["vertices"], k4.info()["edges"]) == (5, 7)


def test_query_that_begins_with_a_dash(k4):
    with pytest.raises(weft.QueryError):
        k4.count("--help me")


def test_errors(k4, tmp_path):
    with pytest.raises(weft.QueryError) as e:
        k4.count("MATCH (a)--(b")
    assert (e.value.line, e.value.column, e.value.code) == (1, 14, 4)
    assert str(e.value).splitlines()[2].endswith("^")
    with pytest.raises(weft.UsageError):
        k4.count(TRIANGLE, engine="nope")
    with pytest.raises(weft.UsageError, match="no option engin"):
        k4.count(TRIANGLE, engin="host")
    with pytest.raises(weft.InputError):
        weft.open(tmp_path / "absent")
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n9 9\n")
    with pytest.raises(weft.InputError):
        weft.open(tmp_path / "bad.mtx").count(TRIANGLE)
    with pytest.raises(MemoryError):
        k4.count(TRIANGLE, memory="1K")
    with pytest.raises(weft.BinaryNotFound):
        weft.open(tmp_path / "bad.mtx", binary="/nowhere/weft")


def test_device_error(k4):
    with pytest.raises(weft.DeviceError) as e:
        k4.count(TRIANGLE, device="gpu:99")
    assert e.value.code == 6


def test_timeout_has_the_partial_result():
    g, call = slow()
    with g, pytest.raises(weft.Timeout) as e:
        g.count(**call, timeout=0.3)
    assert e.value.partial is not None and not e.value.partial.complete
    assert isinstance(e.value, TimeoutError)


def test_timeout_of_a_listing():
    g, call = slow()
    with g:
        rows = g.match(**call, timeout=0.3)
        with pytest.raises(weft.Timeout) as e:
            rows.to_list()
        assert rows.complete is False and isinstance(e.value.partial, list)
        with pytest.raises(weft.Timeout) as e:
            g.participation("MATCH (a)--(b)--(c)--(d)--(e)--(f)--(g)--(h)--(a)", "a", timeout=0.3, engine="oracle")


def test_interrupt():
    """Ctrl-C ends the search and its process, and keeps the partial result."""
    before = leftovers()
    program = textwrap.dedent("""
        import weftgraph as weft
        g = weft.from_edges([(u, v) for u in range(60) for v in range(u)])
        print("ready", flush=True)
        try:
            g.count("cycle(12)", engine="oracle")
        except KeyboardInterrupt as e:
            assert isinstance(e, weft.Interrupted) and not e.partial.complete, e
            print("interrupted", flush=True)
    """)
    child = subprocess.Popen(  # what starts tests in the background may ignore the signal, and children inherit that
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert child.stdout.readline() == "ready\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out == "interrupted\n" and child.returncode == 0
    assert leftovers() == before


def test_close_removes_files():
    before = leftovers()
    g = weft.from_edges([(1, 2)])
    assert leftovers() != before
    with g:
        assert g.count("MATCH (a)--(b)") == 1
    assert leftovers() == before
    with pytest.raises(ValueError):
        g.count("MATCH (a)--(b)")
    with pytest.raises(TypeError):
        weft.from_edges([(1, 2, {"x": object()})])
    assert leftovers() == before


def test_conversion(k4, tmp_path):
    g = weft.open(tmp_path / "k4.txt", convert=True)
    before = leftovers()
    with g:
        assert g.count(TRIANGLE) == 4 == g.count(TRIANGLE)
        (tmp_path / "k4.txt").unlink()  # later queries read the converted file
        assert g.count(TRIANGLE) == 4
    assert leftovers() == before


@pytest.mark.parametrize("nodes", [
    [0, 5, 2**62], ["a", "b", "c"], ["1", "01", "2"], [(1, 2), None, "x"], [-1, 0, 1], [True, 0, "node:0"], [1.5, "", "a\tb"],
    ["NA", "é\u2028", "<&>\"'"],
])
def test_any_node(nodes):
    a, b, c = nodes
    with weft.from_edges([(a, b), (b, c)]) as g:
        found = {frozenset(m.values()) for m in g.match("MATCH (x)--(y) RETURN x, y")}
        assert found == {frozenset((a, b)), frozenset((b, c))}
        assert g.participation("MATCH (x)--(y)", "x") == {a: 1, b: 2, c: 1}
        rows = g.match("MATCH (x)--(y) WHERE id(x) = $x RETURN y", {"x": g.node_id(a)}).to_list()
        assert rows == [{"y": b}]


def test_attributes():
    with weft.from_edges(
        [(1, 2, {"label": "PAYS", "amount": 2.5, "note": ""}), (2, 3, {"amount": 9007199254740993.0, "ok": True})],
        {1: {"label": "Person", "name": "<é>\n\"x\""}, 9: {}}, directed=True,
    ) as g:
        assert g.info()["vertices"] == 4
        assert g.match("MATCH (a:Person)-[e:PAYS]->(b) RETURN a.name, e").to_list() == [
            {"a.name": "<é>\n\"x\"", "e": {"src": 1, "dst": 2, "label": "PAYS", "amount": 2.5, "note": "", "ok": None}}]
    with pytest.raises(TypeError, match="edge_attributes"):
        weft.from_edges([(1, 2, {"x": 1}), (2, 3, {"x": "one"})])


def test_multi_edges_and_loops():
    with weft.from_edges([(1, 2), (1, 2), (3, 3)], multi=True) as g:
        assert g.count("MATCH (a)-[e]-(b)") == 2
        assert any("self-loop" in n for n in g.notes)
    with weft.from_edges([(1, 2), (1, 2)]) as g:
        assert g.count("MATCH (a)-[e]-(b)") == 1
    with weft.from_edges([], [1, 2]) as g:
        assert g.count("MATCH (a)--(b)") == 0 and g.info()["vertices"] == 2


def test_from_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": [1, 2, 3], "target": [2, 3, 1], "w": [1.5, None, 2]})
    with weft.from_pandas(frame) as g:
        assert g.count(TRIANGLE) == 1
        assert g.count("MATCH (a)-[e]-(b) WHERE e.w > 1") == 2
    with weft.from_pandas(frame, directed=True, attributes=False) as g:
        assert g.count("MATCH (a)-->(b)-->(c)-->(a)") == 1


def test_threads():
    with weft.from_edges([(u, v) for u in range(20) for v in range(u)]) as g:
        found = []
        workers = [threading.Thread(target=lambda: found.append(int(g.count("triangle")))) for _ in range(4)]
        [w.start() for w in workers]
        [w.join() for w in workers]
        assert found == [1140] * 4


def test_pictures(k4, follows):
    plan = follows.explain("MATCH (a)-[e:FOLLOWS]->(b), NOT (b)-->(a)")
    assert sorted(plan.vertices) == ["a", "b"]
    assert sorted(plan.pattern.edges) == [("a", "b", "FOLLOWS", True, False), ("b", "a", "", True, True)]
    assert "for a" in repr(plan)
    match = next(iter(follows.match("MATCH (a)-[:FOLLOWS]->(b), NOT (b)-->(a) RETURN a, b")))
    pictures = [plan, plan.pattern, match, k4.explain(TRIANGLE, analyze=True), k4.picture({"a": 1, "b": 2}),
                next(iter(k4.match("triangle"))), weft.from_edges([("<", "&")]).picture({"x": "<"})]
    for p in pictures:
        first = p._repr_svg_()
        assert xml.dom.minidom.parseString(first).documentElement.tagName == "svg"
        assert first == p._repr_svg_()
    assert "stroke-dasharray" in plan.pattern._repr_svg_()
    assert k4.explain(TRIANGLE, analyze=True)._repr_svg_().count("<rect") >= 4


def test_messages():
    assert errors.messages("weft: a\nweft: b\n  c\n   ^\n") == ["a", "b\n  c\n   ^"]
    assert type(errors.from_exit(7, "")) is weft.WeftError


def test_binary_is_found(monkeypatch, tmp_path):
    found = _process.find_binary()
    assert os.access(found, os.X_OK)
    monkeypatch.setenv("WEFT_BINARY", str(tmp_path / "none"))
    with pytest.raises(weft.BinaryNotFound, match="WEFT_BINARY"):
        _process.find_binary()


@pytest.mark.parametrize("module", ["weftgraph"])
def test_doctests(module):
    assert doctest.testmod(__import__(module)).failed == 0
