"""The backend of networkx, and its counts, against networkx itself."""

import doctest
import os
import pathlib
import subprocess
import sys

import pytest

nx = pytest.importorskip("networkx")
import weftgraph.networkx as wx  # noqa: E402

BACKEND = wx.backend_interface
DISPATCH = hasattr(nx.utils, "backends")


@pytest.fixture(params=range(3))
def undirected(request):
    G = nx.gnp_random_graph(20, 0.2 + 0.2 * request.param, seed=request.param)
    return nx.relabel_nodes(G, {0: "zero", 1: (1,)})


def test_same_as_networkx(undirected):
    G = undirected
    for name in ("triangles", "clustering", "square_clustering", "transitivity", "average_clustering"):
        assert getattr(BACKEND, name)(G) == pytest.approx(getattr(nx, name)(G)), name
    for nodes in ("zero", [2, "zero"], [99, 3]):
        for name in ("triangles", "clustering", "square_clustering"):
            assert getattr(BACKEND, name)(G, nodes) == pytest.approx(getattr(nx, name)(G, nodes)), (name, nodes)
    assert BACKEND.average_clustering(G, count_zeros=False) == pytest.approx(nx.average_clustering(G, count_zeros=False))


def test_loops_are_left_out():
    G = nx.complete_graph(4)
    G.add_edge(0, 0)
    for name in ("triangles", "clustering", "transitivity"):
        assert getattr(BACKEND, name)(G) == getattr(nx, name)(G)
    assert BACKEND.can_run("square_clustering", (G,), {}) is not True


@pytest.mark.parametrize("seed", range(2))
def test_triadic_census(seed):
    G = nx.gnp_random_graph(14, 0.2, seed=seed, directed=True)
    assert BACKEND.triadic_census(G) == nx.triadic_census(G)
    assert BACKEND.triadic_census(nx.DiGraph([(0, 1)])) == nx.triadic_census(nx.DiGraph([(0, 1)]))


@pytest.mark.parametrize("seed", range(4))
def test_directed_clustering(seed):
    G = nx.gnp_random_graph(15, 0.15 + 0.15 * seed, seed=seed, directed=True)
    G.add_edge(3, 3)
    G = nx.relabel_nodes(G, {0: "zero", 1: (1,)})
    for nodes in (None, "zero", [2, "zero"], [99, 3]):
        assert BACKEND.clustering(G, nodes) == pytest.approx(nx.clustering(G, nodes)), nodes
    assert any(BACKEND.clustering(G).values())
    assert BACKEND.average_clustering(G) == pytest.approx(nx.average_clustering(G))
    assert BACKEND.clustering(nx.DiGraph([(0, 1), (1, 0)])) == {0: 0, 1: 0}


@pytest.mark.parametrize("seed", range(4))
def test_triads_of_chosen_nodes(seed):
    G = nx.gnp_random_graph(14, 0.1 + 0.1 * seed, seed=seed, directed=True)
    for nodes in ([], [3], [0, 5, 7], list(range(12)), list(G)):
        assert BACKEND.triadic_census(G, nodes) == nx.triadic_census(G, nodes), nodes
    for nodes in ([1, 1], [1, 99]):
        with pytest.raises(ValueError, match="duplicate"):
            BACKEND.triadic_census(G, nodes)
        with pytest.raises(ValueError, match="duplicate"):
            nx.triadic_census(G, nodes)
    G.add_edge(2, 2)
    assert BACKEND.can_run("triadic_census", (G, [2]), {}) is not True and BACKEND.can_run("triadic_census", (G,), {}) is True
    assert BACKEND.triadic_census(G) == nx.triadic_census(G)


def test_empty():
    G = nx.Graph()
    assert BACKEND.triangles(G) == {} and BACKEND.transitivity(G) == 0 and BACKEND.square_clustering(G) == {}
    with pytest.raises(ZeroDivisionError):
        BACKEND.average_clustering(G)


def test_can_run_and_should_run():
    G, D, M = nx.path_graph(3), nx.DiGraph([(0, 1)]), nx.MultiGraph([(0, 1)])
    assert BACKEND.can_run("triangles", (G,), {}) is True
    for name, args in (("triadic_census", (D,)), ("triadic_census", (D, [0])), ("clustering", (D,)), ("average_clustering", (D,))):
        assert BACKEND.can_run(name, args, {}) is True
    for name, args, kwargs in (("triangles", (D,), {}), ("clustering", (M,), {}), ("clustering", (G, None, "w"), {}),
                               ("average_clustering", (G,), {"weight": "w"}), ("clustering", (D,), {"weight": "w"}), ("triadic_census", (G,), {})):
        assert isinstance(BACKEND.can_run(name, args, kwargs), str), name
    assert isinstance(BACKEND.should_run("triangles", (G,), {}), str)
    large = nx.complete_graph(150)  # 11,175 edges
    assert BACKEND.should_run("square_clustering", (large,), {}) is True and BACKEND.should_run("triangles", (large,), {}) is not True
    assert set(wx.get_info()["functions"]) == {n for n in dir(BACKEND) if not n.startswith("_") and hasattr(nx, n)}


def test_counts(undirected):
    G = undirected
    for P in (nx.path_graph(4), nx.cycle_graph(4), nx.star_graph(2), nx.Graph([(0, 1), (2, 3)])):
        of = nx.isomorphism.GraphMatcher(G, P)
        want = sum(1 for _ in of.subgraph_monomorphisms_iter())
        assert wx.count_monomorphisms(G, P) == want
        assert wx.count_isomorphisms(G, P) == sum(1 for _ in of.subgraph_isomorphisms_iter())
    key = lambda m: sorted(map(repr, m.items()))
    P = nx.path_graph(["x", "y", "z"])
    of = nx.isomorphism.GraphMatcher(G, P)
    assert sorted(map(key, wx.monomorphisms(G, P))) == sorted(key({p: g for g, p in m.items()}) for m in of.subgraph_monomorphisms_iter())
    cliques = list(nx.enumerate_all_cliques(G))
    assert [wx.count_cliques(G, k) for k in (1, 2, 3, 4)] == [sum(len(c) == k for c in cliques) for k in (1, 2, 3, 4)]


def test_directed_counts():
    D = nx.gnp_random_graph(12, 0.2, seed=1, directed=True)
    P = nx.DiGraph([(0, 1), (1, 2)])
    of = nx.isomorphism.DiGraphMatcher(D, P)
    assert wx.count_monomorphisms(D, P) == sum(1 for _ in of.subgraph_monomorphisms_iter())
    assert wx.count_isomorphisms(D, P) == sum(1 for _ in of.subgraph_isomorphisms_iter())
    with pytest.raises(ValueError):
        wx.count_monomorphisms(D, nx.path_graph(2))
    with pytest.raises(ValueError, match="loops"):
        wx.count_monomorphisms(nx.Graph([(0, 0)]), nx.path_graph(2))


def test_doctests():
    assert doctest.testmod(wx).failed == 0


PEER = os.environ.get("WEFT_NETWORKX")
SKIP = "WEFT_NETWORKX does not name a folder with networkx 3.3 or later"


@pytest.mark.skipif(not PEER, reason=SKIP)
@pytest.mark.parametrize("fallback", [True, False])
def test_networkx_own_tests(fallback, tmp_path):
    """networkx's tests of clusters and triads, dispatched to the backend. Without fallback, what it lacks is an expected failure."""
    info = tmp_path / "weftgraph-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weftgraph\nVersion: 0\n")
    # A folder of sources lacks the backend that an installed networkx tests itself with.
    source = (pathlib.Path(PEER) / "pyproject.toml").exists()
    loopback = "nx_loopback = networkx.classes.tests.dispatch_interface:backend_interface\n" if source else ""
    (info / "entry_points.txt").write_text(f"[networkx.backends]\nweft = weftgraph.networkx:backend_interface\n{loopback}\n"
                                           "[networkx.backend_info]\nweft = weftgraph.networkx:get_info\n")
    # networkx's test mode asks for a class that scipy has since 1.11.
    (tmp_path / "old_scipy.py").write_text("import scipy.sparse\nif not hasattr(scipy.sparse, 'sparray'):\n    scipy.sparse.sparray = type('sparray', (), {})\n")
    paths = [str(tmp_path), PEER, str(pathlib.Path(wx.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "old_scipy", "-p", "no:cacheprovider", "--pyargs",
         "networkx.algorithms.tests.test_cluster", "networkx.algorithms.tests.test_triads"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NETWORKX_TEST_BACKEND": "weft", "NETWORKX_FALLBACK_TO_NX": "1" if fallback else ""},
        cwd=tmp_path, capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0
    assert "passed" in done.stdout
