; Every form in which a block can be written without an instruction of its own
.stack 4
.bool b0
        IF 3, @32
          ALU 0, @36
        ELSE FUSED                      ; that ALU becomes ALU_ELSE_AFTER, and the JUMP goes to it
          ALU 1, @37
        ENDIF FUSED                     ; ALU_POP_AFTER
        IF NOT 2, @39                   ; ALU_ELSE_AFTER u
          ALU 0, @42
          IF 0, @43 NO_JUMP             ; walked through even if no lane is left for it
            ALU 2, @44
          ELSE STAY
            ALU 0, @47
        ENDIF2                          ; both, ALU_POP2_AFTER
        LOOP
          IF b0 FRAME
            BREAK UNLESS 1, @48         ; ALU_BREAK
            BREAK FALSE                 ; to the end, if no lane is left
          ELSE
            BREAK
          ENDIF
          CONTINUE UNLESS 0, @50 EXPANDED
          ALU 0, @51
        ENDLOOP
        IF b0
          ALU 0, @52
        ELSE                            ; JUMP FALSE
          ALU 0, @53
        ENDIF                           ; nothing
        EXPORT_DONE END
