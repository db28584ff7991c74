	.text
	.section	.AMDGPU.config
	.long	165992
	.long	1
	.long	165900
	.long	0
	.long	166120
	.long	0
	.section	.text.helper,#alloc,#execinstr
	.globl	helper                          ; -- Begin function helper
	.p2align	8
	.type	helper,@function
helper:                                 ; @helper
helper$local:
; %bb.0:
	CF_END
	PAD
.Lfunc_end0:
	.size	helper, .Lfunc_end0-helper
                                        ; -- End function
	.section	.AMDGPU.csdata
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.section	.AMDGPU.config
	.long	165992
	.long	772
	.long	165900
	.long	0
	.long	166120
	.long	0
	.section	.text.search,#alloc,#execinstr
	.globl	search                          ; -- Begin function search
	.p2align	8
	.type	search,@function
search:                                 ; @search
search$local:
; %bb.0:
	ALU_PUSH_BEFORE 3, @16, KC0[], KC1[]
	JUMP @13 POP:1
	ALU_PUSH_BEFORE 3, @20, KC0[], KC1[]
	JUMP @12 POP:1
	ALU 3, @24, KC0[CB0:0-32], KC1[]
	LOOP_START_DX10 @11
	ALU_PUSH_BEFORE 7, @28, KC0[], KC1[]
	JUMP @10 POP:1
	LOOP_BREAK @10
	POP @10 POP:1
	END_LOOP @6
	POP @12 POP:1
	POP @13 POP:1
	ALU 1, @36, KC0[], KC1[]
	EXPORT T1.XY01
	CF_END
	ALU clause starting at 16:
	  AND_INT * T0.W, T0.X, 1,  
	  MOV   T1.X, T0.X,  
	  SETE_INT * T0.W, PV.W, 0.0,  
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 20:
	  SETE_INT   T0.W, T0.X, 0.0,  
	  MULLO_INT * T1.X, T0.X, literal.x,  
	3(4.203895e-45), 0(0.000000e+00)
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 24:
	  MOV   T0.Z, literal.x,  
	  MOV   T0.W, literal.y,  
	  MOV * T1.W, KC0[2].Z,  
	0(0.000000e+00), 1(1.401298e-45)
	ALU clause starting at 28:
	  XOR_INT * T1.X, T1.X, T0.Z,  
	  SETNE_INT   T2.W, PV.X, T1.W,  BS:VEC_021/SCL_122
	  SETGT_UINT * T3.W, T0.X, T0.W,  
	  ADD_INT   T0.Z, T0.Z, literal.x,  
	  AND_INT   T2.W, PV.W, PS,  
	  ADD_INT * T0.W, T0.W, 1,  
	7(9.809089e-45), 0(0.000000e+00)
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 36:
	  MOV * T1.Y, literal.x,  
	1(1.401298e-45), 0(0.000000e+00)
.Lfunc_end1:
	.size	search, .Lfunc_end1-search
                                        ; -- End function
	.section	.AMDGPU.csdata
	;SQ_PGM_RESOURCES:STACK_SIZE = 3
	.section	.AMDGPU.config
	.long	165992
	.long	1
	.long	165900
	.long	0
	.long	166120
	.long	0
	.section	.text.straight,#alloc,#execinstr
	.globl	straight                        ; -- Begin function straight
	.p2align	8
	.type	straight,@function
straight:                               ; @straight
straight$local:
; %bb.0:
	ALU 2, @4, KC0[], KC1[]
	EXPORT T0.XY01
	CF_END
	PAD
	ALU clause starting at 4:
	  LSHL   T0.X, T0.X, 1,  
	  MOV * T0.Y, literal.x,  
	1(1.401298e-45), 0(0.000000e+00)
.Lfunc_end2:
	.size	straight, .Lfunc_end2-straight
                                        ; -- End function
	.section	.AMDGPU.csdata
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.section	.AMDGPU.config
	.long	165992
	.long	258
	.long	165900
	.long	0
	.long	166120
	.long	0
	.section	.text.branch,#alloc,#execinstr
	.globl	branch                          ; -- Begin function branch
	.p2align	8
	.type	branch,@function
branch:                                 ; @branch
branch$local:
; %bb.0:
	ALU_PUSH_BEFORE 4, @6, KC0[CB0:0-32], KC1[]
	JUMP @3 POP:1
	ALU_POP_AFTER 5, @11, KC0[CB0:0-32], KC1[]
	EXPORT T1.XY01
	CF_END
	PAD
	ALU clause starting at 6:
	  LSHL   T1.X, T0.X, 1,  
	  MOV   T1.Y, literal.x,  
	  SETNE_INT * T0.W, T0.X, KC0[2].Y,  
	1(1.401298e-45), 0(0.000000e+00)
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 11:
	  MULLO_INT * T0.Y, T1.X, T1.X,  
	  ADD_INT * T1.X, PS, T0.X,  
	  MULLO_INT * T0.X, PV.X, literal.x,  
	5(7.006492e-45), 0(0.000000e+00)
	  ADD_INT * T0.W, PS, KC0[2].Z,  
	  MULLO_INT * T1.Y, PV.W, T1.X,  
.Lfunc_end3:
	.size	branch, .Lfunc_end3-branch
                                        ; -- End function
	.section	.AMDGPU.csdata
	;SQ_PGM_RESOURCES:STACK_SIZE = 1
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack"
