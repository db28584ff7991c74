// An inner loop without PCNT, with a divergent branch back: CONT in it goes on with the outer loop
        PBK OUT
OUTER:  PCNT OUTER
        PBK DONE
INNER:  ISETP
    @P0 CONT                            // past the PBK token of the inner loop
    @P1 BRK
    @P2 BRA INNER
        BRK
DONE:   ISETP
    @P3 BRK
        CONT
OUT:    EXIT
