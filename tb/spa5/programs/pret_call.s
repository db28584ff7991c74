// PRET and a branch instead of CAL: one of two functions, by threads, and one return address
        ISETP
        PRET BACK
    @P0 BRA G                           // its DIV token lies above the RET token
F:      X
        RET
G:      ISETP
    @P1 RET
        X
        RET
BACK:   X
        EXIT
