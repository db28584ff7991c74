// if (c) { x } else { x; x } x                                     (spa5-7.1)
        ISETP P0                        /* 0x5b6b00000007ff07 */
        SSY JOIN
    @P0 BRA ELSE
        X                               // then
        SYNC
ELSE:   X
        X
        SYNC
JOIN:   X
        EXIT
