post.sv
