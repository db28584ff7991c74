; if (b3) t else f, no branch counters                             (r500-7.8)
.bool b3
        SIF b3
        ALU t
        SELSE
        ALU f
        SENDIF
        OUT
