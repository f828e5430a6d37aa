"""The executor of DotMotif, against DotMotif's own tests, where its source is at hand (WEFT_DOTMOTIF)."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

PEER = os.environ.get("WEFT_DOTMOTIF")
RUN = textwrap.dedent("""
    import importlib
    import weftgraph.dotmotif
    calls = [0]

    class Executor(weftgraph.dotmotif.WeftExecutor):
        def _open(self, *state):
            calls[0] += 1
            return super()._open(*state)

    for name in ("executors.test_networkxexecutor", "executors.test_grandisoexecutor", "tests.test_multigraphs"):
        module = importlib.import_module("dotmotif." + name)
        for executor in ("NetworkXExecutor", "GrandIsoExecutor"):
            if hasattr(module, executor):
                setattr(module, executor, Executor)
        for test in dir(module):
            if test.startswith("Test"):
                globals()["Test_" + name.replace(".", "_") + test] = getattr(module, test)

    def test_zz_weft_has_searched():
        assert calls[0] > 50
""")


BOTH = textwrap.dedent("""
    import random
    import networkx as nx
    import pytest
    from dotmotif import Motif
    from dotmotif.executors.NetworkXExecutor import NetworkXExecutor
    from weftgraph.dotmotif import WeftExecutor

    MIXED = [1, 2.5, "x", True, None, float("nan"), [1], 2**60]
    VALUES = {"n": [1, 2, 3, None], "f": [0.5, 1.0, 2, float("nan"), None], "t": ["x", "y", "é", "", None], "m": MIXED, "b": [True, False], "whole": [5, 6], "id": [1, 2]}
    CONSTANTS = ["1", "2", "2.5", '"x"', '"y"', "True", "None", '"xyz"', "x"]
    OPERATORS = ["=", "==", "!=", "<", "<=", ">", ">=", "in", "contains", "!in", "!contains"]

    def graph(r, directed, multi):
        kind = {(True, False): nx.DiGraph, (False, False): nx.Graph, (True, True): nx.MultiDiGraph, (False, True): nx.MultiGraph}[directed, multi]
        G, n = kind(), r.randint(4, 8)
        name = r.choice([lambda v: v, lambda v: f"v{v}", lambda v: (v,) if v % 2 else v])
        data = lambda: {k: r.choice(v) for k, v in VALUES.items() if r.random() < 0.9 or k == "whole"}
        G.add_nodes_from((name(v), data()) for v in range(n))
        G.add_edges_from((name(r.randrange(n)), name(r.randrange(n)), data()) for _ in range(3 * n))
        return G

    def motif(r, directed):
        edges = r.choice([["A -> B"], ["A -> B", "B -> C"], ["A -> B", "B -> C", "C -> A"], ["A -> B", "B !> A"], ["A -> B", "A -> C"]])
        if r.random() < 0.4:
            edges = [edges[0] + f" [{r.choice(list(VALUES))} {r.choice(OPERATORS)} {r.choice(CONSTANTS)}]", *edges[1:]]
        lines, names = list(edges), sorted({c for e in edges for c in e.split("[")[0] if c in "ABC"})
        for _ in range(r.randint(0, 2)):
            lines.append(f"{r.choice(names)}.{r.choice(list(VALUES))} {r.choice(OPERATORS)} {r.choice(CONSTANTS)}")
        for _ in range(r.randint(0, 1)):
            lines.append(f"{r.choice(names)}.{r.choice(list(VALUES))} {r.choice(OPERATORS[:7])} {r.choice(names)}.{r.choice(list(VALUES))}")
        if len(edges) > 1 and r.random() < 0.3:
            lines[0], lines[1] = lines[0] + " as x", lines[1] + " as y"
            lines.append(f"x.{r.choice(list(VALUES))} {r.choice(OPERATORS[:7])} y.{r.choice(list(VALUES))}")
        return chr(10).join(lines), {"ignore_direction": not directed, "exclude_automorphisms": r.random() < 0.3}

    def answer(executor, text, options):
        try:
            return sorted(repr(sorted(m.items())) for m in executor.find(Motif(text, validators=[], **options)))
        except Exception as e:
            return type(e)

    totals = {"less": 0, "same": 0, "errors": 0, "found": 0}

    @pytest.mark.parametrize("seed", range(150))
    def test_both_ways(seed):
        r = random.Random(seed)
        directed, multi = r.random() < 0.7, r.random() < 0.2
        G = graph(r, directed, multi)
        more = {"multigraph_edge_match": r.choice(["any", "all"])} if multi else {}
        one, other, peer = WeftExecutor(graph=G, **more), WeftExecutor(graph=G, conditions=False, **more), NetworkXExecutor(graph=G, **more)
        for _ in range(3):
            text, options = motif(r, directed)
            a, b, c = answer(one, text, options), answer(other, text, options), answer(peer, text, options)
            assert a == b == c, (text, options)
            if isinstance(a, type):
                totals["errors"] += 1
            else:
                totals["found"] += len(a)
                totals["less" if one._listed < other._listed else "same"] += 1
                assert one._listed <= other._listed
            v = r.choice(list(G))  # the graph may change
            G.nodes[v].update(n=r.choice(VALUES["n"]), t=r.choice(VALUES["t"]))

    def test_zz_conditions_cut_searches_short():
        print(totals)
        assert totals["less"] > 60 and totals["errors"] > 10 and totals["found"] > 500

    def test_all_in_the_search():
        G = nx.DiGraph()
        G.add_nodes_from((v, {"age": v, "name": f"n{v}"}) for v in range(30))
        G.add_edges_from((u, v, {"w": (u * v) % 7}) for u in range(30) for v in range(30) if u != v)
        e = WeftExecutor(graph=G)
        found = e.find(Motif("A -> B [w > 4]" + chr(10) + "A.age < 3" + chr(10) + 'B.name = "n70"'))
        assert e._listed == len(found) == 0
        found = e.find(Motif("A -> B [w >= 4]" + chr(10) + "A.age < 6" + chr(10) + "A.age < B.age"))
        assert e._listed == len(found) > 0
        assert found and all(m["A"] < min(6, m["B"]) and G.edges[m["A"], m["B"]]["w"] >= 4 for m in found)
""")


def peer_tests(tmp_path, text):
    (tmp_path / "test_peer.py").write_text(text)
    try:
        import grandiso  # noqa: F401
    except ImportError:  # DotMotif imports it, and the executor does not use it
        (tmp_path / "grandiso.py").write_text("find_motifs_iter = None\n")
    package = pathlib.Path(__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_peer.py"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join([str(package), PEER, str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])})
    print(done.stdout)
    assert done.returncode == 0


@pytest.mark.skipif(not PEER, reason="WEFT_DOTMOTIF does not name a folder with the source of DotMotif")
def test_conditions_against_tests_after_the_search(tmp_path):
    """Random motifs with constraints: conditions of the search, tests in Python after it, and DotMotif's own executor agree, also in errors."""
    peer_tests(tmp_path, BOTH)


@pytest.mark.skipif(not PEER, reason="WEFT_DOTMOTIF does not name a folder with the source of DotMotif")
def test_dotmotif_own_tests(tmp_path):
    peer_tests(tmp_path, RUN)
