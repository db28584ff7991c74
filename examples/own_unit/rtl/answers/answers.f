answers.sv
