; A pixel shader: a texture fetch in a loop, which OpenCL kernels cannot have here.
target triple = "r600--"

define amdgpu_ps void @texture_loop(<4 x float> inreg %reg0, <4 x float> inreg %reg1) {
entry:
  %x = extractelement <4 x float> %reg1, i32 0
  %y = extractelement <4 x float> %reg1, i32 1
  br label %loop

loop:
  %s = phi float [ %x, %entry ], [ %s2, %more ]
  %sum = phi float [ 0.0, %entry ], [ %sum2, %more ]
  %c0 = insertelement <4 x float> undef, float %s, i32 0
  %c1 = insertelement <4 x float> %c0, float %y, i32 1
  %t = call <4 x float> @llvm.r600.tex(<4 x float> %c1, i32 0, i32 0, i32 0, i32 0, i32 0, i32 1, i32 1, i32 1, i32 1)
  %r = extractelement <4 x float> %t, i32 0
  %sum2 = fadd float %sum, %r
  %out = fcmp ogt float %sum2, 8.0
  br i1 %out, label %done, label %more

more:
  %s2 = fadd float %s, 0.125
  %last = fcmp ogt float %s2, 1.0
  br i1 %last, label %done, label %loop

done:
  %v0 = insertelement <4 x float> undef, float %sum2, i32 0
  %v1 = insertelement <4 x float> %v0, float %s, i32 1
  call void @llvm.r600.store.swizzle(<4 x float> %v1, i32 0, i32 0)
  ret void
}

declare <4 x float> @llvm.r600.tex(<4 x float>, i32, i32, i32, i32, i32, i32, i32, i32, i32)
declare void @llvm.r600.store.swizzle(<4 x float>, i32, i32)
