; loop { if (a) { if (b) break; if (c) x; } break unless d; } end  (r700-7.8)
; Once the ACTIVE lanes have broken, no lane is ACTIVE at the third push; it pushes all the same.
.stack 8
        LOOP_START_DX10 @end
again:  ALU_PUSH_BEFORE 0, @14, u       ; a
        JUMP @endif POP:1
        ALU_PUSH_BEFORE 0, @15, u       ; b
        JUMP @after POP:1
        LOOP_BREAK @next
        POP @after POP:1
after:  ALU_PUSH_BEFORE 0, @16, u       ; c
        JUMP @pop POP:1
        ALU_POP_AFTER 0, @17            ; x
pop:    POP @endif POP:1
endif:  ALU_BREAK 0, @18, u             ; d
next:   LOOP_END @again
end:    NOP END
