; Three calls deep, from inside a loop and an IF; a boolean decides about one of them. `leaf` does not count
.stack 8
.bool b5
.entry main
leaf:   TEX 0 @40
        RETURN
main:   ALU 3, @42
        LOOP
          CALL a
          BREAK UNLESS 1, @46           ; lanes whose predicate is 0 leave
        ENDLOOP
        END
a:      IF 2, @48
          CALL b, b5
          CALL leaf, !b5                ; not taken
        ENDIF
        RETURN
b:      ALU 0, @51
        CALL leaf CALL_COUNT:0
        IF b5                           ; without a frame, so RETURN may stand in it
          RETURN
        ENDIF
        ALU 0, @52                      ; never reached
        RETURN
