// A loop whose continue address is its latch, which goes back with a branch
        PBK OUT
LOOP:   PCNT LATCH
        ISETP
    @P0 CONT
        ISETP
    @P1 BRK
        CONT
LATCH:  X
        BRA LOOP
OUT:    EXIT
