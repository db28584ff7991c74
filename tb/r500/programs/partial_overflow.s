; Five levels where partial flow control has four: error 8 at the fifth IF, if lanes have left
; at the first and others get that far                             (r500-7.9)
.partial
        ALU c0
        IF alu
        ALU c1
        IF alu
        ALU c2
        IF alu
        ALU c3
        IF alu
        ALU c4
        IF alu
        ALU x
        ENDIF
        ENDIF
        ENDIF
        ENDIF
        ENDIF
        OUT
