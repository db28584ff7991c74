; if (c) a; else b; end                                            (r700-7.3)
.stack 8
        ALU_PUSH_BEFORE 0, @6, u        ; c
        JUMP @else
        ALU 0, @7                       ; a
else:   ELSE @end POP:1
        ALU_POP_AFTER 0, @8             ; b
end:    NOP END
