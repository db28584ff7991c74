// loop { if (c0) { x; if (c2) continue } else { x; if (c1) break } x }   (spa5-7.3)
        PBK EXITL
LOOP:   PCNT LOOP
        ISETP                           /* 0x5b6b00000007ff07 */
        SSY JOIN
    @P0 BRA ELSE
        X
    @P1 BRK
        SYNC
ELSE:   X
    @P2 CONT
        SYNC
JOIN:   X
        CONT
EXITL:  X
        EXIT
