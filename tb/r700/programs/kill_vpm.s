; Killed lanes go on executing until an instruction with VALID_PIXEL_MODE looks
.stack 3
.bool b2
        IF 1, @20
          KILL                          ; no longer valid, but still ACTIVE
          ALU 0, @22                    ; executed by them
          TEX 1 @30 VPM                 ; not by them
        ELSE VPM
          ALU 3, @23
        ENDIF VPM                       ; here they go off
        ALU 0, @27
        IF b2 FRAME VPM                 ; the frame holds lanes that are ACTIVE, valid or not
          LOOP
            ALU 0, @28
            BREAK UNLESS 0, @29
          ENDLOOP VPM
        ENDIF VPM
        EXPORT VPM
        EXPORT_DONE END                 ; executed by lanes that are ACTIVE
