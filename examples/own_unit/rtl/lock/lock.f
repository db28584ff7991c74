lock.sv
