//go:build amd64 && !purego

#include "textflag.h"

// Counting the bits of a combination of rows with VPOPCNTQ, 8 words at a time;
// the last vector is loaded and stored under a mask.
//
// Registers: SI, DX: the rows a, b; DI: dst; CX: words left; Z15: count
// by lane; K1: the lanes in use.

#define ROWS(GET, STEP) \
	VPXORQ   Z15, Z15, Z15 \
	KXNORW   K1, K1, K1    \
	SUBQ     $8, CX        \
	JCS      tail          \
octet: \
	GET                    \
	VPOPCNTQ Z0, Z0        \
	VPADDQ   Z0, Z15, Z15  \
	STEP                   \
	SUBQ     $8, CX        \
	JCC      octet         \
tail: \
	ADDQ     $8, CX        \
	JEQ      sum           \
	MOVL     $0xFF, BX     \
	BZHIL    CX, BX, BX    \
	KMOVW    BX, K1        \
	GET                    \
	VPOPCNTQ Z0, Z0        \
	VPADDQ   Z0, Z15, Z15  \
sum: \
	VEXTRACTI64X4 $1, Z15, Y0 \
	VPADDQ   Y0, Y15, Y15     \
	VEXTRACTI128 $1, Y15, X0  \
	VPADDQ   X0, X15, X15     \
	VPSHUFD  $0x4E, X15, X0   \
	VPADDQ   X0, X15, X15     \
	VMOVQ    X15, AX          \
	VZEROUPPER

#define STEP2 \
	ADDQ $64, SI \
	ADDQ $64, DX

#define STEPD \
	ADDQ $64, SI \
	ADDQ $64, DX \
	ADDQ $64, DI

#define GETAND \
	VMOVDQU64.Z (SI), K1, Z0 \
	VMOVDQU64.Z (DX), K1, Z1 \
	VPANDQ      Z1, Z0, Z0

#define GETNOT \
	VMOVDQU64.Z (SI), K1, Z0 \
	VMOVDQU64.Z (DX), K1, Z1 \
	VPANDNQ     Z0, Z1, Z0

#define PUTAND \
	GETAND                 \
	VMOVDQU64 Z0, K1, (DI)

#define PUTNOT \
	GETNOT                 \
	VMOVDQU64 Z0, K1, (DI)

// func avx512AndCount(a, b *uint64, n int) int
TEXT ·avx512AndCount(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DX
	MOVQ n+16(FP), CX
	ROWS(GETAND, STEP2)
	MOVQ AX, ret+24(FP)
	RET

// func avx512And(dst, a, b *uint64, n int) int
TEXT ·avx512And(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	ROWS(PUTAND, STEPD)
	MOVQ AX, ret+32(FP)
	RET

// func avx512AndNot(dst, a, b *uint64, n int) int
TEXT ·avx512AndNot(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	ROWS(PUTNOT, STEPD)
	MOVQ AX, ret+32(FP)
	RET
