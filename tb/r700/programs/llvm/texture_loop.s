	.text
	.section	.AMDGPU.config
	.long	165968
	.long	515
	.long	165900
	.long	0
	.text
	.globl	texture_loop                    ; -- Begin function texture_loop
	.p2align	8
	.type	texture_loop,@function
texture_loop:                           ; @texture_loop
; %bb.0:                                ; %entry
	ALU 3, @16, KC0[], KC1[]
	LOOP_START_DX10 @10
	ALU 0, @20, KC0[], KC1[]
	TEX 0 @14
	ALU 7, @21, KC0[], KC1[]
	ALU_PUSH_BEFORE 2, @29, KC0[], KC1[]
	JUMP @9 POP:1
	LOOP_BREAK @9
	POP @9 POP:1
	END_LOOP @2
	ALU 0, @32, KC0[], KC1[]
	EXPORT T0.XY__
	CF_END
	PAD
	Fetch clause starting at 14:
	  TEX_SAMPLE T2.XYZW, T1.XY__ RID:0 SID:0 CT:NNNN
	ALU clause starting at 16:
	  MOV   T0.X, literal.x,  
	  MOV   T1.W, T1.X,  
	  MOV * T0.W, literal.y,  
	0(0.000000e+00), 1(1.401298e-45)
	ALU clause starting at 20:
	  MOV * T1.X, T1.W,  
	ALU clause starting at 21:
	  ADD   T0.X, T0.X, T2.X,  
	  MOV * T2.W, T0.W,  
	  SETGT_DX10 * T1.W, PV.X, literal.x,  
	1090519040(8.000000e+00), 0(0.000000e+00)
	  PRED_SETNE_INT * Pred,PredicateBit (MASKED), PV.W, 0.0,  
	  ADD * T1.W, T1.X, literal.x, Pred_sel_zero 
	1040187392(1.250000e-01), 0(0.000000e+00)
	  SETGT_DX10 * T2.W, T1.W, 1.0, Pred_sel_zero 
	ALU clause starting at 29:
	  AND_INT * T2.W, T2.W, 1,  
	  SETE_INT * T2.W, PV.W, 0.0,  
	  PRED_SETE_INT * ExecMask,PredicateBit (MASKED), PV.W, 0.0,  
	ALU clause starting at 32:
	  MOV * T0.Y, T1.X,  
.Lfunc_end0:
	.size	texture_loop, .Lfunc_end0-texture_loop
                                        ; -- End function
	.section	.AMDGPU.csdata
	;SQ_PGM_RESOURCES:STACK_SIZE = 2
	.section	".note.GNU-stack"
