; Four calls deep, which fills the address stack; `leaf` is called without counters
.int 0 2
        CALL a
        OUT
a:      ALU a
        LOOP i0
        CALL b
        ENDLOOP
        RET
b:      ALU c
        CALLC c, alu
        RET
c:      ALU c
        RETC !alu
        CALL leaf, nc
        RET
leaf:   ALU leaf
        RET nc
