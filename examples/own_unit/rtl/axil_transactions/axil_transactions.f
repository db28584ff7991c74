../axil_regs/axil_regs.sv
