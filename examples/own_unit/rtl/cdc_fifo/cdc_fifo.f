cdc_fifo.sv
