"""The examples of docs/python.md."""

import doctest
import pathlib

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_examples():
    pytest.importorskip("networkx")
    text = DOCS.read_text().replace("```", "\n")  # the fence ends the output of an example
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(text, {}, "python.md", str(DOCS), 0))
    assert runner.tries > 20 and runner.failures == 0
