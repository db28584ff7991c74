; if (c1) { if (c2) x else y }: lanes off since the outer IF count the inner one (r500-7.4)
        ALU c1
        IF alu
        ALU c2
        IF alu
        ALU x
        ELSE
        ALU y
        ENDIF
        ENDIF
        OUT
