//go:build amd64 && !purego

#include "textflag.h"

// Counting the bits of a combination of rows without storing it. 64 words at a
// time go through a tree of carry-save adders (Harley-Seal), what is left by 4
// words through a table of nibbles in a register, the last words one by one.
//
// Muła, Kurz and Lemire, "Faster population counts using AVX2 instructions",
// Comput. J. 61(1), 2018.
//
// Registers: SI, DX: the rows a, b; DI: dst; CX: words left; AX: count;
// Y15: count in four lanes; Y14: nibble table; Y13: 0x0F bytes; Y8 to Y11: ones,
// twos, fours and eights of the tree.

DATA nibbles<>+0(SB)/8, $0x0302020102010100
DATA nibbles<>+8(SB)/8, $0x0403030203020201
GLOBL nibbles<>(SB), RODATA|NOPTR, $16

// CSA: h:l = the carry and sum bits of l + b + c. Clobbers Y6, Y7. h may be b or c.
#define CSA(h, l, b, c) \
	VPXOR b, l, Y6 \
	VPAND b, l, Y7 \
	VPXOR c, Y6, l \
	VPAND c, Y6, h \
	VPOR  Y7, h, h

// POP: adds the number of bits in v, times 1<<s, to Y15. Clobbers Y6, Y7.
// Y12 must be zero.
#define POP(v, s) \
	VPAND   Y13, v, Y6   \
	VPSRLW  $4, v, Y7    \
	VPAND   Y13, Y7, Y7  \
	VPSHUFB Y6, Y14, Y6  \
	VPSHUFB Y7, Y14, Y7  \
	VPADDB  Y6, Y7, Y6   \
	VPSADBW Y12, Y6, Y6  \
	VPSLLQ  $s, Y6, Y6   \
	VPADDQ  Y6, Y15, Y15

#define SETUP \
	XORL           AX, AX                 \
	VPXOR          Y12, Y12, Y12          \
	VPXOR          Y15, Y15, Y15          \
	VBROADCASTI128 nibbles<>(SB), Y14     \
	MOVL           $0x0F0F0F0F, BX        \
	VMOVD          BX, X13                \
	VPBROADCASTD   X13, Y13

#define CLEARTREE \
	VPXOR Y8, Y8, Y8    \
	VPXOR Y9, Y9, Y9    \
	VPXOR Y10, Y10, Y10 \
	VPXOR Y11, Y11, Y11

// TREE adds 16 vectors, from GET(offset, register), to the tree; sixteens are
// counted at once.
#define TREE(GET) \
	GET(0, Y0)           \
	GET(32, Y1)          \
	CSA(Y2, Y8, Y0, Y1)  \
	GET(64, Y0)          \
	GET(96, Y1)          \
	CSA(Y3, Y8, Y0, Y1)  \
	CSA(Y4, Y9, Y2, Y3)  \
	GET(128, Y0)         \
	GET(160, Y1)         \
	CSA(Y2, Y8, Y0, Y1)  \
	GET(192, Y0)         \
	GET(224, Y1)         \
	CSA(Y3, Y8, Y0, Y1)  \
	CSA(Y2, Y9, Y2, Y3)  \
	CSA(Y5, Y10, Y4, Y2) \
	GET(256, Y0)         \
	GET(288, Y1)         \
	CSA(Y2, Y8, Y0, Y1)  \
	GET(320, Y0)         \
	GET(352, Y1)         \
	CSA(Y3, Y8, Y0, Y1)  \
	CSA(Y4, Y9, Y2, Y3)  \
	GET(384, Y0)         \
	GET(416, Y1)         \
	CSA(Y2, Y8, Y0, Y1)  \
	GET(448, Y0)         \
	GET(480, Y1)         \
	CSA(Y3, Y8, Y0, Y1)  \
	CSA(Y2, Y9, Y2, Y3)  \
	CSA(Y4, Y10, Y4, Y2) \
	CSA(Y0, Y11, Y5, Y4) \
	POP(Y0, 4)

#define COUNTTREE \
	POP(Y8, 0)  \
	POP(Y9, 1)  \
	POP(Y10, 2) \
	POP(Y11, 3)

// SUM adds the lanes of Y15 to AX.
#define SUM \
	VEXTRACTI128 $1, Y15, X0 \
	VPADDQ X0, X15, X15      \
	VPSHUFD $0x4E, X15, X0   \
	VPADDQ X0, X15, X15      \
	VMOVQ  X15, BX           \
	ADDQ   BX, AX

// ROWS is the body of a kernel. GET, GETW: the next vector, the next word;
// STEP(n): moves the rows on by n bytes.
#define ROWS(GET, GETW, STEP) \
	SETUP               \
	CMPQ    CX, $64     \
	JCS     quads       \
	CLEARTREE           \
tree: \
	TREE(GET)           \
	STEP(512)           \
	SUBQ    $64, CX     \
	CMPQ    CX, $64     \
	JCC     tree        \
	COUNTTREE           \
quads: \
	SUBQ    $4, CX      \
	JCS     tail        \
quad: \
	GET(0, Y0)          \
	POP(Y0, 0)          \
	STEP(32)            \
	SUBQ    $4, CX      \
	JCC     quad        \
tail: \
	SUM                 \
	ADDQ    $4, CX      \
	JEQ     done        \
word: \
	GETW                \
	POPCNTQ BX, BX      \
	ADDQ    BX, AX      \
	STEP(8)             \
	DECQ    CX          \
	JNE     word        \
done: \
	VZEROUPPER

#define STEP2(n) \
	ADDQ $n, SI \
	ADDQ $n, DX

#define STEPD(n) \
	ADDQ $n, SI \
	ADDQ $n, DX \
	ADDQ $n, DI

#define GETAND(o, v) \
	VMOVDQU o(SI), v    \
	VPAND   o(DX), v, v

#define GETANDW \
	MOVQ (SI), BX \
	ANDQ (DX), BX

#define GETNOT(o, v) \
	VMOVDQU o(DX), v    \
	VPANDN  o(SI), v, v

#define GETNOTW \
	MOVQ  (DX), BX     \
	ANDNQ (SI), BX, BX

#define PUTAND(o, v) \
	GETAND(o, v)      \
	VMOVDQU v, o(DI)

#define PUTANDW \
	GETANDW       \
	MOVQ BX, (DI)

#define PUTNOT(o, v) \
	GETNOT(o, v)      \
	VMOVDQU v, o(DI)

#define PUTNOTW \
	GETNOTW       \
	MOVQ BX, (DI)

// func avx2AndCount(a, b *uint64, n int) int
TEXT ·avx2AndCount(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DX
	MOVQ n+16(FP), CX
	ROWS(GETAND, GETANDW, STEP2)
	MOVQ AX, ret+24(FP)
	RET

// func avx2And(dst, a, b *uint64, n int) int
TEXT ·avx2And(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	ROWS(PUTAND, PUTANDW, STEPD)
	MOVQ AX, ret+32(FP)
	RET

// func avx2AndNot(dst, a, b *uint64, n int) int
TEXT ·avx2AndNot(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	ROWS(PUTNOT, PUTNOTW, STEPD)
	MOVQ AX, ret+32(FP)
	RET
