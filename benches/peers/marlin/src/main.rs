//! A bench with marlin: random pins, a golden model, every output compared after each edge.

use marlin::verilator::{VerilatedModelConfig, VerilatorRuntime, VerilatorRuntimeOptions};
use marlin::verilog::prelude::*;

#[verilog(src = "rpstack.sv", name = "rpstack")]
struct Rpstack;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cycles: u64 = std::env::args().nth(1).ok_or("CYCLES")?.parse()?;
    let runtime = VerilatorRuntime::new(
        "artifacts".as_ref(),
        &["rpstack.sv".as_ref()],
        &[],
        [],
        VerilatorRuntimeOptions::default(),
    )?;
    let config = VerilatedModelConfig {
        verilator_optimization: 3,
        ..VerilatedModelConfig::default()
    };
    let mut dut = runtime.create_model::<Rpstack>(&config)?;
    let (mut x, mut stack) = (88172645463325252u64, Vec::new());
    for cycle in 0..cycles {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        let rst_n = cycle != 0 && x >> 16 & 127 != 0;
        let pop = x >> 8 & 255 < 102 && !stack.is_empty();
        let push = x & 255 < 102 && (stack.len() < 4 || pop);
        let (mask, pc) = ((x >> 24) as u8, (x >> 32) as u16);
        (dut.rst_ni, dut.pop_i, dut.push_i) = (rst_n.into(), pop.into(), push.into());
        (dut.mask_i, dut.pc_i) = (mask, pc);
        if !rst_n {
            stack.clear();
        } else {
            if pop {
                stack.pop();
            }
            if push {
                stack.push((mask, pc));
            }
        }
        dut.clk_i = 0;
        dut.eval();
        dut.clk_i = 1;
        dut.eval();
        assert_eq!(
            (dut.mask_o, dut.pc_o),
            stack.last().copied().unwrap_or_default(),
            "cycle {cycle}"
        );
        assert_eq!(dut.full_o == 1, stack.len() == 4, "cycle {cycle}");
        assert_eq!(dut.empty_o == 1, stack.is_empty(), "cycle {cycle}");
    }
    println!("{cycles} cycles agree");
    Ok(())
}
