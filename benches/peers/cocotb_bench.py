"""A cocotb test: random pins, a golden model, every output compared after each edge."""

import os

import cocotb
from cocotb.triggers import Timer

MASK64 = (1 << 64) - 1


@cocotb.test()
async def agrees(dut):
    x, stack = 88172645463325252, []
    dut.clk_i.value = 0
    for cycle in range(int(os.environ["CYCLES"])):
        x ^= x << 13 & MASK64
        x ^= x >> 7
        x ^= x << 17 & MASK64
        rst_n = cycle != 0 and x >> 16 & 127 != 0
        pop = x >> 8 & 255 < 102 and bool(stack)
        push = x & 255 < 102 and (len(stack) < 4 or pop)
        mask, pc = x >> 24 & 255, x >> 32 & 0xFFFF
        dut.rst_ni.value, dut.pop_i.value, dut.push_i.value = int(rst_n), int(pop), int(push)
        dut.mask_i.value, dut.pc_i.value = mask, pc
        if not rst_n:
            stack.clear()
        else:
            if pop:
                stack.pop()
            if push:
                stack.append((mask, pc))
        await Timer(1, unit="ns")
        dut.clk_i.value = 1
        await Timer(1, unit="ns")
        shown = (int(dut.mask_o.value), int(dut.pc_o.value))
        assert shown == (stack[-1] if stack else (0, 0)), cycle
        assert int(dut.full_o.value) == (len(stack) == 4), cycle
        assert int(dut.empty_o.value) == (not stack), cycle
        dut.clk_i.value = 0
