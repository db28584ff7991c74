	.text
	.section	.AMDGPU.config
	.long	165992
	.long	776
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	rnd113                          ; -- Begin function rnd113
	.p2align	8
	.type	rnd113,@function
rnd113:                                 ; @rnd113
rnd113$local:
; %bb.0:
	ALU 15, @18, KC0[CB0:0-32], KC1[]
	LOOP_START_DX10 @16
	ALU_PUSH_BEFORE 5, @34, KC0[], KC1[]
	JUMP @11 POP:1
	LOOP_START_DX10 @10
	ALU_PUSH_BEFORE 17, @40, KC0[], KC1[]
	JUMP @9 POP:1
	LOOP_BREAK @9
	POP @9 POP:1
	END_LOOP @5
	POP @11 POP:1
	ALU_PUSH_BEFORE 12, @58, KC0[], KC1[]
	JUMP @15 POP:1
	LOOP_BREAK @15
	POP @15 POP:1
	END_LOOP @2
	EXPORT T1.XY01
	CF_END
	ALU clause starting at 18:
	  AND_INT   T0.Z, T0.X, KC0[2].Z,  
	  MOV   T1.W, literal.x,  
	  MULLO_INT * T0.Y, T0.X, literal.y,  
	0(0.000000e+00), -1640531535(-9.713105e-21)
	  ADD_INT   T1.X, PS, KC0[2].Y,  
	  AND_INT   T0.Y, KC0[2].Z, literal.x,  
	  AND_INT   T1.Z, T0.X, literal.x,  
	  XOR_INT   T0.W, T0.X, KC0[2].Z,  
	  SUB_INT * T2.W, KC0[2].Z, KC0[2].Y,  
	7(9.809089e-45), 0(0.000000e+00)
	  XOR_INT   T0.X, PS, literal.x,  
	  MOV   T1.Y, PV.W,  
	  SETE_INT   T2.Z, PV.Z, 0.0,  
	  SETE_INT   T2.W, PV.Y, 0.0,  
	  MOV * T3.W, KC0[2].Z,  
	682(9.556856e-43), 0(0.000000e+00)
	ALU clause starting at 34:
	  AND_INT * T4.W, T1.X, literal.x,  
	16(2.242078e-44), 0(0.000000e+00)
	  SETE_INT * T4.W, PV.W, 0.0,  
	  MOV   T0.Y, T1.Z,  
	  OR_INT * T4.W, PV.W, T2.Z,  
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 40:
	  AND_INT * T4.W, T1.X, literal.x,  
	8192(1.147944e-41), 0(0.000000e+00)
	  CNDE_INT * T5.W, PV.W, T1.X, T3.W, 
	  LSHR   T6.W, PV.W, literal.x,  
	  MULLO_INT * T1.X, T1.Y, literal.y,  
	14(1.961818e-44), 69069(9.678628e-41)
	  ADD_INT   T7.W, PS, T0.W,  
	  NOT_INT * T6.W, PV.W,  
	  AND_INT   T6.W, PS, 1,  
	  CNDE_INT * T4.W, T4.W, T1.Y, PV.W, 
	  LSHL   T1.Y, PS, PV.W,  
	  ADD_INT * T0.Y, T0.Y, literal.x,  
	-1(nan), 0(0.000000e+00)
	  AND_INT * T4.W, T5.W, literal.x,  
	16384(2.295887e-41), 0(0.000000e+00)
	  CNDE_INT   T1.X, PV.W, T0.X, T5.W, 
	  SETNE_INT * T4.W, T0.Y, 0.0,  
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 58:
	  XOR_INT * T4.W, T0.Z, T1.X,  
	  XOR_INT * T4.W, PV.W, literal.x,  
	14(1.961818e-44), 0(0.000000e+00)
	  CNDE_INT * T1.Y, T2.W, PV.W, T1.Y, 
	  AND_INT * T4.W, PV.Y, literal.x,  
	96(1.345247e-43), 0(0.000000e+00)
	  ADD_INT   T3.Z, T1.W, 1,  
	  SETNE_INT   T4.W, PV.W, 0.0,  
	  SETGT_UINT * T1.W, literal.x, T1.W,  
	4(5.605194e-45), 0(0.000000e+00)
	  AND_INT   T4.W, PS, PV.W,  
	  MOV * T1.W, PV.Z,  
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
.Lfunc_end0:
	.size	rnd113, .Lfunc_end0-rnd113
                                        ; -- End function
	.section	.AMDGPU.csdata
	;SQ_PGM_RESOURCES:STACK_SIZE = 3
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack"
