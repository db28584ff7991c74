axil_regs.sv
