//go:build amd64 && !purego

#include "textflag.h"

// Merging two lists by blocks of 8: every value of a block of a is compared
// with every value of a block of b, by rotating one of them, and the block with
// the smaller last value (both, if equal) is replaced by the next.
//
// Schlegel, Willhalm and Lehner, "Fast sorted-set intersection using SIMD
// instructions", ADMS 2011; Lemire, Boytsov and Kurz, "SIMD compression and the
// intersection of sorted integers", Softw. Pract. Exper. 46(6), 2016; the
// choice of the next blocks without branches: Inoue, Ohara and Taura, "Faster
// set intersection with SIMD instructions by reducing branch mispredictions",
// PVLDB 8(3), 2014.

// ALLPAIRS: Y2 = lanes of Y0 whose value is in b's block, of which Y1 has the
// low half in both its halves and Y3 the high half. Clobbers Y3 to Y9.
#define ALLPAIRS \
	VPSHUFD  $0x39, Y1, Y4 \
	VPSHUFD  $0x4E, Y1, Y5 \
	VPSHUFD  $0x93, Y1, Y6 \
	VPSHUFD  $0x39, Y3, Y7 \
	VPSHUFD  $0x4E, Y3, Y8 \
	VPSHUFD  $0x93, Y3, Y9 \
	VPCMPEQD Y1, Y0, Y2    \
	VPCMPEQD Y3, Y0, Y3    \
	VPCMPEQD Y4, Y0, Y4    \
	VPCMPEQD Y5, Y0, Y5    \
	VPCMPEQD Y6, Y0, Y6    \
	VPCMPEQD Y7, Y0, Y7    \
	VPCMPEQD Y8, Y0, Y8    \
	VPCMPEQD Y9, Y0, Y9    \
	VPOR     Y2, Y3, Y2    \
	VPOR     Y4, Y5, Y4    \
	VPOR     Y6, Y7, Y6    \
	VPOR     Y8, Y9, Y8    \
	VPOR     Y2, Y4, Y2    \
	VPOR     Y6, Y8, Y6    \
	VPOR     Y2, Y6, Y2

// LOADREST: vec = the next up to 8 values at ptr, zeros behind them; cnt = how
// many. end - ptr must be positive. Clobbers Y10, R14.
#define LOADREST(ptr, end, cnt, vec) \
	MOVQ       end, cnt                \
	SUBQ       ptr, cnt                \
	SHRQ       $2, cnt                 \
	MOVL       $8, R14                 \
	CMPQ       cnt, R14                \
	CMOVQHI    R14, cnt                \
	LEAQ       ·laneMasks+32(SB), R14  \
	SHLQ       $2, cnt                 \
	SUBQ       cnt, R14                \
	SHRQ       $2, cnt                 \
	VMOVDQU    (R14), Y10              \
	VPMASKMOVD (ptr), Y10, vec

// LOADRESTB loads b's next values (at DX, end R9) like LOADREST and lays them
// out for ALLPAIRS. Lanes behind the end repeat the last value, which can match
// nothing that it does not match itself. cnt = how many.
#define LOADRESTB(cnt) \
	LOADREST(DX, R9, cnt, Y1)         \
	LEAQ       ·padIndex(SB), R14     \
	SHLQ       $5, cnt                \
	VMOVDQU    (R14)(cnt*1), Y10      \
	SHRQ       $5, cnt                \
	VPERMD     Y1, Y10, Y1            \
	VPERM2I128 $0x11, Y1, Y1, Y3      \
	VPERM2I128 $0x00, Y1, Y1, Y1

// func avx2MergeCount(a *uint32, na int, b *uint32, nb int) int
//
// The last values of the blocks are in AX and CX before the blocks are needed:
// loading them one step ahead takes the load out of the chain compare, next
// block, compare that bounds the loop otherwise. So a step needs two full blocks
// of each list.
//
// SI, DX: next blocks; R8, R9: ends; R10, R11: last places of two full blocks;
// Y15: matches seen, by lane; BX: matches seen in the rests.
TEXT ·avx2MergeCount(SB), NOSPLIT, $0-40
	MOVQ  a+0(FP), SI
	MOVQ  na+8(FP), R8
	LEAQ  (SI)(R8*4), R8
	MOVQ  b+16(FP), DX
	MOVQ  nb+24(FP), R9
	LEAQ  (DX)(R9*4), R9
	LEAQ  -64(R8), R10
	LEAQ  -64(R9), R11
	XORL  BX, BX
	VPXOR Y15, Y15, Y15
	CMPQ  SI, R10
	JHI   rest
	CMPQ  DX, R11
	JHI   rest

	MOVL  28(SI), AX
	MOVL  28(DX), CX
	PCALIGN $32
full:
	VMOVDQU        (SI), Y0
	VBROADCASTI128 (DX), Y1
	VBROADCASTI128 16(DX), Y3
	MOVL           60(SI), R14
	MOVL           60(DX), DI
	LEAQ           32(SI), R12
	LEAQ           32(DX), R13
	CMPL           AX, CX
	CMOVQLS        R12, SI
	CMOVQCC        R13, DX
	CMOVLLS        R14, AX
	CMOVLCC        DI, CX
	ALLPAIRS
	VPSUBD         Y2, Y15, Y15
	CMPQ           SI, R10
	JHI            sum
	CMPQ           DX, R11
	JLS            full

sum:
	VEXTRACTI128 $1, Y15, X1
	VPADDD       X1, X15, X15
	VPSHUFD      $0x4E, X15, X1
	VPADDD       X1, X15, X15
	VPSHUFD      $0x39, X15, X1
	VPADDD       X1, X15, X15
	VMOVD        X15, BX
	CMPQ         SI, R8
	JCC          done
	CMPQ         DX, R9
	JCC          done

	// From here on one of the blocks may be partly filled.
rest:
	LOADREST(SI, R8, R12, Y0)
	MOVL      -4(SI)(R12*4), AX
	LOADRESTB(R13)
	MOVL      -4(DX)(R13*4), CX
	ALLPAIRS
	VMOVMSKPS Y2, R13
	BZHIL     R12, R13, R13
	POPCNTL   R13, R13
	ADDQ      R13, BX
	LEAQ      32(SI), R12
	LEAQ      32(DX), R13
	CMPL      AX, CX
	CMOVQLS   R12, SI
	CMOVQCC   R13, DX
	CMPQ      SI, R8
	JCC       done
	CMPQ      DX, R9
	JCS       rest

done:
	MOVQ BX, ret+32(FP)
	VZEROUPPER
	RET

// func avx2MergeSelect(dst, a *uint32, na int, b *uint32, nb int, flip uint32) (n, i int)
//
// The block of a stays in Y0 with its last value in AX, and the matches found
// for it gather in Y14, until b has passed it; it is written out then. Storing
// happens in every step, but DI moves on only when the block is finished.
//
// DI: next place in dst; SI: the block in Y0; DX: next block of b; R8, R9: ends;
// R10, R11: last places of full blocks (of two, for a); BX: compressIndex.
TEXT ·avx2MergeSelect(SB), NOSPLIT, $0-64
	MOVQ    dst+0(FP), DI
	MOVQ    a+8(FP), SI
	MOVQ    na+16(FP), R8
	LEAQ    (SI)(R8*4), R8
	MOVQ    b+24(FP), DX
	MOVQ    nb+32(FP), R9
	LEAQ    (DX)(R9*4), R9
	LEAQ    -64(R8), R10
	LEAQ    -32(R9), R11
	LEAQ    ·compressIndex(SB), BX
	CMPQ    SI, R10
	JHI     resta
	CMPQ    DX, R11
	JHI     resta
	VMOVDQU (SI), Y0
	MOVL    28(SI), AX
	VPXOR   Y14, Y14, Y14

	PCALIGN $32
full:
	VBROADCASTI128 (DX), Y1
	VBROADCASTI128 16(DX), Y3
	MOVL           28(DX), CX
	ALLPAIRS
	VPOR           Y2, Y14, Y14
	VMOVMSKPS      Y14, R12
	XORL           flip+40(FP), R12
	VPMOVZXBD      (BX)(R12*8), Y10
	VPERMD         Y0, Y10, Y11
	VMOVDQU        Y11, (DI)
	POPCNTL        R12, R12

	// R13 = all ones if the block of a stays, that is, its end is above b's.
	CMPL         CX, AX
	SBBL         R13, R13
	ANDNL        R12, R13, R12
	LEAQ         (DI)(R12*4), DI
	VMOVD        R13, X10
	VPBROADCASTD X10, Y10
	VMOVDQU      32(SI), Y12
	VPAND        Y10, Y14, Y14
	VPBLENDVB    Y10, Y0, Y12, Y0
	MOVL         60(SI), R12
	LEAQ         32(SI), R13
	LEAQ         32(DX), R14
	CMPL         AX, CX
	CMOVQCC      R14, DX
	CMOVQLS      R13, SI
	CMOVLLS      R12, AX
	CMPQ         SI, R10
	JHI          fullend
	CMPQ         DX, R11
	JLS          full

fullend:
	VMOVMSKPS Y14, R13
	MOVL      $8, R11
	JMP       restb

	// Rests: R11 = values in the block of a, R13 = bits of the matches in it.
resta:
	LOADREST(SI, R8, R11, Y0)
	MOVL -4(SI)(R11*4), AX
	XORL R13, R13

restb:
	CMPQ      DX, R9
	JCC       bdone
	LOADRESTB(R12)
	MOVL      -4(DX)(R12*4), CX
	ALLPAIRS
	VMOVMSKPS Y2, R12
	ORL       R12, R13
	LEAQ      32(DX), R14
	CMPL      AX, CX
	CMOVQCC   R14, DX
	JHI       restb
	JMP       emit

bdone:
	MOVQ SI, R8 // no block of a after this one

emit:
	XORL      flip+40(FP), R13
	BZHIL     R11, R13, R12
	VPMOVZXBD (BX)(R12*8), Y10
	VPERMD    Y0, Y10, Y11
	POPCNTL   R12, R12
	ADDQ      $32, SI
	CMPQ      R11, $8
	JNE       emitpart
	VMOVDQU   Y11, (DI)
	LEAQ      (DI)(R12*4), DI
	CMPQ      SI, R8
	JCS       resta
	JMP       done

	// The last block has less than 8 values, and dst no room for more.
emitpart:
	TESTL        $4, R12
	JEQ          emit2
	VMOVDQU      X11, (DI)
	ADDQ         $16, DI
	VEXTRACTI128 $1, Y11, X11

emit2:
	TESTL   $2, R12
	JEQ     emit1
	VMOVQ   X11, (DI)
	ADDQ    $8, DI
	VPSRLDQ $8, X11, X11

emit1:
	TESTL $1, R12
	JEQ   done
	VMOVD X11, (DI)
	ADDQ  $4, DI

done:
	SUBQ dst+0(FP), DI
	SHRQ $2, DI
	MOVQ DI, n+48(FP)
	SUBQ a+8(FP), SI
	SHRQ $2, SI
	MOVQ SI, i+56(FP)
	VZEROUPPER
	RET
