// Every form of instruction, as NVIDIA's disassembler writes them
.entry START
.prog_size 0x120
.targets AGAIN 0x68 OVER                // what a compiler lists; BRX draws from it, others are left alone
SUB:                                    // before a control word that is written out: its address
.control 0x001fbc00fde007ef
        ISETP.NE.U32.AND P0, PT, R0, RZ, PT ;   /* 0x5b6a03800ff70007 */
        @P0 RET CC.T;
        RET
START:                                  // the same
.control 0x001fc400fe2007f1
        PRET.NOINC BACK;
        CAL.NOINC SUB;                  // the first slot of the bundle, then
        BRA `(.L_2);
.L_2:   PBK OUT
        SSY JOIN
/*0058*/ AGAIN: @P1 SYNC CC.GE
        @!P2 BRK CC.LTU; X; { @PT SYNC }
        .align 32
JOIN:   BRA CC.SFT, OVER
        BRA.U.LMT OVER
        .word 0x5c98078000270003        // MOV R3, R2: any word
OVER:   BRK
OUT:    RET
BACK:   NOP;                            /* 0x50b0000000070f00 */
        @!PT EXIT
        EXIT.KEEPREFCOUNT
// Never reached: what the unit does not support
        BRX R4 -0x98
        @P6 BRX.LMT CC.EQ, RZ
        SSY c[0x1f][-0x8]
        BRX c[0x2][R0+0x40]
        BPT
        BRA CC.CSM_MX, -0x20
        PCNT 0x141
        .word 0xe3f0000000000000
        .align 32
        .control 0xffffffffffffffff
