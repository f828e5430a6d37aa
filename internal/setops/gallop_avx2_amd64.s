//go:build amd64 && !purego

#include "textflag.h"

// Galloping with a vector compare at the end: Lemire, Boytsov and Kurz, "SIMD
// compression and the intersection of sorted integers", 2016, section 5.

// func avx2Gallop(dst, small *uint32, nsmall int, large *uint32, nlarge int, flip, stride int) (n, i int)
//
// A window is 16 values of large. SI: next of small, R8: its end; DX: window
// before which everything is below the value looked up; R9: the last window of
// large; AX: the value; BX: number kept; DI: dst.
TEXT ·avx2Gallop(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ small+8(FP), SI
	MOVQ nsmall+16(FP), R8
	LEAQ (SI)(R8*4), R8
	MOVQ large+24(FP), DX
	MOVQ nlarge+32(FP), R9
	LEAQ -64(DX)(R9*4), R9
	MOVQ flip+40(FP), R10
	MOVQ stride+48(FP), R14
	NEGQ R14                   // as a mask
	XORL BX, BX
	CMPQ SI, R8
	JCC  done

next:
	MOVL (SI), AX
	CMPL 60(DX), AX
	JCC  compare
	MOVL $64, CX

	// Double the distance CX until the window at R11 ends at or above AX.
gallop:
	LEAQ    (DX)(CX*1), R11
	CMPQ    R11, R9
	CMOVQHI R9, R11
	CMPL    60(R11), AX
	JCC     narrow
	CMPQ    R11, R9
	JEQ     done               // all of large is below AX
	MOVQ    R11, DX
	ADDQ    CX, CX
	JMP     gallop

	// The place of AX is in the CX bytes from DX on: halve while they are more
	// than one window.
narrow:
	MOVQ R11, CX
	SUBQ DX, CX
	ADDQ $64, DX
	CMPQ CX, $64
	JLS  clip

halve:
	MOVQ    CX, R12
	SHRQ    $3, R12            // half of CX, in values
	LEAQ    (DX)(R12*4), R13
	CMPL    -4(R13), AX
	CMOVQCS R13, DX
	SHLQ    $2, R12
	SUBQ    R12, CX
	CMPQ    CX, $64
	JHI     halve

clip:
	CMPQ    DX, R9
	CMOVQHI R9, DX

compare:
	VMOVD        AX, X0
	VPBROADCASTD X0, Y0
	VPCMPEQD     (DX), Y0, Y1
	VPCMPEQD     32(DX), Y0, Y2
	VPOR         Y1, Y2, Y1
	XORL         R12, R12
	VPTEST       Y1, Y1
	SETNE        R12
	MOVQ         BX, R13
	ANDQ         R14, R13
	MOVL         AX, (DI)(R13*4)
	XORQ         R10, R12
	ADDQ         R12, BX
	ADDQ         $4, SI
	CMPQ         SI, R8
	JCS          next

done:
	MOVQ BX, n+56(FP)
	SUBQ small+8(FP), SI
	SHRQ $2, SI
	MOVQ SI, i+64(FP)
	VZEROUPPER
	RET
