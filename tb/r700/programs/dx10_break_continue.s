; loop { a; if (c1) break; if (c2) continue; b; } end              (r700-7.5)
.stack 8
        LOOP_START_DX10 @end
again:  ALU 0, @14                      ; a
        ALU_PUSH_BEFORE 0, @15, u       ; c1
        JUMP @endif1 POP:1
        LOOP_BREAK @next
        POP @endif1 POP:1
endif1: ALU_PUSH_BEFORE 0, @16, u       ; c2
        JUMP @endif2 POP:1
        LOOP_CONTINUE @next
        POP @endif2 POP:1
endif2: ALU 0, @17                      ; b
next:   LOOP_END @again
end:    NOP END
