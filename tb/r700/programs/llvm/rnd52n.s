	.text
	.section	.AMDGPU.config
	.long	165992
	.long	2
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	rnd52                           ; -- Begin function rnd52
	.p2align	8
	.type	rnd52,@function
rnd52:                                  ; @rnd52
rnd52$local:
; %bb.0:
	ALU 9, @4, KC0[CB0:0-32], KC1[]
	EXPORT T0.XY01
	CF_END
	PAD
	ALU clause starting at 4:
	  MULLO_INT * T0.Y, T0.X, literal.x,  
	-1640531535(-9.713105e-21), 0(0.000000e+00)
	  XOR_INT   T0.Z, T0.X, KC0[2].Z,  
	  ADD_INT   T0.W, PS, KC0[2].Y,  
	  SETGT_UINT * T1.W, KC0[2].Y, literal.x,  
	123(1.723597e-43), 0(0.000000e+00)
	  CNDE_INT   T0.W, PS, PV.W, 0.0, 
	  MULLO_INT * T0.Y, PV.Z, literal.x,  
	5(7.006492e-45), 0(0.000000e+00)
	  ADD_INT * T0.X, PV.W, KC0[2].Z,  
.Lfunc_end0:
	.size	rnd52, .Lfunc_end0-rnd52
                                        ; -- End function
	.section	.AMDGPU.csdata
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack"
