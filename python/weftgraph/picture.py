"""Pictures of patterns, matches and plans, as SVG for notebooks.

Places are computed by a spring layout that begins on a circle, so that the same graph
has the same picture. A picture has a ground of its own, light or dark as the system asks,
because some notebooks show it apart from the colours of their page.
"""

from __future__ import annotations

import json
import math
from html import escape
from typing import Any, Hashable, Iterable, Mapping, Sequence

__all__ = ["MatchPicture", "Pattern", "Plan", "layout"]

_STYLE = (
    "<style>svg.weft{color:#222}.weft .ground{fill:#fff}"
    "@media (prefers-color-scheme:dark){svg.weft{color:#ddd}.weft .ground{fill:#1e1e1e}}"
    ".weft text{font:12px sans-serif;fill:currentColor}.weft line,.weft path{stroke:currentColor;fill:none}"
    ".weft .v text{fill:#fff}.weft .v circle{fill:#2f6db5;stroke:currentColor}.weft .n circle{fill:#8a8f98}"
    ".weft .n text{font-size:10px}.weft .faint{opacity:.4}.weft .head{fill:currentColor;stroke:none}</style>"
)


def layout(count: int, edges: Iterable[tuple[int, int]], width: float = 300, height: float = 300) -> list[tuple[float, float]]:
    """Return places for the vertices 0 … count-1 within width and height. The result is always the same."""
    if count == 0:
        return []
    if count == 1:
        return [(width / 2, height / 2)]
    pairs = sorted({(min(u, v), max(u, v)) for u, v in edges if u != v})
    x = [math.cos(2 * math.pi * i / count - math.pi / 2) for i in range(count)]
    y = [math.sin(2 * math.pi * i / count - math.pi / 2) for i in range(count)]
    ideal = 2 / math.sqrt(count)
    steps = 200 if count <= 80 else 60
    for step in range(steps):
        dx, dy = [0.0] * count, [0.0] * count
        for i in range(count):
            for j in range(i):
                a, b = x[i] - x[j], y[i] - y[j]
                square = a * a + b * b or 1e-9
                force = ideal * ideal / square
                dx[i] += a * force
                dy[i] += b * force
                dx[j] -= a * force
                dy[j] -= b * force
        for u, v in pairs:
            a, b = x[u] - x[v], y[u] - y[v]
            force = math.hypot(a, b) / ideal
            dx[u] -= a * force
            dy[u] -= b * force
            dx[v] += a * force
            dy[v] += b * force
        heat = 0.15 * (1 - step / steps)
        for i in range(count):
            far = math.hypot(dx[i], dy[i]) or 1e-9
            x[i] += dx[i] / far * min(far, heat)
            y[i] += dy[i] / far * min(far, heat)
    left, top = min(x), min(y)
    scale = min((width - 60) / ((max(x) - left) or 1e-9), (height - 60) / ((max(y) - top) or 1e-9))
    spare_x = (width - scale * (max(x) - left)) / 2
    spare_y = (height - scale * (max(y) - top)) / 2
    return [(round(spare_x + (a - left) * scale, 1), round(spare_y + (b - top) * scale, 1)) for a, b in zip(x, y)]


def _svg(width: float, height: float, title: str, body: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="weft" role="img" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}"><title>{escape(title)}</title>{_STYLE}'
        f'<rect class="ground" width="{width:g}" height="{height:g}" rx="6"/>{"".join(body)}</svg>'
    )


def _line(a: tuple[float, float], b: tuple[float, float], *, arrow: bool, text: str = "", dashed: bool = False,
          faint: bool = False, wide: bool = False, radius: float = 14) -> str:
    far = math.hypot(b[0] - a[0], b[1] - a[1]) or 1.0
    ux, uy = (b[0] - a[0]) / far, (b[1] - a[1]) / far
    x1, y1, x2, y2 = a[0] + ux * radius, a[1] + uy * radius, b[0] - ux * radius, b[1] - uy * radius
    kind = ' class="faint"' if faint else ""
    style = ' stroke-dasharray="5 4"' if dashed else ""
    style += ' stroke-width="2.5"' if wide else ""
    parts = [f'<g{kind}><line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{style}/>']
    if arrow:
        lx, ly, rx, ry = x2 - 8 * ux - 4 * uy, y2 - 8 * uy + 4 * ux, x2 - 8 * ux + 4 * uy, y2 - 8 * uy - 4 * ux
        parts.append(f'<polygon class="head" points="{x2:.1f},{y2:.1f} {lx:.1f},{ly:.1f} {rx:.1f},{ry:.1f}"/>')
    if text:
        parts.append(f'<text x="{(x1 + x2) / 2 - 8 * uy:.1f}" y="{(y1 + y2) / 2 + 8 * ux:.1f}" text-anchor="middle">{escape(text)}</text>')
    return "".join(parts) + "</g>"


def _vertex(at: tuple[float, float], text: str, below: str = "", *, near: bool = False) -> str:
    if near:
        return (f'<g class="n"><circle cx="{at[0]}" cy="{at[1]}" r="5"/>'
                f'<text x="{at[0]}" y="{at[1] + 15:.1f}" text-anchor="middle">{escape(text)}</text></g>')
    inner = text if len(text) <= 4 else ""
    under = " ".join(t for t in ("" if inner else text, below) if t)
    parts = [f'<g class="v"><circle cx="{at[0]}" cy="{at[1]}" r="14"/>']
    if inner:
        parts.append(f'<text x="{at[0]}" y="{at[1] + 4:.1f}" text-anchor="middle">{escape(inner)}</text>')
    parts.append("</g>")
    if under:
        parts.append(f'<text x="{at[0]}" y="{at[1] + 27:.1f}" text-anchor="middle">{escape(under)}</text>')
    return "".join(parts)


class Pattern:
    """The vertices and edges of a query, as its plan has them.

    ``edges`` has tuples (from, to, label, directed, absent). An absent edge, which NOT asks
    for, is drawn dashed.
    """

    def __init__(self, vertices: Mapping[str, str], edges: Sequence[tuple[str, str, str, bool, bool]], name: str = ""):
        self.vertices = dict(vertices)
        self.edges = list(edges)
        self.name = name

    def _repr_svg_(self) -> str:
        names = sorted(self.vertices)
        index = {n: i for i, n in enumerate(names)}
        places = layout(len(names), ((index[u], index[v]) for u, v, *_ in self.edges), 260, 220)
        body = [_line(places[index[u]], places[index[v]], arrow=directed, text=label, dashed=absent)
                for u, v, label, directed, absent in self.edges]
        body += [_vertex(places[index[n]], n, (":" + label) if label else "") for n, label in self.vertices.items()]
        return _svg(260, 230, f"pattern {self.name}", body)


class Plan:
    """A plan: the loops of a search, with the estimated sizes, and actual ones after ``analyze``.

    ``data`` is the JSON that weft wrote. ``pattern`` is the pattern's picture.
    """

    def __init__(self, data: Mapping[str, Any]):
        self.data = dict(data)

    @property
    def plan(self) -> dict[str, Any]:
        """The part of ``data`` that is about loops."""
        return self.data.get("plan") or {}

    @property
    def vertices(self) -> list[str]:
        """The names of the pattern's vertices, in the order of the loops."""
        return list(self.plan.get("order") or [])

    @property
    def pattern(self) -> Pattern:
        """The pattern that the plan searches."""
        plan = self.plan
        names = [a["name"] for a in plan.get("adjacencies") or []]
        labels: dict[str, str] = {n: "" for n in self.vertices}
        edges = []
        for level in plan.get("levels") or []:
            labels[level["vertex"]] = level.get("label", "")
            for back in level.get("back") or []:
                name = names[back["adjacency"]]
                way = name[-1] if name[-1:] in "+-" else ""
                label = name[name.index("[") + 1: name.rindex("]")].removeprefix(":") if "[" in name else ""
                u, v = back["vertex"], level["vertex"]
                if way == "-":
                    u, v = v, u
                edges.append((u, v, label, way != "", bool(back.get("not"))))
        return Pattern(labels, edges, str(self.data.get("query", "")))

    def __repr__(self) -> str:
        lines = [f"engine {self.data.get('engine')}: {self.data.get('engine_reason', '')}",
                 f"order {', '.join(self.vertices)}: {self.plan.get('why', '')}"]
        return "\n".join(lines + ["  " * i + t for i, t in enumerate(self._loops())])

    def _loops(self) -> list[str]:
        loops = []
        for level in self.plan.get("levels") or []:
            text = f"for {level['vertex']}"
            if level.get("label"):
                text += f":{level['label']}"
            joined = [("not " if b.get("not") else "") + b["vertex"] for b in level.get("back") or []]
            if joined:
                text += " next to " + ", ".join(joined)
            text += f"  ~{level.get('estimate', 0):.3g}"
            if level.get("actual") is not None:
                text += f", found {int(level['actual']):,}"
            loops.append(text)
        return loops

    def _repr_svg_(self) -> str:
        levels = self.plan.get("levels") or []
        sizes = [max(float(v.get("estimate") or 0), float(v.get("actual") or 0)) for v in levels]
        most = math.log1p(max(sizes, default=0)) or 1.0
        body = [f'<text x="8" y="18">{escape(str(self.data.get("engine", "")))}, method {escape(str(self.plan.get("method", "")))}</text>']
        for i, (level, text) in enumerate(zip(levels, self._loops())):
            y = 30 + 34 * i
            for kind, dy, colour in (("estimate", 0, "#8a8f98"), ("actual", 4, "#2f6db5")):
                if level.get(kind) is not None:
                    long = 200 * math.log1p(float(level[kind])) / most
                    body.append(f'<rect x="{8 + 14 * i}" y="{y + 18 + dy}" width="{max(long, 1):.1f}" height="4" fill="{colour}"/>')
            body.append(f'<text x="{8 + 14 * i}" y="{y + 13}">{escape(text)}</text>')
        return _svg(460 + 14 * len(levels), 40 + 34 * len(levels), f"plan of {self.data.get('query', '')}", body)

    def to_json(self) -> str:
        """Return ``data`` as JSON."""
        return json.dumps(self.data, indent=2)


class MatchPicture:
    """A match among its neighbours. Vertices and edges of the match are prominent."""

    def __init__(self, match: Mapping[str, Hashable], edges: Iterable[tuple[Hashable, Hashable]], directed: bool, plan: Plan | None = None):
        self.match = dict(match)
        self.directed = directed
        self.edges = sorted(set(edges), key=repr) if directed else sorted(
            {tuple(sorted(e, key=repr)) for e in edges}, key=repr)  # type: ignore[misc]
        self._pairs = set()
        if plan is not None:
            self._pairs = {frozenset((self.match[u], self.match[v])) for u, v, _, _, absent in plan.pattern.edges
                           if not absent and u in self.match and v in self.match}

    def _repr_svg_(self) -> str:
        of: dict[Any, list[str]] = {}
        for name, v in self.match.items():
            of.setdefault(v, []).append(name)
        nodes = list(of) + sorted({v for e in self.edges for v in e} - set(of), key=repr)
        index = {v: i for i, v in enumerate(nodes)}
        places = layout(len(nodes), ((index[u], index[v]) for u, v in self.edges), 480, 380)
        body = []
        for u, v in self.edges:
            within = frozenset((u, v)) in self._pairs or (not self._pairs and u in of and v in of)
            body.append(_line(places[index[u]], places[index[v]], arrow=self.directed, faint=not within, wide=within,
                              radius=14 if v in of and u in of else 6))
        for v in reversed(nodes):
            body.append(_vertex(places[index[v]], ",".join(of[v]), str(v)) if v in of else _vertex(places[index[v]], str(v), near=True))
        return _svg(480, 400, "a match among its neighbours", body)
