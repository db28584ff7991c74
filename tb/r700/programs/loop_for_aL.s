; A counted loop with aL, and in it a REPEAT, which leaves aL and its step alone: aL is 10, 8, 6
.stack 4
.int i3 3 10 -2
.int i0 2                               ; first index and step are not read by a REPEAT
        ALU 7, @16
        LOOP i3
          ALU 3, @24
          REPEAT i0
            IF 1, @28                   ; divergent: these lanes only
              ALU 2, @30
            ENDIF FUSED
          ENDLOOP
          IF 0, @33
            CONTINUE                    ; the rest of this pass is not for them
          ENDIF
          ALU 4, @34
        ENDLOOP
        ALU 0, @39                      ; aL is again what it was: 0
        EXPORT_DONE END
