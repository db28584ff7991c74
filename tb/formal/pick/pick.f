pick.sv
