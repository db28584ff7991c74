	.text
	.section	.AMDGPU.config
	.long	165992
	.long	2
	.long	165900
	.long	0
	.long	166120
	.long	0
	.text
	.globl	rnd2                            ; -- Begin function rnd2
	.p2align	8
	.type	rnd2,@function
rnd2:                                   ; @rnd2
rnd2$local:
; %bb.0:
	ALU 3, @4, KC0[CB0:0-32], KC1[]
	EXPORT T1.XY01
	CF_END
	PAD
	ALU clause starting at 4:
	  MULLO_INT * T0.Y, T0.X, literal.x,  
	-1640531535(-9.713105e-21), 0(0.000000e+00)
	  ADD_INT   T1.X, PS, KC0[2].Y,  
	  XOR_INT * T1.Y, T0.X, KC0[2].Z,  
.Lfunc_end0:
	.size	rnd2, .Lfunc_end0-rnd2
                                        ; -- End function
	.section	.AMDGPU.csdata
	;SQ_PGM_RESOURCES:STACK_SIZE = 0
	.ident	"Debian clang version 14.0.6"
	.section	".note.GNU-stack"
