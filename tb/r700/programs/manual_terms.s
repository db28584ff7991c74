; Instructions as the manual and compilers' listings have them, with labels for addresses
.stack 8
.bool 0x00000020
.reg SQ_LOOP_CONST_1 0x01000FFF
.prog_len 22
        ALU 17, @20, KC0[CB0:0-32], KC1[]
        LOOP_START_DX10 @out
body:   ALU_PUSH_BEFORE 13, @38, KC0[CB1:16-32], KC1[CB2:32-64+aL] u
        JUMP @over POP:1                // no lane is left: pops its frame
        LOOP_BREAK @last
over_1: POP @over POP:1
over:   PUSH @last NOT_BOOL b4 VPM
        TEX 15 @60 BOOL b5
        POP @last POP:1 VPM
last:   END_LOOP @body                  ; LLVM's name of LOOP_END
out:    LOOP_START @11 i1 BOOL b1       ; one field: constant and boolean
        JUMP @back FALSE                ; never entered, the boolean is 0
        .quad 0000000D 80100000         ; a NOP with a bit that means nothing
back:   CALL @sub CALL_COUNT:1 BOOL b5
        EXPORT T0.XY01                  ; the register is a remark
        MEM_STREAM3 0x00012345 0x000FFF VPM
        VTX 0 @70 NO_BARRIER WQM
        KILL @18 FALSE
        CF_END                          ; NOP END
sub:    EMIT_VERTEX
        WAIT_ACK
        RETURN
