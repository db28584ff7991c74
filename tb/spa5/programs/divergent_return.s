// if (!c3) { f(); x } x.  f: x; if (c0) return; x; if (c1) { x; return } x; return   (spa5-7.4)
        ISETP                           /* 0x5b6b00000007ff07 */
        SSY JOIN
    @P3 SYNC
        CAL F
        X
        SYNC
JOIN:   X
        EXIT
F:      X
    @P0 RET
        X
    @P1 BRA FE
        X
        RET
FE:     X
        RET
