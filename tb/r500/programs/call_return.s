; if (c1) call s; a; end.  s: if (c2) return; s; return            (r500-7.7)
.offset 0x20
        ALU c1
        CALLC s, alu
        ALU a
        OUT
s:      ALU c2
        RETC alu
        ALU s
        RET             ; pops 2: the CALL and the conditional RETURN passed
