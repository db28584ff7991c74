; loop i0 { rep i1 { if (c) break; z } }, the break one conditional instruction (r500-7.6)
.int 0 1 7 1            ; one pass; the REP frame carries its aL, 7
.int 1 2
        LOOP i0
        REP i1
        ALU c
        BREAKC alu
        ALU z
        ENDREP
        ENDLOOP
        OUT
