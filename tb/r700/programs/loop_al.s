; loop 3 times, aL = 10, 8, 6 { a; if (c) b; } d; end              (r700-7.6)
.stack 8
.int 3 3 10 -2
        LOOP_START @after i3
again:  ALU 0, @8                       ; a
        ALU_PUSH_BEFORE 0, @9, u        ; c
        JUMP @endif POP:1
        ALU_POP_AFTER 0, @10            ; b
endif:  LOOP_END @again i3
after:  ALU 0, @11                      ; d
        NOP END
