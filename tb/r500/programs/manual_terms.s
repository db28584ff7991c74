; Conditions of every kind, and the fields of the manual where no statement fits
.full
.global                 ; targets are absolute
.offset 16
.window 16 495
.bool b0 b31
.start main
.end last
main:   ALU
        IF !pa, ign
        TEX
        ENDIF
        IF ~pg                          ; by RGB_PRED_INV
        ALU
        ENDIF
        IF table(0x3C, pr, b31)         ; alu XOR predicate R
        ALU
        ELSE ign
        ALU
        ENDIF ign
        JUMP func=0x0F b0=INCR -> over global   // IF without the statement
        ALU
        JUMP func=0x00 any b0=DECR pop=1 -> over global
over:   .word 0x00000402 0x0000FF00 0x80000000 -> last
        ALU                             ; never executed
last:   OUT
