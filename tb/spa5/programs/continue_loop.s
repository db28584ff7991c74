// The continue loop of the ISA reference page; it has no end         (spa5-7.2)
LABEL:  PCNT LABEL
        FMUL32I R4, R4, 2               /* 0x1e04000000070404 */
        FADD32I RZ.CC, R4, -1024        /* 0x081c4800000704ff */
        CONT CC.GE
        FADD32I R4, R4, -2              /* 0x080c000000070404 */
        CONT
