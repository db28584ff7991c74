larger.sv
