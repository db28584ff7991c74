// EXIT in an if, in a loop and in a subroutine, each for some threads only
        PBK OUT
LOOP:   PCNT LOOP
        ISETP
        SSY JOIN
    @P0 BRA ELSE
    @P1 EXIT
        SYNC
ELSE:   CAL F
        SYNC
JOIN:   ISETP
    @P2 BRK
        CONT
OUT:    X
        EXIT
F:      ISETP
    @P3 EXIT
    @!P4 RET
        X
        RET
