; if (c) loop i2 { ... } in one instruction (r500-7.1, LOOP for some lanes): BREAK pops one more
; level than the IFs around it, CONTINUE does not
.int 2 4 0 1
        ALU c
        LOOPC i2, alu
        ALU c1
        IF alu
        ALU c2
        CONTINUEC alu
        BREAK
        ENDIF
        ALU z
        ENDLOOP
        OUT
