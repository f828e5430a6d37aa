package matchatest

import (
	"fmt"
	"math"
	"strings"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/view"
)

// Programs have what the library's have not, by what they are about. Each is for
// inputs as Inputs draws them.
var Programs = map[string]string{
	"dense counter": `input G: Graph
input l0: int
let c = Counter(12)
def f(v):
    let d = Counter(12)
    apply(lambda w: add(d, w, 2 * w), lambda w: w > v, neighbor(G, v))
    apply(lambda w: add(d, w % 3, 1), None, neighbor(G, v))
    reset(c)
    let old = add(c, v + l0, 7)
    let twice = sum(apply(lambda w: add(c, w, 1), None, neighbor(G, v)))
    let seen = size(apply(lambda w: w, lambda w: get(c, w) > 0, vertices(G)))
    return get(d, 0) + 10 * get(d, v) + 100 * twice + 1000 * seen + get(c, v) * old
return sum(apply(f, None, vertices(G)))
`,
	"hashed counter": `input G: Graph
input l0: int
let c = Counter(90, hashed=True)
def f(v):
    let own = Counter(3, hashed=True)
    def g(w):
        add(c, (v - w) * 1000000007, w)
        add(own, w % 3 - 1, v)
        return get(own, w) + get(own, -1)
    return sum(apply(g, None, neighbor(G, v))) + get(c, 1000000007)
return mk_tuple(val=[sum(apply(f, None, vertices(G))), get(c, 0), get(c, -1000000007)])
`,
	"full counter": `input G: Graph
input l0: int
let c = Counter(3, hashed=True)
apply(lambda v: add(c, v * v, 1), None, vertices(G))
return get(c, 4)
`,
	"no such key": `input G: Graph
input l0: int
let c = Counter(5)
def f(v):
    add(c, v - l0, 1)
    return get(c, v)
return sum(apply(f, None, vertices(G)))
`,
	"lists": `input E: List[Tuple[int, 3]]
input X: List[int]
input F: List[float]
input B: List[bool]
let few = mk_list(12, int, X)
let heavy = apply(lambda e: get(e, 2), lambda e: get(e, 0) != get(e, 1), E)
emit(sum(E))
emit(mk_tuple(val=[size(intersect(X, heavy)), size(diff(X, heavy)) + sum(intersect(heavy, X)), size(intersect(B, mk_list(val=[True])))]))
apply(lambda x: emit(mk_tuple(val=[x, 0, size(diff(few, mk_list(val=[x])))])), lambda x: x < 3, intersect(few, range(9)))
return mk_tuple(val=[sum(F), 1.0 * size(intersect(F, apply(lambda f: f / 2, None, F)))])
`,
	"data edges": `input D: Graph
let X = subgraph(D, '(a)-[:X]->(b)')
def f(u):
    def g(v):
        let back = between(D, '(a)-[e WHERE e.w > 0]->(b)', v, u)
        def first(e):
            return size(apply(lambda f: f, lambda f: e != f and holds(D, '()-[e]->(), ()-[f]->() WHERE e.time <= f.time', e, f), between(D, '(a)--(b)', u, v))) + size(back)
        return sum(apply(first, lambda e: holds(D, '(a), ()-[e]->() WHERE e.w < a.x OR e.w IS NULL', v, e), between(D, '(a)-[:!Y]->(b)', u, v)))
    let near = apply(lambda v: v, lambda v: holds(D, '(a), (b) WHERE a.x <= b.x OR a.x IS NULL', u, v), neighbor(D, u))
    return sum(apply(g, None, near)) + 1000 * size(diff(near, neighbor(X, u)))
return sum(apply(f, None, vertices(D)))
`,
	"data edges listed": `input D: Graph
def f(u):
    def g(v):
        apply(lambda e: emit(mk_tuple(val=[u, v, e])), lambda e: holds(D, '(u), (v), ()-[e]-() WHERE e.time > 1 AND (id(u) < id(v) OR EXISTS { (v)-[:Y]-(x) })', u, v, e), between(D, '(a)-[:X]->(b)', u, v))
    apply(g, None, vertices(D, '(a:A|B)'))
apply(f, None, vertices(D, '(a:A|C)'))
return size(vertices(D, '(a:A|C)'))
`,
	"zip": `input E: List[Tuple[int, 3]]
input X: List[int]
input l0: int
let last = apply(lambda e: get(e, 2), None, E)
let squares = apply(lambda i: i * i, None, range(size(E)))
def f(e, t, i, s):
    emit(mk_tuple(val=[get(e, 0), t, i, s]))
    return t * i - s
let all = apply(f, lambda e, t, i, s: t % 2 == 0 or i > l0, E, last, range(size(E)), squares)
return mk_tuple(val=[sum(all), sum(apply(lambda a, b: a * b, None, last, squares)), size(apply(lambda a, b: a, lambda a, b: a < b, last, squares))])
`,
	"zip of different": `input G: Graph
input l0: int in 0..9
def f(v):
    return sum(apply(lambda a, b: a * b, None, neighbor(G, v), range(l0)))
return sum(apply(f, lambda v: size(neighbor(G, v)) == l0, vertices(G))) + sum(apply(f, lambda v: v > 6, vertices(G)))
`,
	"limits": `input G: Graph
input l0: int
def f(v):
    let few = mk_list(3, int, neighbor(G, v))
    let odd = apply(lambda w: w * v, lambda w: w % 2 == 1, few)
    return size(intersect(few, neighbor(G, v))) + sum(odd) * size(odd)
return sum(apply(f, lambda v: size(neighbor(G, v)) <= 3 + l0, vertices(G)))
`,
	"times and places": `input E: List[Tuple[int, 3]]
input X: List[int]
input l0: int
let pairs = apply(lambda e: mk_tuple(val=[get(e, 0) * 1000003 - 1000003, get(e, 1) - 1]), None, E)
let G = mk_graph(pairs, einfo=apply(lambda e: get(e, 2), None, E))
let H = mk_graph(pairs, vlabel=apply(lambda x: mk_tuple(val=[x * 1000003 - 1000003, x % 3]), None, X))
def f(v):
    apply(lambda w, t: emit(mk_tuple(val=[v, w, t])), lambda w, t: t > l0 and w != v, neighbor(G, v), edge_info(G, v))
    return size(neighbor(H, v)) * 10 + vertex_label(H, v) + size(intersect(neighbor(H, v), neighbor(G, v)))
return mk_tuple(val=[sum(apply(f, None, vertices(G))), size(edges(G)), size(edges(H)), sum(vertices(H))])
`,
	"dense graphs": `input G: Graph
input l0: int
let pairs = apply(lambda e: e, lambda e: get(e, 0) <= get(e, 1) + l0, edges(G))
let D = mk_graph(pairs, einfo=apply(lambda e: 0.5 * get(e, 1), None, pairs))
let L = mk_graph(pairs, vlabel=apply(lambda v: mk_tuple(val=[v, v % 2]), lambda v: v != 2, vertices(G)))
def f(v):
    let same = apply(lambda w: w, lambda w: vertex_label(L, w) == vertex_label(L, v), neighbor(L, v))
    return mk_tuple(val=[sum(edge_info(D, v)), 1.0 * sum(same), 0.5 * size(neighbor(D, v - l0))])
return sum(apply(f, None, vertices(L)))
`,
	"graphs of any list": `input G: Graph
input E: List[Tuple[int, 3]]
input l0: int
let A = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 1), get(e, 0)]), lambda e: get(e, 2) > l0, E))
let B = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 1), get(e, 0)]), lambda e: (get(e, 0) + get(e, 1)) % 4 != l0, edges(G)))
let C = mk_graph(apply(lambda v: mk_tuple(val=[size(neighbor(G, v)), v]), lambda v: v != l0, vertices(G)))
let H = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 0) % 3, size(neighbor(B, get(e, 1)))]), lambda e: get(e, 1) != l0, edges(B)))
let R = mk_graph(apply(lambda e: e, lambda e: get(e, 0) != get(e, 1) + l0, edges(G)))
let S = mk_graph(apply(lambda e: e, lambda e: size(neighbor(A, get(e, 1))) < 2, edges(R)))
def f(v):
    apply(lambda w: emit(mk_tuple(val=[v, w])), lambda w: w != l0, neighbor(A, v))
    apply(lambda w: emit(mk_tuple(val=[v, w])), lambda w: w < v, neighbor(S, v))
    let b = neighbor(B, v)
    return mk_tuple(val=[sum(b), size(intersect(b, neighbor(C, v - 1))), sum(diff(neighbor(A, v), neighbor(G, v))), sum(neighbor(H, v))])
let all = sum(apply(f, None, vertices(G)))
let lists = size(edges(A)) + 10 * sum(vertices(A)) + 100 * size(vertices(B)) + 10000 * sum(apply(lambda e: get(e, 0) * get(e, 1), None, edges(B)))
return mk_tuple(val=[get(all, 0), get(all, 1), get(all, 2), get(all, 3), lists, sum(apply(lambda e: size(neighbor(B, get(e, 0))), None, edges(S)))])
`,
	"information on any list": `input G: Graph
input E: List[Tuple[int, 3]]
input l0: int
let late = apply(lambda e: e, lambda e: get(e, 2) != l0 + 3, E)
let ends = apply(lambda e: mk_tuple(val=[get(e, 1), get(e, 0)]), None, late)
let T = mk_graph(ends, einfo=apply(lambda e: get(e, 2), None, late))
let B = mk_graph(ends, einfo=apply(lambda e: get(e, 2) > 5, None, late))
let D = mk_graph(apply(lambda v: mk_tuple(val=[v, size(neighbor(G, v))]), None, vertices(G)), einfo=apply(lambda v: 0.5 * v, None, vertices(G)))
def f(e):
    let u = get(e, 0)
    let n = neighbor(T, get(e, 1))
    let i = edge_info(T, get(e, 1))
    apply(lambda v, t, k: emit(mk_tuple(val=[u, v, t, k])), lambda v, t, k: v != u, n, i, range(size(n)))
    let back = sum(apply(lambda v, t: t, lambda v, t: v == u and t >= get(e, 2), n, i))
    let flags = size(apply(lambda b: b, lambda b: b, edge_info(B, u))) * 10 + size(neighbor(D, u))
    return back * 100 + flags
return mk_tuple(val=[sum(apply(f, None, E)), size(edges(T)), sum(apply(lambda e: get(e, 0) - get(e, 1), None, edges(T))), sum(vertices(T)), size(edges(B))])
`,
	"labels of any list": `input G: Graph
input E: List[Tuple[int, 3]]
input l0: int
let D = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 1), get(e, 0)]), None, edges(G)), vlabel=apply(lambda v: mk_tuple(val=[v, v % 3 - 1]), lambda v: v != l0, vertices(G)))
let ends = apply(lambda e: mk_tuple(val=[get(e, 0), get(e, 1)]), None, E)
let S = mk_graph(ends, vlabel=apply(lambda e: mk_tuple(val=[get(e, 0), get(e, 1) % 2]), lambda e: get(e, 2) > 8 + l0, E), einfo=apply(lambda e: get(e, 2), None, E))
def f(v):
    apply(lambda w, t: emit(mk_tuple(val=[v, vertex_label(S, w), t])), None, neighbor(S, v), edge_info(S, v))
    return sum(apply(lambda w: (vertex_label(D, w) + 2) * w, None, neighbor(D, v))) * 10 + vertex_label(D, v - l0)
return sum(apply(f, None, range(8)))
`,
	"equal information": `input E: List[Tuple[int, 3]]
input l0: int
let ends = apply(lambda e: mk_tuple(val=[get(e, 0), get(e, 1)]), None, E)
let wide = apply(lambda e: mk_tuple(val=[get(e, 0) * 1000003 - 1000003, get(e, 1)]), None, E)
let zeros = apply(lambda e: (get(e, 2) - 6.0) * 0.0, None, E)
let Z = mk_graph(ends, einfo=zeros)
let W = mk_graph(wide, einfo=zeros)
let N = mk_graph(ends, einfo=apply(lambda e: (get(e, 2) - 6.0) / ((get(e, 2) - 6.0) * 0.0), None, E))
def f(v):
    let R = mk_graph(ends, einfo=apply(lambda e: (v - get(e, 2)) * 0.0, None, E))
    let row = range(size(neighbor(Z, v)))
    apply(lambda w, t, k: emit(mk_tuple(val=[1.0 * v, 1.0 * w, 1.0 / t, 1.0 * k])), None, neighbor(Z, v), edge_info(Z, v), row)
    apply(lambda w, t, k: emit(mk_tuple(val=[2.0 * v, 1.0 * w, 1.0 / t, 1.0 * k])), None, neighbor(W, v * 1000003 - 1000003), edge_info(W, v * 1000003 - 1000003), row)
    apply(lambda w, t, k: emit(mk_tuple(val=[3.0 * v, 1.0 * w, 1.0 / t, 1.0 * k])), None, neighbor(R, v), edge_info(R, v), row)
    return sum(apply(lambda w, k: w * k, None, neighbor(N, v), row))
return sum(apply(f, None, range(5)))
`,
	"graphs of each item": `input G: Graph
input l0: int
def f(v):
    let near = neighbor(G, v)
    let wide = apply(lambda w: mk_tuple(val=[w * 5 - l0, w + v]), lambda w: w != l0, near)
    let D = mk_graph(apply(lambda w: mk_tuple(val=[w % 3, w]), None, near), einfo=apply(lambda w: w * 1.5, None, near))
    let S = mk_graph(wide, vlabel=apply(lambda w: mk_tuple(val=[w * 5, w]), None, near))
    def g(w):
        let i = edge_info(D, w)
        emit(mk_tuple(val=[v, w, size(neighbor(D, w)), size(neighbor(S, w * 5 - l0)), vertex_label(S, w), size(intersect(neighbor(S, w), near))]))
        return sum(apply(lambda a, b: a * b, None, neighbor(D, w), i))
    return sum(apply(g, None, vertices(D))) + 1.0 * sum(vertices(S)) + size(edges(S))
return sum(apply(f, None, vertices(G)))
`,
	"labels": `input G: Graph
input X: List[int]
input l0: int
let some = apply(lambda v: mk_tuple(val=[v, v % 3 - 1]), lambda v: v != 4, vertices(G))
let D = mk_graph(edges(G), vlabel=some)
let S = mk_graph(apply(lambda e: mk_tuple(val=[get(e, 0) * 7 - 9, get(e, 1) - 1]), None, edges(G)), vlabel=apply(lambda x: mk_tuple(val=[x, x * x]), None, X))
def f(v):
    let R = mk_graph(apply(lambda w: mk_tuple(val=[w % 2, w]), None, neighbor(G, v)), vlabel=some)
    let same = apply(lambda w: w, lambda w: w > l0 and vertex_label(D, w) == vertex_label(D, v), neighbor(D, v))
    let mine = apply(lambda w: w, lambda w: vertex_label(R, w) == l0 - 1, neighbor(R, v))
    apply(lambda w: emit(mk_tuple(val=[v, w])), lambda w: vertex_label(S, w) == l0 * l0 and w < v, neighbor(S, v * 7 - 9))
    return mk_tuple(val=[sum(same), size(mine), size(intersect(same, neighbor(G, l0))), sum(apply(lambda w: w, lambda w: vertex_label(D, w) == -1, neighbor(D, v)))])
return sum(apply(f, None, vertices(G)))
`,
	"counters": `input G: Graph
input l0: int
let n = size(vertices(G))
let unread = Counter(n)
let total = Counter(n, hashed=True)
apply(lambda v: add(unread, v, 1), lambda v: v > 2, vertices(G))
def root(u):
    let c = Counter(n)
    apply(lambda w: add(c, w, 1), lambda w: w > u, neighbor(G, u))
    apply(lambda w: add(total, w, l0), lambda w: get(total, w) < 3, neighbor(G, u))
    return sum(apply(lambda w: mk_tuple(val=[add(c, w, 1), w, get(c, 0)]), None, neighbor(G, u)))
let rows = apply(root, None, vertices(G))
apply(lambda r: emit(r), lambda r: True or get(r, 0) > 1, rows)
return sum(apply(lambda v: get(total, v), None, vertices(G))) + get(sum(rows), 0)
`,
	"graphs made again": `input G: Graph
input l0: int
def f(e):
    let g = mk_graph(apply(lambda x: x, lambda x: get(x, 0) < get(x, 1), edges(G)))
    return size(neighbor(g, get(e, 0))) - l0 * size(apply(lambda v: v, lambda v: v < 10 % (l0 + 1), vertices(g)))
return sum(apply(f, lambda e: get(e, 0) != l0, edges(G)))
`,
	"oriented": `input G: Graph
let all = mk_graph(edges(G))
let up = mk_graph(apply(lambda e: e, lambda e: get(e, 1) >= get(e, 0), edges(G)))
let none = mk_graph(apply(lambda e: e, lambda e: get(e, 1) == get(e, 1), apply(lambda e: e, lambda e: get(e, 0) == get(e, 1), edges(G))))
def f(v):
    return mk_tuple(val=[size(intersect(neighbor(up, v), neighbor(all, v))), sum(neighbor(up, v)), size(neighbor(none, v))])
return sum(apply(f, None, vertices(G)))
`,
	"two labels": `input G: Graph
input l0: int
def f(v):
    let S = mk_graph(edges(G), vlabel=apply(lambda w: mk_tuple(val=[w % 4, w]), None, neighbor(G, v)))
    return vertex_label(S, l0)
return sum(apply(f, None, vertices(G)))
`,
	"data edges with a property": `input D: Graph[int, 'time']
input l0: int
let S = mk_graph(edges(D))
def f(v):
    let n = neighbor(D, v)
    let i = edge_info(D, v)
    apply(lambda w, t: emit(mk_tuple(val=[v, w, t])), lambda w, t: t > l0 and w != v + 1, n, i)
    let common = size(intersect(n, neighbor(D, v + 1 - l0)))
    let single = size(diff(neighbor(S, v), range(2))) + size(intersect(neighbor(S, v), n))
    return mk_tuple(val=[sum(i), size(n), common, single, size(intersect(i, range(4))), size(edge_info(D, v - 3))])
return sum(apply(f, None, vertices(D)))
`,
	"data edges with a property, edge by edge": `input D: Graph[float, 'time']
input l0: int
let some = vertices(D, '(a:A)')
let R = subgraph(D, '(a)-[e WHERE e.time > 1]-(b)')
def f(e):
    let u = get(e, 0)
    let v = get(e, 1)
    let late = apply(lambda w, t: t, lambda w, t: w == v and t > 1.5 * l0, neighbor(D, u), edge_info(D, u))
    return mk_tuple(val=[1.0 * size(between(D, '(a)--(b)', u, v)), sum(late), 1.0 * size(intersect(some, neighbor(R, u))), sum(edge_info(R, u)) - size(neighbor(R, v))])
return sum(apply(f, lambda e: get(e, 0) < get(e, 1) or l0 == 0, edges(D)))
`,
	"windows": `input E: List[Tuple[int, 3]]
input gap1: int
input total: int
let ends = apply(lambda e: mk_tuple(val=[get(e, 0), get(e, 1)]), None, E)
let G = mk_graph(ends, einfo=apply(lambda e: get(e, 2), None, E))
def f(e):
    let u = get(e, 0)
    let t0 = get(e, 2)
    let n = neighbor(G, get(e, 1))
    let i = edge_info(G, get(e, 1))
    apply(lambda v, t: emit(mk_tuple(val=[u, v, t0, t])), lambda v, t: t >= t0 and t - t0 < gap1 and v != u, n, i)
    let open = size(apply(lambda v, t: v, lambda v, t: t0 < t and t < t0 + gap1, n, i))
    let closed = sum(apply(lambda v, t: t, lambda v, t: t <= t0 and gap1 >= t - 4 and t >= t0 - total, n, i))
    let back = sum(apply(lambda v, t: v + t, lambda v, t: v == u and t > t0 and t <= total + t0, n, i))
    let same = size(apply(lambda v, t: t, lambda v, t: t == t0 and u == v, n, i)) + size(apply(lambda t: t, lambda t: t - 1 == t0, i))
    let all = sum(apply(lambda v, t: 2 * v + t, lambda v, t: v == u, n, i))
    return (((open * 10 + closed) * 10 + back) * 10 + same) * 10 + all
return sum(apply(f, None, E))
`,
	"windows of an input": `input D: Graph[int, 'time']
input l0: int
let S = subgraph(D, '(a)-[:X]-(b)')
def f(u):
    def g(v, t):
        def h(w, s):
            emit(mk_tuple(val=[u, v, t, s]))
            return w
        let back = apply(h, lambda w, s: w == u and s - t >= 0 and s - t <= l0, neighbor(D, v), edge_info(D, v))
        return size(apply(lambda w, s: s, lambda w, s: s == t, neighbor(S, u), edge_info(S, u))) + 10 * sum(back)
    return sum(apply(g, lambda v, t: t < 4, neighbor(D, u), edge_info(D, u)))
return sum(apply(f, None, vertices(D)))
`,
	"windows of graphs that run": `input E: List[Tuple[int, 3]]
input l0: int
let c = Counter(3)
let old = add(c, l0, 2)
let now = get(c, l0)
let ends = apply(lambda e: mk_tuple(val=[get(e, 0), get(e, 1)]), None, E)
let A = mk_graph(ends, einfo=apply(lambda e: get(e, 2) + now, None, E))
def f(e):
    let B = mk_graph(ends, einfo=apply(lambda d: get(d, 2) - get(e, 2), None, E))
    let later = sum(apply(lambda v, t: v + t, lambda v, t: t > 0 and t <= 5, neighbor(B, get(e, 1)), edge_info(B, get(e, 1))))
    let back = sum(apply(lambda v, t: v + t, lambda v, t: v == get(e, 0) and t - 2 > get(e, 2), neighbor(A, get(e, 1)), edge_info(A, get(e, 1))))
    return later * 100 + back + old
return sum(apply(f, None, E))
`,
	"relations": `input G: Graph
input l0: int
input l1: int
let most = sum(apply(lambda v: v, lambda v: vertex_label(G, v) == l0, vertices(G)))
let A = mk_graph(apply(lambda e: e, lambda e: vertex_label(G, get(e, 0)) == l0 and l1 == vertex_label(G, get(e, 1)), edges(G)))
let B = mk_graph(apply(lambda e: e, lambda e: get(e, 0) + get(e, 1) < most and get(e, 0) != 1, edges(G)))
let C = mk_graph(apply(lambda e: e, lambda e: vertex_label(G, get(e, 1)) == -1 or get(e, 1) > get(e, 0), edges(G)))
let D = mk_graph(apply(lambda e: e, lambda e: most > 3, edges(G)))
def f(e):
    let u = get(e, 0)
    let v = get(e, 1)
    let both = intersect(neighbor(B, u), neighbor(C, v))
    apply(lambda w: emit(mk_tuple(val=[u, v, w])), lambda w: w != u, neighbor(A, v))
    return mk_tuple(val=[sum(both), size(diff(neighbor(D, u), neighbor(A, u))), sum(neighbor(C, v - 2)), size(neighbor(B, u + l0))])
return sum(apply(f, None, edges(G)))
`,
	"semi-joins": `input G: Graph
input l0: int
input l1: int
let A = mk_graph(apply(lambda e: e, lambda e: vertex_label(G, get(e, 0)) == l0, edges(G)))
let B = mk_graph(apply(lambda e: e, lambda e: vertex_label(G, get(e, 1)) == l1 or size(neighbor(A, get(e, 1))) > 1, edges(G)))
let C = mk_graph(apply(lambda e: e, lambda e: size(neighbor(A, get(e, 1) - 1)) <= size(neighbor(B, get(e, 0))) and get(e, 1) != l0, edges(B)))
let D = mk_graph(apply(lambda e: e, lambda e: get(e, 0) < get(e, 1) and size(neighbor(C, get(e, 0))) > 0, edges(C)))
let E = mk_graph(apply(lambda e: e, lambda e: get(e, 0) > 1, edges(D)))
def f(v):
    let c = neighbor(C, v)
    apply(lambda w: emit(mk_tuple(val=[v, w])), lambda w: size(neighbor(B, w)) > 0, neighbor(D, v))
    return mk_tuple(val=[sum(c), size(neighbor(B, v)), sum(apply(lambda w: size(intersect(c, neighbor(B, w))), None, neighbor(D, v)))])
return mk_tuple(val=[size(edges(E)), get(sum(apply(f, None, vertices(G))), 0), get(sum(apply(f, None, vertices(G))), 2)])
`,
	"lists side by side": `input E: List[Tuple[int, 3]]
input X: List[int]
input total: int
let ends = apply(lambda e: get(e, 1), None, E)
let times = apply(lambda e: get(e, 2) * 2, None, E)
def f(e, v, t):
    apply(lambda x: emit(mk_tuple(val=[v, x])), lambda x: x < t, X)
    return mk_tuple(val=[v * t + get(e, 0), sum(apply(lambda x: x * v, None, X))])
let both = sum(apply(f, lambda e, v, t: t > total or v == 2, E, ends, times))
return mk_tuple(val=[get(both, 0), get(both, 1), size(apply(lambda v, t: v, lambda v, t: v < t, ends, times))])
`,
	"a longer list in a shorter": `input G: Graph
input X: List[int]
def f(v):
    let some = intersect(neighbor(G, v), X)
    apply(lambda w: emit(mk_tuple(val=[v, w])), None, some)
    return 10 * sum(some) + size(diff(some, neighbor(G, v + 1)))
return sum(apply(f, None, vertices(G)))
`,
	"vertices of a subgraph": `input D: Graph
let R = subgraph(D, '(a)-[:X]->(b)')
let l = apply(lambda v: v * v - 3, None, vertices(R))
return size(intersect(l, diff(l, range(2)))) + sum(apply(lambda v: v * size(neighbor(R, v)), None, vertices(R)))
`,
	"edges of a subgraph": `input D: Graph
let R = subgraph(D, '(a)-[:X]->(b)')
let far = apply(lambda e: 10 * get(e, 0) + get(e, 1), lambda e: get(e, 0) != 2, edges(R))
def f(v):
    return sum(apply(lambda e: size(neighbor(R, get(e, 1))) * v, lambda e: get(e, 0) != v, edges(R)))
return sum(far) + sum(apply(lambda e: size(neighbor(R, get(e, 1))) - get(e, 0), None, edges(R))) + sum(apply(f, None, vertices(R)))
`,
	"division": `input G: Graph
input l0: int
def f(v):
    let q = 100 / (v - l0)
    let r = (v - 3) % (l0 - 1)
    return mk_tuple(val=[q * 10 + r, size(apply(lambda w: w, lambda w: w != l0 and 12 / (w - l0) > 1, neighbor(G, v)))])
return sum(apply(f, lambda v: v != l0 and l0 != 1, vertices(G)))
`,
	"divided by zero": `input G: Graph
input l0: int
let never = 1 / (l0 - l0)
let sometimes = sum(apply(lambda v: 10 / (v - 5), None, vertices(G)))
let cond = size(vertices(G)) > 7
return sum(apply(lambda v: never + v, lambda v: v > 20, vertices(G))) + sum(apply(lambda v: sometimes, lambda v: cond and sometimes != 4, range(2)))
`,
	"done": `input G: Graph
input l0: int
let c = Counter(40)
def f(v):
    emit(mk_tuple(val=[v, 1]))
    return mk_tuple(val=[v, add(c, v * l0, v)])
let l = apply(f, None, vertices(G))
def g(v):
    let seen = apply(lambda w: get(c, w), None, neighbor(G, v))
    add(c, 1, 1)
    return sum(seen) + size(intersect(seen, range(3)))
return sum(apply(lambda p: get(p, 0) - get(p, 1), lambda p: get(p, 1) >= 0, l)) + sum(apply(g, None, vertices(G)))
`,
	"floats": `input F: List[float]
input l0: int
let half = apply(lambda x: x % 1.5, lambda x: x > 0.0 - l0, F)
let some = diff(half, mk_list(val=[0.25, 1.25]))
def f(x):
    return size(intersect(some, apply(lambda y: y - x, None, half)))
return mk_tuple(val=[sum(half), 1.0 * sum(apply(f, None, F))])
`,
	"limits of 64 bits": `input l0: int
let last = 9223372036854775807
let first = -last - 1
let g = mk_graph(mk_list(val=[mk_tuple(val=[7, first]), mk_tuple(val=[7, 0]), mk_tuple(val=[7, 4294967295]), mk_tuple(val=[7, last])]))
def cut(d):
    let from = size(apply(lambda v: v, lambda v: v >= first + d, neighbor(g, 7)))
    let above = size(apply(lambda v: v, lambda v: v > last - 1 - d, neighbor(g, 7)))
    let upto = size(apply(lambda v: v, lambda v: v <= last - d, neighbor(g, 7)))
    let below = size(apply(lambda v: v, lambda v: v < first + d, diff(neighbor(g, 7), mk_list(val=[l0]))))
    return ((from * 10 + above) * 10 + upto) * 10 + below
apply(lambda v: emit(v), lambda v: v > 4294967294, neighbor(g, 7))
return mk_tuple(val=[cut(0), cut(1)])
`,
	"numbers": `input G: Graph
input l0: int
input X: List[int]
let big = 9223372036854775807 - l0
let spread = apply(lambda x: x * 4611686018427387904, None, X)
let odd = apply(lambda v: v, lambda v: v * v + big / 2 > 0, vertices(G))
return mk_tuple(val=[sum(spread), sum(odd), -(big + l0) - 1, sum(apply(lambda v: v * 1000000000000000000, None, neighbor(G, 0)))])
`,
}

// Mistakes are the programs of which some runs fail.
var Mistakes = map[string]bool{
	"full counter": true, "no such key": true, "zip of different": true, "limits": true, "two labels": true, "labels of any list": true, "divided by zero": true, "numbers": true,
}

// Inputs draws the inputs of a program. These are graphs G and D, numbers l0 … l3, least, gap,
// gap1, gap2 and total, and lists E, X, F and B, as far as the program has them. The data edges of D have
// labels, times and weights.
func Inputs(t *rapid.T, text string) map[string]data.Input {
	in := map[string]data.Input{}
	has := func(name string) bool { return strings.Contains(text, "input "+name+":") }
	if has("G") {
		in["G"] = data.Input{Graph: Graph(t)}
	}
	if has("D") {
		columns := nodiff.Spec{
			Directed: rapid.Bool().Draw(t, "directed"), EdgeLabels: true, Times: true, Weights: true, Labels: [][]string{}, X: []*int64{},
		}
		g := columns.Like(6).Draw(t, "D").Build()
		in["D"] = data.Input{Graph: g, View: view.Of{Graph: g}}
		if rapid.Bool().Draw(t, "sparse") {
			in["D"] = data.Input{Graph: g, View: sparse{view.Of{Graph: g}}}
		}
	}
	for i := range 5 {
		if name := fmt.Sprint("l", i); has(name) {
			in[name] = data.Input{Var: types.Word(rapid.IntRange(0, 2).Draw(t, name))}
		}
	}
	number := func(lo, hi int) types.Word { return types.Word(rapid.IntRange(lo, hi).Draw(t, "number")) }
	for _, name := range []string{"E", "X", "F", "B", "least", "gap", "gap1", "gap2", "total"} {
		if !has(name) {
			continue
		}
		var items []types.Word
		for range rapid.IntRange(0, 9).Draw(t, name) {
			switch name {
			case "E":
				items = append(items, number(0, 4), number(0, 4), number(0, 12))
			case "X":
				items = append(items, number(-3, 9))
			case "F":
				x := float64(number(-8, 9)) / 4
				if x > 2 {
					x = math.Copysign(0, -1)
				}
				items = append(items, types.FromFloat(x))
			case "B":
				items = append(items, number(0, 1))
			}
		}
		in[name] = data.Input{Items: items, Var: number(0, 8)}
	}
	return in
}

// sparse views subgraphs as lists without an offset for each vertex, however many vertices have one.
type sparse struct{ view.Of }

// Relation returns the same lists as view.Of.
func (v sparse) Relation(text string) (graph.Lists, error) {
	lists, err := v.Of.Relation(text)
	if lists.Dense != nil {
		lists = graph.Lists{Sparse: graph.NewSparse(lists.Dense)}
	}
	return lists, err
}
