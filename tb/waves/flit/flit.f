flit.sv
