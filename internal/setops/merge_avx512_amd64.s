//go:build amd64 && !purego

#include "textflag.h"

// The merge of merge_avx2_amd64.s with blocks of 16. Instead of rotating b's
// block, each of its values is broadcast from memory inside the compare, which
// spares the shuffles; for other ways to do without VP2INTERSECT see
// Díez-Cañas, "Faster-than-native alternatives for x86 VP2INTERSECT
// instructions", 2021 (arXiv:2112.06342).

// ALLPAIRS512: K1 = lanes of Z0 whose value is among the 16 at DX. Clobbers K2
// to K6.
#define ALLPAIRS512 \
	VPCMPEQD.BCST (DX), Z0, K1   \
	VPCMPEQD.BCST 4(DX), Z0, K2  \
	VPCMPEQD.BCST 8(DX), Z0, K3  \
	VPCMPEQD.BCST 12(DX), Z0, K4 \
	VPCMPEQD.BCST 16(DX), Z0, K5 \
	VPCMPEQD.BCST 20(DX), Z0, K6 \
	KORW K2, K3, K2              \
	KORW K4, K5, K4              \
	KORW K1, K6, K1              \
	KORW K2, K4, K2              \
	KORW K1, K2, K1              \
	VPCMPEQD.BCST 24(DX), Z0, K2 \
	VPCMPEQD.BCST 28(DX), Z0, K3 \
	VPCMPEQD.BCST 32(DX), Z0, K4 \
	VPCMPEQD.BCST 36(DX), Z0, K5 \
	VPCMPEQD.BCST 40(DX), Z0, K6 \
	KORW K2, K3, K2              \
	KORW K4, K5, K4              \
	KORW K1, K6, K1              \
	KORW K2, K4, K2              \
	KORW K1, K2, K1              \
	VPCMPEQD.BCST 44(DX), Z0, K2 \
	VPCMPEQD.BCST 48(DX), Z0, K3 \
	VPCMPEQD.BCST 52(DX), Z0, K4 \
	VPCMPEQD.BCST 56(DX), Z0, K5 \
	VPCMPEQD.BCST 60(DX), Z0, K6 \
	KORW K2, K3, K2              \
	KORW K4, K5, K4              \
	KORW K1, K6, K1              \
	KORW K2, K4, K2              \
	KORW K1, K2, K1

// RESTPAIRS: K1 = lanes of Z0 whose value is among the cnt (> 0) at DX.
// Clobbers K2 and tmp.
#define RESTPAIRS(cnt, tmp, loop) \
	KXORW         K1, K1, K1        \
	XORL          tmp, tmp          \
loop: \
	VPCMPEQD.BCST (DX)(tmp*4), Z0, K2 \
	KORW          K1, K2, K1        \
	INCQ          tmp               \
	CMPQ          tmp, cnt          \
	JCS           loop

// REST: cnt = min(16, values from ptr to end). end - ptr must be positive.
#define REST(ptr, end, cnt, tmp) \
	MOVQ    end, cnt \
	SUBQ    ptr, cnt \
	SHRQ    $2, cnt  \
	MOVL    $16, tmp \
	CMPQ    cnt, tmp \
	CMOVQHI tmp, cnt

// LOADREST: Z0 = the cnt values at SI, zeros behind them. Clobbers K2, tmp.
#define LOADREST(cnt, tmp) \
	MOVL        $0xFFFF, tmp   \
	BZHIL       cnt, tmp, tmp  \
	KMOVW       tmp, K2        \
	VMOVDQU32.Z (SI), K2, Z0

// func avx512MergeCount(a *uint32, na int, b *uint32, nb int) int
//
// SI, DX: next blocks; R8, R9: ends; R10, R11: last places of full blocks;
// BX: matches seen.
TEXT ·avx512MergeCount(SB), NOSPLIT, $0-40
	MOVQ a+0(FP), SI
	MOVQ na+8(FP), R8
	LEAQ (SI)(R8*4), R8
	MOVQ b+16(FP), DX
	MOVQ nb+24(FP), R9
	LEAQ (DX)(R9*4), R9
	LEAQ -64(R8), R10
	LEAQ -64(R9), R11
	XORL BX, BX

full:
	CMPQ      SI, R10
	JHI       rest
	CMPQ      DX, R11
	JHI       rest
	VMOVDQU32 (SI), Z0
	MOVL      60(SI), AX
	MOVL      60(DX), CX
	LEAQ      64(SI), R12
	LEAQ      64(DX), R13
	ALLPAIRS512
	CMPL      AX, CX
	CMOVQLS   R12, SI
	CMOVQCC   R13, DX
	KMOVW     K1, R12
	POPCNTL   R12, R12
	ADDQ      R12, BX
	JMP       full

rest:
	CMPQ    SI, R8
	JCC     done
	CMPQ    DX, R9
	JCC     done
	REST(SI, R8, R12, R14)
	LOADREST(R12, R14)
	MOVL    -4(SI)(R12*4), AX
	REST(DX, R9, R13, R14)
	MOVL    -4(DX)(R13*4), CX
	RESTPAIRS(R13, R14, restpairs)
	KMOVW   K1, R13
	BZHIL   R12, R13, R13
	POPCNTL R13, R13
	ADDQ    R13, BX
	LEAQ    64(SI), R12
	LEAQ    64(DX), R13
	CMPL    AX, CX
	CMOVQLS R12, SI
	CMOVQCC R13, DX
	JMP     rest

done:
	MOVQ BX, ret+32(FP)
	VZEROUPPER
	RET

// func avx512MergeSelect(dst, a *uint32, na int, b *uint32, nb int, flip uint32) (n, i int)
//
// As avx2MergeSelect. DI: next place in dst; SI: the block of a in Z0, its last
// value in AX, its matches in BX; DX: next block of b; R8, R9: ends; R10, R11:
// last places of full blocks (of two, for a).
TEXT ·avx512MergeSelect(SB), NOSPLIT, $0-64
	MOVQ      dst+0(FP), DI
	MOVQ      a+8(FP), SI
	MOVQ      na+16(FP), R8
	LEAQ      (SI)(R8*4), R8
	MOVQ      b+24(FP), DX
	MOVQ      nb+32(FP), R9
	LEAQ      (DX)(R9*4), R9
	LEAQ      -128(R8), R10
	LEAQ      -64(R9), R11
	CMPQ      SI, R10
	JHI       resta
	CMPQ      DX, R11
	JHI       resta
	VMOVDQU32 (SI), Z0
	MOVL      60(SI), AX
	XORL      BX, BX

full:
	MOVL          60(DX), CX
	ALLPAIRS512
	KMOVW         K1, R12
	ORL           R12, BX
	MOVL          BX, R12
	XORL          flip+40(FP), R12
	KMOVW         R12, K1
	VPCOMPRESSD.Z Z0, K1, Z1
	VMOVDQU32     Z1, (DI)
	POPCNTL       R12, R12

	// R13 = all ones if the block of a stays, that is, its end is above b's.
	CMPL      CX, AX
	SBBL      R13, R13
	ANDL      R13, BX
	ANDNL     R12, R13, R12
	LEAQ      (DI)(R12*4), DI
	NOTL      R13
	KMOVW     R13, K1
	VMOVDQU32 64(SI), K1, Z0
	MOVL      124(SI), R12
	LEAQ      64(SI), R13
	LEAQ      64(DX), R14
	CMPL      AX, CX
	CMOVQCC   R14, DX
	CMOVQLS   R13, SI
	CMOVLLS   R12, AX
	CMPQ      SI, R10
	JHI       fullend
	CMPQ      DX, R11
	JLS       full

fullend:
	MOVL $16, R11
	JMP  restb

	// Rests: R11 = values in the block of a.
resta:
	REST(SI, R8, R11, R14)
	LOADREST(R11, R14)
	MOVL -4(SI)(R11*4), AX
	XORL BX, BX

restb:
	CMPQ    DX, R9
	JCC     bdone
	REST(DX, R9, R13, R14)
	MOVL    -4(DX)(R13*4), CX
	RESTPAIRS(R13, R14, restpairs)
	KMOVW   K1, R12
	ORL     R12, BX
	LEAQ    64(DX), R14
	CMPL    AX, CX
	CMOVQCC R14, DX
	JHI     restb
	JMP     emit

bdone:
	MOVQ SI, R8 // no block of a after this one

	// Stored under a mask: the last block may have less than 16 values, and dst
	// no room for more.
emit:
	XORL          flip+40(FP), BX
	BZHIL         R11, BX, R12
	KMOVW         R12, K1
	VPCOMPRESSD.Z Z0, K1, Z1
	POPCNTL       R12, R12
	MOVL          $0xFFFF, R13
	BZHIL         R12, R13, R13
	KMOVW         R13, K1
	VMOVDQU32     Z1, K1, (DI)
	LEAQ          (DI)(R12*4), DI
	ADDQ          $64, SI
	CMPQ          SI, R8
	JCS           resta

	SUBQ dst+0(FP), DI
	SHRQ $2, DI
	MOVQ DI, n+48(FP)
	SUBQ a+8(FP), SI
	SHRQ $2, SI
	MOVQ SI, i+56(FP)
	VZEROUPPER
	RET
