; static_branch.s with b3 = 0                                      (r500-7.8)
.bool 0x00000000
        SIF b3
        ALU t
        SELSE
        ALU f
        SENDIF
        OUT
