; if (c1) { if (c2) a; else b; c; } end                            (r700-7.4)
.stack 8
        ALU_PUSH_BEFORE 0, @10, u       ; c1
        JUMP @end POP:1
        ALU_PUSH_BEFORE 0, @11, u       ; c2
        JUMP @else
        ALU 0, @12                      ; a
else:   ELSE @after POP:1
        ALU_POP_AFTER 0, @13            ; b
after:  ALU 0, @14                      ; c
        POP @end POP:1
end:    NOP END
