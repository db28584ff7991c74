../gate/gate.sv
