// A CONT with no PCNT around it: an error as soon as a thread takes it   (spa5-7.6)
        ISETP                           /* 0x5b6b00000007ff07 */
        PBK END
    @P0 CONT
END:    EXIT
