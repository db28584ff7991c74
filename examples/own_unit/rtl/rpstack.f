rpstack.sv
