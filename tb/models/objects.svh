  class holder;
    logic [9:0] value;
  endclass
  function automatic logic [9:0] held(input logic [9:0] value);
    holder one;
    one = new;
    one.value = value;
    return one.value;
  endfunction
