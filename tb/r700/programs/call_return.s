; if (c1) if (b5) call s; a; end.  s: b; if (c2) d; return         (r700-7.7)
.stack 8
.bool b5
        ALU_PUSH_BEFORE 0, @12, u       ; c1
        JUMP @endif POP:1
        CALL @s CALL_COUNT:1 BOOL b5
        POP @endif POP:1
endif:  ALU 0, @13                      ; a
        NOP END
s:      ALU 0, @14                      ; b
        ALU_PUSH_BEFORE 0, @15, u       ; c2
        JUMP @back POP:1
        ALU_POP_AFTER 0, @16            ; d
back:   RETURN @0
