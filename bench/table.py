#!/usr/bin/env python3
"""table.py RESULTS.jsonl...: the lines of cpu.py as Markdown tables. A ratio is weft's median over the peer's: below 1 weft is faster."""
import json, sys

rows = [json.loads(l) for f in sys.argv[1:] for l in open(f) if l.startswith("{")]
by = lambda step: [r for r in rows if r["step"] == step]
median = lambda xs: (sorted(xs)[(len(xs) - 1) // 2] + sorted(xs)[len(xs) // 2]) / 2
mean = lambda xs: sum(xs) / len(xs)
NAMES = {"gm_tc_simd": "GraphMiner tc", "gapbs_tc": "GAPBS", "gm_clique_rec": "GraphMiner clique", "gm_count_base": "GraphMiner count", "gm_sgl_cmap": "GraphMiner sgl cmap",
         "gm_sgl_cmapcount": "GraphMiner cmap count", "gm_motif_formula": "GraphMiner formula", "graphpi": "GraphPi", "peregrine": "Peregrine", "daf": "DAF", "sm": "SubgraphMatching"}


def name(who):
    """A peer, and by which degree order of the graph if it ran on one."""
    peer, _, order = who.partition("/")
    return NAMES.get(peer, peer) + (f", {order}" if order else "")


def num(x):
    return "–" if x is None else f"{x:.3g}" if x < 100 else f"{x:.0f}"


def spread(xs):
    return num(median(xs)) + (f" ({num(min(xs))}–{num(max(xs))})" if len(xs) > 1 else "")


def others(peers):
    """The peers after the fastest, each in its fastest order."""
    seen, out = {peers[0][1].partition("/")[0]} if peers else set(), []
    for x, who in peers:
        if (peer := who.partition("/")[0]) not in seen:
            seen.add(peer)
            out.append((x, who))
    return out


def table(head, lines):
    if lines:
        print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
        for l in lines:
            print("| " + " | ".join(str(x) for x in l) + " |")
        print()


def cases(step, title):
    groups = {}
    for r in by(step):
        groups.setdefault((r["threads"], r["graph"], r["what"]), {})[r["who"]] = r
    for t in sorted({k[0] for k in groups}, reverse=True):
        lines = []
        for (tt, g, p), c in groups.items():
            if tt != t:
                continue
            w = c.get("weft")
            bad = [f"{name(k)}: {v['note']}" for k, v in c.items() if v.get("note")]
            if not w or not w["ms"]:
                lines.append([g, p, "–", "–", "–", "–", "–", "; ".join(bad)])
                continue
            m = median(w["ms"])
            plan = median(w["plan_ms"]) if w["plan_ms"] else 0
            peers = sorted((median(v["ms"]), k) for k, v in c.items() if k != "weft" and v["ms"] and v["ok"] is not False)
            best = peers[0] if peers else None
            lines.append([g, p, spread(w["ms"]), num(plan), spread(c[best[1]]["ms"]) if best else "–", name(best[1]) if best else "–",
                          f"{'**' if m > best[0] else ''}{m / best[0]:.2f}{'**' if m > best[0] else ''}" + f" / {(m + plan) / best[0]:.2f}" if best else "–",
                          "; ".join([f"{name(k)} {num(x)}" for x, k in others(peers)] + bad)])
        print(f"### {title}, {t} thread{'s' if t > 1 else ''}\n")
        table(["graph", "pattern", "weft ms", "its planning", "fastest peer ms", "peer", "ratio / with planning", "others, ms"], lines)


for r in by("machine"):
    print(f"{r['what']}, {r['cores']} cores, AVX2 {r['avx2']}, AVX-512 {r['avx512']}; {r['weft']} {r['commit']}; load at the start {r['load'][0]:.1f}\n")
cases("heldout", "Graphs that nothing was tuned on")
cases("cells", "Patterns")
cases("motifs", "Motifs")

groups = {}
for r in by("labelled"):
    groups.setdefault((r["graph"], r["what"]), {})[r["who"]] = r
lines = []
for (g, what), c in groups.items():
    w = c.get("weft")
    peers = sorted((v["ms"][0], k) for k, v in c.items() if not k.startswith("weft") and v["finished"] == max(x["finished"] for x in c.values()))
    for who, r in c.items():
        lines.append([g, {"small": "all counted, < 1e8", "first": "first 1e5 of ≥ 1e8", "big": "all counted, ≥ 1e8"}[what], NAMES.get(who, who), f"{r['finished']} of {r['of']}", r["queries"],
                      num(r["ms"][0]), num(r["search_ms"]), f"{w['ms'][0] / r['ms'][0]:.2f}" if w and r["ms"][0] and who != "weft" else "", len(r["wrong"]) or ""])
if lines:
    print("### Labelled sets, one thread\n")
    table(["set", "group", "who", "finished", "queries summed", "filter, order and search ms", "search alone ms", "weft / this", "wrong"], lines)
for (g, what), c in groups.items():
    if what == "big" and c:
        qs = sorted({q for r in c.values() for q in r["each_ms"]}, key=lambda q: int(q.split("_")[-1]))
        table([f"{g}, ms"] + qs, [[NAMES.get(who, who)] + [num(r["each_ms"].get(q)) for q in qs] for who, r in c.items()])

for step, title in (("scaling", "Scaling"), ("big", "Scaling: triangles of a graph of 100 M edges")):
    groups = {}
    for r in by(step):
        if r["ms"]:
            groups.setdefault((r["graph"], r["what"], r["who"]), {}).setdefault(r["threads"], []).extend(r["ms"])
    ts = sorted({t for g in groups.values() for t in g})
    if groups:
        print(f"### {title}\n\nMedian milliseconds, and in brackets how many times as fast as one thread, by medians and by means.\n")
        table(["graph", "pattern", "who"] + [str(t) for t in ts],
              [[g, p, NAMES.get(w, w)] + [num(median(c[t])) + (f" (×{median(c[1]) / median(c[t]):.1f}, {mean(c[1]) / mean(c[t]):.1f})" if 1 in c and t > 1 else "") if t in c else "–" for t in ts]
               for (g, p, w), c in groups.items()])

if by("reading"):
    print("### Reading text edge lists\n")
    table(["file", "who", "threads", "MB/s", "ms"], [[f"{r['graph']}, {r['what']}", r["who"].split(", ")[0] + (", " + r["who"].split(", ")[1] if ", " in r["who"] else ""), r["threads"], r["mb_s"], spread(r["ms"])] for r in by("reading")])
if by("memory"):
    print("### Memory, 100 M edges (MB)\n")
    table(["from", "threads", "CSR's bytes", "peak while loading", "after load (of it not the file's pages)", "load s", "to open, ms: load (whole process)"],
          [[r["what"], r["threads"], r["csr_mb"], f"{r['peak_loading_mb']} (×{r['peak_loading_mb'] / r['csr_mb']:.2f})", f"{r['after_mb']} (×{r['after_mb'] / r['csr_mb']:.2f}; {r['after_anon_mb']})", num(r["load_s"]),
            f"{num(median(r['open_ms']))} ({num(median(r['open_wall_ms']))})" if r["open_ms"] else ""] for r in by("memory") if r.get("csr_mb")])
if by("listing"):
    print("### Listing to /dev/null\n")
    table(["what", "threads", "RSS of the count, MB", "RSS of the listing, MB", "seconds", ""], [[f"{r['graph']} {r['what']}", r["threads"], r["count_peak_mb"], r["list_peak_mb"], num(r["ms"][0] / 1e3), r["note"]] for r in by("listing")])
for r in rows:
    if r["what"] == "error":
        print(f"- {r['step']}: {r['note']}")
