// if (c0) exit; if (c1) x else { x; if (c2) exit; x } x             (spa5-7.5)
        ISETP                           /* 0x5b6b00000007ff07 */
    @P0 EXIT
        SSY JOIN
    @P1 BRA ELSE
        X
    @P2 EXIT
        X
        SYNC
ELSE:   X
        SYNC
JOIN:   X
        EXIT
