/* parse FILE: reads the file in blocks and parses two whole numbers a line, by
 * hand and on one thread. It keeps nothing but a sum, so it bounds from above
 * what a reader of text edge lists can do on one core.
 * Build: cc -O3 -march=native -o parse parse.c
 * Prints: lines, sum of the numbers, seconds, MB/s. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
	FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
	if (!f) { fprintf(stderr, "usage: parse FILE\n"); return 2; }
	enum { block = 1 << 20, keep = 256 };
	char *buf = malloc(block + keep + 1);
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	uint64_t lines = 0, sum = 0, bytes = 0;
	size_t rest = 0, n;
	while ((n = fread(buf + rest, 1, block, f)) > 0 || rest > 0) {
		bytes += n;
		char *end = buf + rest + n, *stop = end;
		if (n == 0) *stop++ = '\n', rest = 0; /* the last line without an end */
		else while (stop > buf && stop[-1] != '\n') stop--;
		for (char *p = buf; p < stop;) {
			if ((unsigned)(*p - '0') > 9) { while (*p++ != '\n') {} continue; }
			uint64_t u = 0, v = 0;
			unsigned d;
			while ((d = (unsigned)(*p - '0')) < 10) u = u * 10 + d, p++;
			while (*p == ' ' || *p == '\t' || *p == ',') p++;
			while ((d = (unsigned)(*p - '0')) < 10) v = v * 10 + d, p++;
			while (*p++ != '\n') {}
			sum += u + v;
			lines++;
		}
		if (n == 0) break;
		rest = (size_t)(end - stop);
		if (rest > keep) { fprintf(stderr, "parse: a line is too long\n"); return 1; }
		memmove(buf, stop, rest);
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	double s = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
	printf("%llu lines, sum %llu, %.6f s, %.1f MB/s\n", (unsigned long long)lines, (unsigned long long)sum, s, 1e-6 * (double)bytes / s);
	return 0;
}
