; if (c) then else else endif                                     (spec 7.3)
        ALU c
        IF alu
        ALU then
        ELSE
        ALU else
        ENDIF
        OUT
