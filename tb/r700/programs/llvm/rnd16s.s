	.text
	.section	.AMDGPU.config
	.long	165992
	.long	515
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	rnd16                           ; -- Begin function rnd16
	.p2align	8
	.type	rnd16,@function
rnd16:                                  ; @rnd16
rnd16$local:
; %bb.0:
	ALU_PUSH_BEFORE 7, @36, KC0[CB0:0-32], KC1[]
	JUMP @3 POP:0
	ALU 3, @44, KC0[], KC1[]
	ELSE @32 POP:1
	ALU_PUSH_BEFORE 4, @48, KC0[CB0:0-32], KC1[]
	JUMP @31 POP:1
	ALU_PUSH_BEFORE 3, @53, KC0[], KC1[]
	JUMP @21 POP:0
	ALU_PUSH_BEFORE 3, @57, KC0[], KC1[]
	JUMP @11 POP:0
	ALU 3, @61, KC0[], KC1[]
	ELSE @21 POP:1
	ALU_PUSH_BEFORE 2, @65, KC0[], KC1[]
	JUMP @20 POP:1
	ALU_PUSH_BEFORE 2, @68, KC0[], KC1[]
	JUMP @17 POP:0
	ALU 4, @71, KC0[], KC1[]
	ELSE @19 POP:1
	ALU_POP_AFTER 0, @76, KC0[], KC1[]
	POP @20 POP:1
	POP @21 POP:1
	ELSE @30 POP:1
	ALU_PUSH_BEFORE 2, @77, KC0[], KC1[]
	JUMP @27 POP:0
	ALU_PUSH_BEFORE 2, @80, KC0[], KC1[]
	JUMP @27 POP:1
	ALU_POP_AFTER 1, @83, KC0[], KC1[]
	ELSE @29 POP:1
	ALU_POP_AFTER 5, @85, KC0[], KC1[]
	POP @30 POP:1
	POP @31 POP:1
	POP @32 POP:1
	ALU 6, @91, KC0[], KC1[]
	EXPORT T0.XY01
	CF_END
	PAD
	ALU clause starting at 36:
	  XOR_INT * T0.Y, T0.X, KC0[2].Z,  
	  AND_INT   T1.W, PV.Y, literal.x,  
	  MULLO_INT * T0.Z, T0.X, literal.y,  
	12(1.681558e-44), -1640531535(-9.713105e-21)
	  ADD_INT   T0.Z, PS, KC0[2].Y,  
	  MOV   T0.W, KC0[2].Y,  
	  SETE_INT * T1.W, PV.W, 0.0,  
	  PRED_SETNE_INT * ExecMask,PredicateBit (MASKED), PS, 0.0,  
	ALU clause starting at 44:
	  OR_INT   T1.W, T0.Y, T0.Z,  
	  MULLO_INT * T0.Y, T0.Y, literal.x,  
	1664525(2.332496e-39), 0(0.000000e+00)
	  ADD_INT * T0.Y, PS, PV.W,  
	ALU clause starting at 48:
	  MOV * T1.W, KC0[2].Z,  
	  LSHR * T2.W, PV.W, literal.x,  
	10(1.401298e-44), 0(0.000000e+00)
	  SETNE_INT * T2.W, T0.Z, PV.W,  
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 53:
	  AND_INT * T0.Z, T0.X, literal.x,  
	3(4.203895e-45), 0(0.000000e+00)
	  SETGT_INT * T2.W, 1, PV.Z,  
	  PRED_SETNE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 57:
	  AND_INT * T0.Z, T0.Y, literal.x,  
	3(4.203895e-45), 0(0.000000e+00)
	  SETGT_INT * T2.W, 1, PV.Z,  
	  PRED_SETNE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 61:
	  LSHR   T1.W, T1.W, 1,  
	  MULLO_INT * T0.Y, T0.Y, literal.x,  
	1664525(2.332496e-39), 0(0.000000e+00)
	  ADD_INT * T0.Y, PS, PV.W,  
	ALU clause starting at 65:
	  SETGT_INT * T1.W, literal.x, T0.Z,  
	2(2.802597e-45), 0(0.000000e+00)
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 68:
	  SETE_INT * T1.W, T0.Z, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 71:
	  LSHR   T1.W, T0.Y, 1,  
	  ADD_INT * T2.W, T0.W, literal.x,  
	-46(nan), 0(0.000000e+00)
	  MULLO_INT * T0.Z, PV.W, PS,  
	  XOR_INT * T0.Y, PS, T0.Y,  
	ALU clause starting at 76:
	  AND_INT * T0.Y, T0.Y, T0.W,  
	ALU clause starting at 77:
	  SETGT_INT * T2.W, literal.x, T0.Z,  
	2(2.802597e-45), 0(0.000000e+00)
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 80:
	  SETE_INT * T1.W, T0.Z, literal.x,  
	2(2.802597e-45), 0(0.000000e+00)
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 83:
	  MOV * T0.Y, literal.x,  
	0(0.000000e+00), 0(0.000000e+00)
	ALU clause starting at 85:
	  ADD_INT   T2.W, T0.Y, T1.W,  
	  AND_INT * T1.W, T1.W, literal.x,  
	27(3.783506e-44), 0(0.000000e+00)
	  SETE_INT * T1.W, PS, PV.W,  
	  CNDE_INT * T0.Y, PV.W, literal.x, T0.Y, 
	5(7.006492e-45), 0(0.000000e+00)
	ALU clause starting at 91:
	  XOR_INT * T0.W, T0.Y, T0.W,  
	  LSHR * T0.W, PV.W, literal.x,  
	13(1.821688e-44), 0(0.000000e+00)
	  AND_INT   T1.W, PV.W, T0.X,  
	  MULLO_INT * T0.X, PV.W, literal.x,  
	1103515245(2.478829e+01), 0(0.000000e+00)
	  ADD_INT * T0.X, PS, PV.W,  
.Lfunc_end0:
	.size	rnd16, .Lfunc_end0-rnd16
                                        ; -- End function
	.section	.AMDGPU.csdata
	;SQ_PGM_RESOURCES:STACK_SIZE = 2
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack"
