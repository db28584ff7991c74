// Three calls deep, from inside a loop and an if; threads return in different places
        PBK OUT
LOOP:   PCNT LOOP
        CAL A
        ISETP
    @P0 BRK
        CONT
OUT:    X
        EXIT
A:      ISETP
        SSY JOIN
    @P0 BRA ELSE
        CAL B
        SYNC
ELSE:   CAL LEAF
        SYNC
JOIN:   X
        RET
B:      ISETP
    @P1 RET
        CAL LEAF
        RET
LEAF:   X
        RET
