; RETURN with an empty address stack: error 7                      (r500-7.9)
        RET
        OUT
