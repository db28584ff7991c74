; loop i5 { if (c1) continue; if (c2) { y; break; } z }            (r500-7.5)
.int 5 3 10 -2          ; aL = 10, 8, 6
        LOOP i5
        ALU c1
        IF alu
        CONTINUE
        ENDIF
        ALU c2
        IF alu
        ALU y
        BREAK
        ENDIF
        ALU z
        ENDLOOP
        OUT
