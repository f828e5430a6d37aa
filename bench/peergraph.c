/* peergraph IN DIR [gm|el|gp|pe|gb|gs]... [desc|asc] [tri=N]: writes an
 * undirected graph in the forms that the peers read: DIR/gm/graph.* (GraphMiner
 * and G2Miner: binary adjacency), edges.el (GAPBS), gp.txt (GraphPi: "n m" and the
 * edges), pe.txt (for Peregrine's converter: ids from 1), graph.bin (gMatch),
 * graph.g (GraphSet, which wants the number of triangles, tri), and DIR/info:
 * vertices, edges, maximum degree. Without names of forms it writes them all.
 * desc and asc number the vertices anew by degree: some peers are several times
 * faster on a graph in one of these orders.
 *
 * IN is a text edge list (two numbers a line; other lines are skipped;
 * directions, duplicates and self-loops are dropped; ids become dense, in
 * ascending order) or gMatch's binary adjacency (name ends in .bin), which is
 * taken as it is. Build: cc -O3 -o peergraph peergraph.c */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef uint32_t u32;
typedef uint64_t u64;

static u32 n, *adj;
static u64 *off; /* n+1 */

static void die(const char *what) { perror(what); exit(1); }
static void *get(size_t bytes) { void *p = calloc(bytes + 1, 1); if (!p) die("memory"); return p; }
static void need(void *p, size_t size, size_t count, FILE *f) { if (fread(p, size, count, f) != count) die("read"); }
static void put(const void *p, size_t size, size_t count, FILE *f) { if (fwrite(p, size, count, f) != count) die("write"); }

static void readBinary(FILE *f) {
	u32 head[2];
	need(head, 4, 2, f);
	n = head[0];
	off = get(8 * ((size_t)n + 1));
	need(off, 8, (size_t)n + 1, f);
	if (fseek(f, 4 * (long)n, SEEK_CUR)) die("seek");
	adj = get(4 * off[n]);
	need(adj, 4, off[n], f);
}

static int compare(const void *a, const void *b) {
	u32 x = *(const u32 *)a, y = *(const u32 *)b;
	return (x > y) - (x < y);
}

static void readText(FILE *f) {
	size_t m = 0, cap = 1 << 20;
	u32 *e = malloc(8 * cap), top = 0;
	char line[512];
	while (fgets(line, sizeof line, f)) {
		char *p, *q;
		u64 u = strtoull(line, &p, 10);
		if (p == line) continue;
		while (*p == ',' || *p == '|') p++;
		u64 v = strtoull(p, &q, 10);
		if (q == p || u == v) continue;
		if (u > 4000000000u || v > 4000000000u) { fprintf(stderr, "peergraph: id too large\n"); exit(1); }
		if (m == cap && !(e = realloc(e, 8 * (cap *= 2)))) die("memory");
		e[2 * m] = (u32)u, e[2 * m + 1] = (u32)v, m++;
		if (u > top) top = (u32)u;
		if (v > top) top = (u32)v;
	}
	u32 *id = get(4 * ((size_t)top + 1));
	for (size_t i = 0; i < 2 * m; i++) id[e[i]] = 1;
	for (size_t i = 0; i <= top; i++) id[i] = id[i] ? n++ : 0;
	u64 *at = get(8 * ((size_t)n + 1));
	off = get(8 * ((size_t)n + 1));
	for (size_t i = 0; i < 2 * m; i++) at[(e[i] = id[e[i]]) + 1]++;
	for (u32 v = 0; v < n; v++) at[v + 1] += at[v];
	memcpy(off, at, 8 * ((size_t)n + 1));
	adj = get(8 * m);
	for (size_t i = 0; i < m; i++) adj[at[e[2 * i]]++] = e[2 * i + 1], adj[at[e[2 * i + 1]]++] = e[2 * i];
	u64 to = 0;
	for (u32 v = 0; v < n; v++) { /* sort and drop duplicates in place */
		u64 lo = off[v], hi = off[v + 1];
		qsort(adj + lo, hi - lo, 4, compare);
		off[v] = to;
		for (u64 i = lo; i < hi; i++) if (i == lo || adj[i] != adj[i - 1]) at[0] = adj[i], adj[to++] = (u32)at[0];
	}
	off[n] = to;
}

static int direction;

static int byDegree(const void *a, const void *b) {
	u32 x = *(const u32 *)a, y = *(const u32 *)b;
	u64 dx = off[x + 1] - off[x], dy = off[y + 1] - off[y];
	if (dx != dy) return (dx > dy) == (direction > 0) ? 1 : -1;
	return (x > y) - (x < y);
}

/* Numbers the vertices by degree: ascending if way is 1, descending if it is -1. */
static void renumber(int way) {
	u32 *order = get(4 * (size_t)n), *place = get(4 * (size_t)n), *to = get(4 * off[n]);
	u64 *at = get(8 * ((size_t)n + 1));
	for (u32 v = 0; v < n; v++) order[v] = v;
	direction = way;
	qsort(order, n, 4, byDegree);
	for (u32 i = 0; i < n; i++) place[order[i]] = i;
	for (u32 i = 0; i < n; i++) {
		u32 v = order[i];
		at[i + 1] = at[i];
		for (u64 j = off[v]; j < off[v + 1]; j++) to[at[i + 1]++] = place[adj[j]];
		qsort(to + at[i], at[i + 1] - at[i], 4, compare);
	}
	free(order), free(place), free(off), free(adj);
	off = at, adj = to;
}

/* GraphSet's header: its last word makes the sum of all words 0. */
static void graphSet(FILE *f, long long triangles) {
	struct { int32_t vertices, pad; int64_t entries; u32 longest, check; int64_t triangles; } h;
	u64 first = 0, second = 0;
	for (u32 v = 0; v < n; v++) {
		u64 d = off[v + 1] - off[v];
		if (d > first) second = first, first = d;
		else if (d > second) second = d;
	}
	memset(&h, 0, sizeof h);
	h.vertices = (int32_t)n, h.entries = (int64_t)off[n], h.longest = (u32)second, h.triangles = triangles;
	u32 words[sizeof h / 4], sum = 0;
	memcpy(words, &h, sizeof h);
	for (size_t i = 0; i < sizeof h / 4; i++) sum += words[i];
	h.check = -sum;
	put(&h, sizeof h, 1, f);
	put(off, 8, (size_t)n + 1, f);
	put(adj, 4, off[n], f);
	if (fclose(f)) die("write");
}

static FILE *create(const char *dir, const char *name) {
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "wb");
	if (!f) die(path);
	return f;
}

static void edges(FILE *f, u32 from) {
	for (u32 v = 0; v < n; v++)
		for (u64 i = off[v]; i < off[v + 1]; i++)
			if (v < adj[i]) fprintf(f, "%u %u\n", v + from, adj[i] + from);
	if (fclose(f)) die("write");
}

int main(int argc, char **argv) {
	if (argc < 3) { fprintf(stderr, "usage: peergraph IN DIR [gm|el|gp|pe|gb|gs]... [desc|asc] [tri=N]\n"); return 2; }
	FILE *f = fopen(argv[1], "rb");
	if (!f) die(argv[1]);
	size_t len = strlen(argv[1]);
	if (len > 4 && !strcmp(argv[1] + len - 4, ".bin")) readBinary(f); else readText(f);
	const char *dir = argv[2];
	mkdir(dir, 0777);
	int forms = 0;
	long long triangles = 0;
	for (int i = 3; i < argc; i++) {
		if (!strcmp(argv[i], "desc")) renumber(-1);
		else if (!strcmp(argv[i], "asc")) renumber(1);
		else if (!strncmp(argv[i], "tri=", 4)) triangles = strtoll(argv[i] + 4, NULL, 10);
		else forms++;
	}
	u64 most = 0;
	for (u32 v = 0; v < n; v++) if (off[v + 1] - off[v] > most) most = off[v + 1] - off[v];
	for (const char *form = "gmelgppegbgs"; *form; form += 2) {
		int wanted = !forms;
		for (int i = 3; i < argc; i++) wanted |= !strncmp(argv[i], form, 2);
		if (!wanted) continue;
		if (!strncmp(form, "gm", 2)) {
			char path[4096];
			snprintf(path, sizeof path, "%s/gm", dir);
			mkdir(path, 0777);
			put(off, 8, (size_t)n + 1, f = create(dir, "gm/graph.vertex.bin"));
			if (fclose(f)) die("write");
			put(adj, 4, off[n], f = create(dir, "gm/graph.edge.bin"));
			if (fclose(f)) die("write");
			fprintf(f = create(dir, "gm/graph.meta.txt"), "%u\n%llu\n4 8 1 2\n%llu\n0\n0\n0\n", n, (unsigned long long)off[n], (unsigned long long)most);
			if (fclose(f)) die("write");
		} else if (!strncmp(form, "el", 2)) {
			edges(create(dir, "edges.el"), 0);
		} else if (!strncmp(form, "gp", 2)) {
			u32 joined = 0; /* GraphPi refuses a file in which vertices have no edge */
			for (u32 v = 0; v < n; v++) joined += off[v + 1] > off[v];
			fprintf(f = create(dir, "gp.txt"), "%u %llu\n", joined, (unsigned long long)off[n] / 2);
			edges(f, 0);
		} else if (!strncmp(form, "gb", 2)) {
			u32 head[2] = {n, (u32)(off[n] / 2)}, *labels = get(4 * (size_t)n);
			put(head, 4, 2, f = create(dir, "graph.bin"));
			put(off, 8, (size_t)n + 1, f);
			put(labels, 4, n, f);
			put(adj, 4, off[n], f);
			if (fclose(f)) die("write");
			free(labels);
		} else if (!strncmp(form, "gs", 2)) {
			graphSet(create(dir, "graph.g"), triangles);
		} else {
			edges(create(dir, "pe.txt"), 1);
		}
	}
	fprintf(f = create(dir, "info"), "%u %llu %llu\n", n, (unsigned long long)off[n] / 2, (unsigned long long)most);
	return fclose(f) ? 1 : 0;
}
