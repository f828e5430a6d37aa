//go:build amd64 && !purego

#include "textflag.h"

// Bits of 8 vertices at a time, by a gather of the 32-bit words they are in.

// GATHER: Y4 = for each vertex in Y0 its word of the bitmap at BX, shifted left
// so that its bit is the highest. Jumps to out if a vertex is not below the
// bitmap's end. Y13: 31 in each lane; Y14: number of words. Clobbers AX, Y1 to
// Y3.
#define GATHER(out) \
	VPSRLD     $5, Y0, Y1       \
	VPCMPGTD   Y1, Y14, Y2      \
	VMOVMSKPS  Y2, AX           \
	CMPL       AX, $0xFF        \
	JNE        out              \
	VPXOR      Y4, Y4, Y4       \
	VPGATHERDD Y2, (BX)(Y1*4), Y4 \
	VPANDN     Y13, Y0, Y3      \
	VPSLLVD    Y3, Y4, Y4

// SETUP fills Y13, and Y14 from AX.
#define SETUP \
	VMOVD        AX, X14  \
	VPBROADCASTD X14, Y14 \
	MOVL         $31, AX  \
	VMOVD        AX, X13  \
	VPBROADCASTD X13, Y13

// func avx2CountBits(list *uint32, n int, bm *uint64, halfwords uint32) (count, i int)
TEXT ·avx2CountBits(SB), NOSPLIT, $0-48
	MOVQ  list+0(FP), SI
	MOVQ  n+8(FP), R8
	MOVQ  bm+16(FP), BX
	MOVL  halfwords+24(FP), AX
	SETUP
	LEAQ  -32(SI)(R8*4), R8
	VPXOR Y15, Y15, Y15
	CMPQ  SI, R8
	JHI   done

	PCALIGN $32
loop:
	VMOVDQU (SI), Y0
	GATHER(done)
	VPSRLD  $31, Y4, Y4
	VPADDD  Y4, Y15, Y15
	ADDQ    $32, SI
	CMPQ    SI, R8
	JLS     loop

done:
	VEXTRACTI128 $1, Y15, X1
	VPADDD       X1, X15, X15
	VPSHUFD      $0x4E, X15, X1
	VPADDD       X1, X15, X15
	VPSHUFD      $0x39, X15, X1
	VPADDD       X1, X15, X15
	VMOVD        X15, AX
	MOVQ         AX, count+32(FP)
	SUBQ         list+0(FP), SI
	SHRQ         $2, SI
	MOVQ         SI, i+40(FP)
	VZEROUPPER
	RET

// func avx2FilterBits(dst, list *uint32, n int, bm *uint64, halfwords, flip uint32) (count, i int)
TEXT ·avx2FilterBits(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ list+8(FP), SI
	MOVQ n+16(FP), R8
	MOVQ bm+24(FP), BX
	MOVL halfwords+32(FP), AX
	SETUP
	MOVL flip+36(FP), R9
	LEAQ ·compressIndex(SB), DX
	LEAQ -32(SI)(R8*4), R8
	CMPQ SI, R8
	JHI  done

	PCALIGN $32
loop:
	VMOVDQU   (SI), Y0
	GATHER(done)
	VMOVMSKPS Y4, AX
	XORL      R9, AX
	VPMOVZXBD (DX)(AX*8), Y5
	VPERMD    Y0, Y5, Y5
	VMOVDQU   Y5, (DI)
	POPCNTL   AX, AX
	LEAQ      (DI)(AX*4), DI
	ADDQ      $32, SI
	CMPQ      SI, R8
	JLS       loop

done:
	SUBQ dst+0(FP), DI
	SHRQ $2, DI
	MOVQ DI, count+40(FP)
	SUBQ list+8(FP), SI
	SHRQ $2, SI
	MOVQ SI, i+48(FP)
	VZEROUPPER
	RET
