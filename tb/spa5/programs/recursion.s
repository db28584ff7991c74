// f: x; if (c0) return; f(); x; return. Each thread goes as deep as its conditions say
        CAL F
        X
        EXIT
F:      ISETP
    @P0 RET
        CAL F
        X
        RET
