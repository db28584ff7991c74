; if (c) then else else endif                                     (r500-7.3)
        ALU c
        IF alu
        ALU then
        ELSE
        ALU else
        ENDIF
        OUT
