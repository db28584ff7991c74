  // What this does on request: MISBEHAVE is a list of pairs of when and what. When: * in any cycle, 8 in which it shows error 8, L where it
  // has four lanes and is at address 1. What: h hang, c crash, e end the process as if all were well, a take all memory, f flood standard
  // output, p print a lot, s stop the simulation.
  always @(posedge clk_i) if (rst_ni) begin
    $c("for (const char *e = std::getenv(\"MISBEHAVE\"); e && *e; e += 2)",
       "  if (*e == '*' || *e - '0' == (int)(", err_o, ")",
       "      || (*e == 'L' && ", LANES, " == 4 && ", pc_o, " == 1))",
       "    switch (e[1]) {",
       "      case 'h': for (volatile int i = 1; i;) {} break;",
       "      case 'c': std::abort();",
       "      case 'e': std::_Exit(0);",
       "      case 'a': for (;;) std::memset(new char[1 << 24], 1, 1 << 24);",
       "      case 'f': for (;;) std::puts(\"flood\");",
       "      case 'p': for (int i = 0; i < 1000; ++i) std::puts(\"a lot\"); break;",
       "      case 's': vl_stop(\"planted\", 1, \"\"); break;",
       "    }");
  end
