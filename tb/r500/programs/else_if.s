; if (p.r) x else if (p.g) y else if (p.b) z else w, all on one ENDIF (r500-7.1, ELSE IF fused).
; The stubs lie behind OUT, which is the last instruction all the same.
        ALU predicates
        IF pr
        ALU x
        ELSEIF pg
        ALU y
        ELSEIF pb
        ALU z
        ELSE
        ALU w
        ENDIF
        OUT
