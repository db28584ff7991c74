slot.sv
