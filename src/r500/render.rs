//! Rendering of a picture through the RTL: each block of pixels is a case, with the conditions that its
//! lanes compute.
//!
//! 1. The golden model alone shades a block ([`super::alu::picture::Renderer::shade`]) and records the conditions.
//! 2. A case with these conditions goes through the ordinary check ([`reconverge_bench::check`]): RTL and golden model in lock-step, the
//!    instructions of every lane against the scalar machine.
//! 3. [`Pixels::judge`] compares the result with step 1, and shades every pixel alone, with the scalar machine and
//!    an ALU of one lane: the pixel must get exactly the same colour.
//!
//! A saved case needs no ALU: it holds the conditions.

use super::R500;
use super::alu::picture::{Renderer, Shading, Tile};
use super::alu::{LANES, Lanes, shade_alone};
use super::judge::ignores_uncovered;
use super::program::Program;
use super::scalar::Scalar;
use super::shader::{VARYINGS, Vector};
use super::state::In;
use crate::unit::Programs;
use reconverge_bench::dut::Dut;
use reconverge_bench::failure::{Cause, Failure};
use reconverge_program::case::Case;
use reconverge_program::judges::Agreed;

/// Judges pixels of one scene.
pub struct Pixels<'r> {
    renderer: &'r Renderer,
    scalar: Result<Scalar<'r>, String>,
    /// Only covered lanes must do what they do alone.
    covered_only: bool,
}

impl<'r> Pixels<'r> {
    /// Returns the judge for the scene of `renderer`.
    pub fn new(renderer: &'r Renderer) -> Self {
        let program = &renderer.scene().program;
        Pixels {
            renderer,
            scalar: Scalar::new(program).map_err(|e| e.to_string()),
            covered_only: ignores_uncovered(program),
        }
    }

    /// Checks whether the scalar machine can run the program.
    ///
    /// # Errors
    /// The words are not structured: the reason.
    pub fn structured(&self) -> Result<(), String> {
        self.scalar.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    /// Judges `shading` of the pixels `pixels`, after RTL and golden model have `agreed` on its case. Returns how many pixels
    /// got the same colour alone: 0 if the program did not reach its end, or if the scalar machine cannot run it.
    ///
    /// # Errors
    /// The run with the conditions from the case differs from the run that computed them; a pixel gets
    /// another colour alone.
    pub fn judge(
        &self,
        shading: &Shading,
        pixels: &[[Vector; VARYINGS]],
        agreed: &Agreed<R500>,
    ) -> Result<u32, Box<Failure<Case<R500>>>> {
        let Shading { case, shaded, .. } = shading;
        let strays = |lane: usize, how: String| {
            let lane = lane as u32;
            let cause = Cause::Judge { lane, how };
            Err(Box::new(Failure::new(case, cause, agreed.compared)))
        };
        if agreed.end != shaded.end || agreed.compared.steps != shaded.steps {
            let how = "computed conditions lead elsewhere than the same conditions from a table";
            return strays(0, how.to_owned());
        }
        let (Ok(scalar), 1) = (&self.scalar, agreed.end.done) else {
            return Ok(0);
        };
        let compared = if self.covered_only {
            case.launch_mask
        } else {
            u64::MAX
        };
        let mut count = 0;
        for (lane, pixel) in pixels.iter().enumerate().take(LANES) {
            if compared >> lane & 1 == 0 {
                continue;
            }
            let one: Lanes<1> = self.renderer.lanes(&[*pixel]);
            // Alone, a lane may go through a few steps that it slept through in the wavefront.
            let most = case.max_steps.saturating_mul(2).saturating_add(100);
            let alone = match shade_alone(scalar, one, most) {
                Ok(alone) => alone,
                Err(end) => return strays(lane, format!("alone it ends as {end:?}")),
            };
            let among = (shaded.wave.colour(lane), shaded.wave.killed >> lane & 1);
            let alone = (alone.colour(0), alone.killed);
            if among.0.map(f32::to_bits) != alone.0.map(f32::to_bits) || among.1 != alone.1 {
                let shown = |(colour, killed): ([f32; 4], u64)| {
                    let killed = if killed == 1 { ", killed" } else { "" };
                    format!("{colour:?}{killed}")
                };
                let (among, alone) = (shown(among), shown(alone));
                let how = format!("its colour is {among} in the wavefront, {alone} alone");
                return strays(lane, how);
            }
            count += 1;
        }
        Ok(count)
    }
}

/// Shades the wavefront of `case` with `dut` alone, without a judge: the ALU computes for the lanes that the RTL reports
/// as ACTIVE. This is what an application would see of wrong RTL. Also returns whether the program reached its end within
/// the steps of the case.
pub fn by_rtl_alone(
    dut: &mut Dut<R500>,
    program: &Program,
    case: &Case<R500>,
    mut lanes: Lanes<'_, LANES>,
) -> (Tile, bool) {
    let stalled = || {
        let mut pins = In::default();
        pins.set_stall(true);
        pins
    };
    // The bench top registers its inputs, so their effect is visible one cycle later.
    let mut clock = |pins: &In| {
        dut.clock(pins, None);
        *dut.clock(&stalled(), None)
    };
    clock(&In::reset());
    for pins in R500::setup(program) {
        clock(&pins);
    }
    let mut state = clock(&R500::launch(case, None));
    for _ in 0..case.max_steps {
        if !R500::running(&state) {
            break;
        }
        let mut pins = lanes.pins(program, &state);
        pins.cov = case.launch_mask;
        let before = state;
        state = clock(&pins);
        if state.halted == 1 {
            break;
        }
        if pins.cmn & 3 == 2 {
            lanes.flow_control();
        } else {
            lanes.step(before.pc, before.al, before.active);
        }
    }
    let wave = &lanes.wave;
    let tile = std::array::from_fn(|lane| {
        let there = (case.launch_mask & !wave.killed) >> lane & 1 == 1;
        there.then(|| wave.colour(lane).map(f32::to_bits))
    });
    (tile, state.done == 1)
}
