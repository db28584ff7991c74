; loop at most 0 times { a; break; } loop at most 3 times { if (b) break; } c; end      (r700-7.11)
; for a unit built with DX10_COUNT=1
.stack 8
.int 3 3 0 0
        LOOP_START_DX10 @second i4      ; i4 is 0
first:  ALU 0, @12                      ; a
        LOOP_BREAK @over
over:   LOOP_END @first
second: LOOP_START_DX10 @after i3
again:  ALU_PUSH_BEFORE 0, @13, u       ; b
        JUMP @end POP:1
        LOOP_BREAK @end
        POP @end POP:1
end:    LOOP_END @again i3
after:  ALU 0, @14                      ; c
        NOP END
