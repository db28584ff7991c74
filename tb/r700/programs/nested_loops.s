; repeat 2 times { loop { if (a) { if (b) { if (c) break; } } } }; end      (r700-7.10)
; STACK_SIZE: with eight sub-entries to an entry 3 are enough
.stack 4
.int 2 2 0 0
        LOOP_START_NO_AL @after i2
outer:  LOOP_START_DX10 @behind
inner:  ALU_PUSH_BEFORE 0, @15, u       ; a
        JUMP @end_a POP:1
        ALU_PUSH_BEFORE 0, @16, u       ; b
        JUMP @end_b POP:1
        ALU_PUSH_BEFORE 0, @17, u       ; c
        JUMP @end_c POP:1
        LOOP_BREAK @end_a
        POP @end_c POP:1
end_c:  POP @end_b POP:1
end_b:  POP @end_a POP:1
end_a:  LOOP_END @inner
behind: LOOP_END @outer i2
after:  NOP END
