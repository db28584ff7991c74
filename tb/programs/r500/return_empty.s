; RETURN with an empty address stack: error 7                      (spec 7.9)
        RET
        OUT
