//! Assertions of the RTL, `rtl/<unit>/<unit>_sva.sv`: each fails in RTL with a fault for it and in no other RTL. They do not
//! apply to a state that was preloaded.

use std::fs;

use bytemuck::{Zeroable, bytes_of_mut};
use reconverge::campaign::{Pace, recorded};
use reconverge::design::Build;
use reconverge::design::Control;
use reconverge::dut::Rtl;

use crate::common::Tested;
use crate::common::rtl::{Copy, Rtl as Folder};

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit_with_models!($module reconverge::$module::$unit:
                every_assertion_fails_for_a_fault_and_none_without,
                a_state_that_was_preloaded_is_not_held_to_assertions_until_a_reset,
            );
        }
    )+};
}
for_each_unit!(tests);

/// A fault: the file, text that occurs in it once, its replacement, and the assertions that must fail. `FAULT` is 1 while the
/// fault is present.
type Fault = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const R500: &[Fault] = &[
    // A nonzero counter of a lane whose class has no counter.
    (
        "r500_lanes.sv",
        "bc0_d = still_branch &",
        "bc0_d = (still_branch | {LANES{FAULT}}) &",
        &["I1"],
    ),
    (
        "r500_lanes.sv",
        "lc0_d = still_waiting & (lc0_q ^ {LANES{loop_push_i | loop_pop_i}});",
        "lc0_d = still_waiting & ((lc0_q ^ {LANES{loop_push_i | loop_pop_i}}) | {LANES{FAULT}});",
        &["I2", "lc_not_over"],
    ),
    (
        "r500_loop_stack.sv",
        "{2'd0, push_i} -",
        "{2'd0, push_i | FAULT} -",
        &["I3"],
    ),
    (
        "r500_loop_stack.sv",
        "push_i ? count_i :",
        "push_i ? count_i & {8{~FAULT}} :",
        &["I4"],
    ),
    (
        "r500_decode.sv",
        "partial_o = ~full_i &",
        "partial_o = ~full_i & ~FAULT &",
        &["I5"],
    ),
    (
        "r500_seq.sv",
        "halted_d  = 1'b0;",
        "halted_d  = FAULT & halted_q;",
        &["I6"],
    ),
    (
        "r500_seq.sv",
        "(code_hi > r500_pkg::LastAddr) ?",
        "((code_hi > r500_pkg::LastAddr) & ~FAULT) ?",
        &["I7", "pc_never_wraps"],
    ),
    (
        "r500_lanes.sv",
        "active_q <= active_d;",
        "active_q <= active_d ^ LANES'(FAULT);",
        &["active_is_class"],
    ),
    (
        "r500_loop_stack.sv",
        "(rep_i ? 8'd0 : step_i)",
        "((rep_i & ~FAULT) ? 8'd0 : step_i)",
        &["rep_carries_al"],
    ),
    (
        "r500_loop_stack.sv",
        "al_top_d = below_al;",
        "al_top_d = FAULT ? al_top_q : below_al;",
        &["al_is_top"],
    ),
    (
        "r500_seq.sv",
        "(pc_q + 10'd1),",
        "(FAULT ? 10'd513 : pc_q + 10'd1),",
        &["return_in_range"],
    ),
    (
        "r500_seq.sv",
        "assign pc_o      = pc_q;",
        "assign pc_o      = FAULT ? pc_d : pc_q;",
        &["outputs_registered"],
    ),
    (
        "r500_decode.sv",
        "assign is_cont_o  = op == r500_pkg::OpContinue;",
        "assign is_cont_o  = (op == r500_pkg::OpContinue) | (FAULT & is_break_o);",
        &["op_onehot"],
    ),
    (
        "r500_vote.sv",
        "(branch_i & {LANES{is_break_i | is_cont_i}})",
        "(branch_i & {LANES{is_break_i | is_cont_i | FAULT}})",
        &["forced_alone"],
    ),
    (
        "r500_vote.sv",
        "{LANES{~(force_jump_i | force_stay_i)}}",
        "{LANES{~(force_jump_i | force_stay_i) | FAULT}}",
        &["forced_agrees"],
    ),
    (
        "r500_lanes.sv",
        "(was_branch & ~else_on)",
        "(was_branch & ~(else_on & {LANES{~FAULT}}))",
        &["step2_onehot"],
    ),
    (
        "r500_lanes.sv",
        "else_off_o   = active_q &",
        "else_off_o   = (active_q | {LANES{FAULT}}) &",
        &["else_off_branch"],
    ),
    (
        "r500_lanes.sv",
        "{LANES{to_cont_i}}",
        "{LANES{to_cont_i | (FAULT & incr_i)}}",
        &["step7_onehot"],
    ),
    (
        "r500_vote.sv",
        "disagree_o = active_i &",
        "disagree_o = (active_i | {LANES{FAULT}}) &",
        &["disagree_active"],
    ),
    (
        "r500_seq.sv",
        "loop_back = is_end & jump;",
        "loop_back = is_end & (jump | FAULT);",
        &["loop_onehot"],
    ),
    (
        "r500_seq.sv",
        "loop_push & loop_full;",
        "loop_push & loop_full & ~FAULT;",
        &["loop_not_over"],
    ),
    (
        "r500_seq.sv",
        "(is_end | is_break | is_cont) & loop_empty;",
        "(is_end | is_break | is_cont) & loop_empty & ~FAULT;",
        &["loop_not_under"],
    ),
    (
        "r500_seq.sv",
        "(loop_top_rep ^ is_rep);",
        "(loop_top_rep ^ is_rep) & ~FAULT;",
        &["loop_kind"],
    ),
    (
        "r500_seq.sv",
        "(is_begin & (kr == 8'd0))",
        "(is_begin & (kr == 8'd0) & ~FAULT)",
        &["push_counts"],
    ),
    (
        "r500_seq.sv",
        "(is_end & loop_last)",
        "(is_end & loop_last & ~FAULT)",
        &["back_not_last"],
    ),
    (
        "r500_seq.sv",
        "addr_pop  = a_pop & jump;",
        "addr_pop  = (a_pop | (FAULT & a_push & ~addr_empty)) & jump;",
        &["addr_onehot"],
    ),
    (
        "r500_seq.sv",
        "addr_push & addr_full;",
        "addr_push & addr_full & ~FAULT;",
        &["addr_not_over"],
    ),
    (
        "r500_seq.sv",
        "addr_pop & addr_empty;",
        "addr_pop & addr_empty & ~FAULT;",
        &["addr_not_under"],
    ),
    (
        "r500_seq.sv",
        "loop_push = is_begin & ~jump;",
        "loop_push = is_begin & (~jump | FAULT);",
        &["loop_requests"],
    ),
];

const R700: &[Fault] = &[
    (
        "r700_stack.sv",
        "overflow_o  = push &",
        "overflow_o  = push & ~FAULT &",
        &["I1", "stack_not_over"],
    ),
    (
        "r700_stack.sv",
        "frame2[24 +: SpBits] : top_word[40 +: SpBits];",
        "frame2[24 +: SpBits] : top_word[40 +: SpBits] ^ SpBits'(FAULT);",
        &["I2", "stack_base", "stack_parts"],
    ),
    (
        "r700_stack.sv",
        "nb_d = nb_q + One;",
        "nb_d = nb_q + One + SpBits'(FAULT);",
        &["I3"],
    ),
    (
        "r700_seq.sv",
        "depth_d   = 6'd0;",
        "depth_d   = 6'(FAULT);",
        &["I4"],
    ),
    (
        "r700_loop.sv",
        "lc_d = (start_dx10_i & (DX10_COUNT == 0)) ?",
        "lc_d = (start_dx10_i & ((DX10_COUNT == 0) | FAULT)) ?",
        &["I5"],
    ),
    (
        "r700_lanes.sv",
        "st1_d = frame_st1_i;",
        "st1_d = frame_st1_i | {LANES{FAULT}};",
        &["I6"],
    ),
    (
        "r700_loop.sv",
        "al_d  = frame_al_i;",
        "al_d  = frame_al_i | 32'(FAULT);",
        &["I7"],
    ),
    (
        "r700_seq.sv",
        "halted_d  = ~entry_ok;",
        "halted_d  = ~entry_ok | FAULT;",
        &["I8"],
    ),
    (
        "r700_lanes.sv",
        "active_q <= on;",
        "active_q <= on ^ LANES'(FAULT);",
        &["active_is_class"],
    ),
    (
        "r700_stack.sv",
        "8'(MAX_STACK_SIZE), {(SpBits-8){1'b0}}};",
        "8'(MAX_STACK_SIZE), {(SpBits-9){1'b0}}, FAULT};",
        &["limit_in_range"],
    ),
    (
        "r700_seq.sv",
        "pc_range  = ~last &",
        "pc_range  = ~last & ~FAULT &",
        &["pc_in_program"],
    ),
    (
        "r700_seq.sv",
        "assign pc_o      = pc_q;",
        "assign pc_o      = FAULT ? pc_d : pc_q;",
        &["outputs_registered"],
    ),
    (
        "r700_seq.sv",
        "r700_pkg::KindPushElse: push_branch = 1'b1;",
        "r700_pkg::KindPushElse: {push_branch, push_call} = {1'b1, FAULT};",
        &["stack_onehot"],
    ),
    (
        "r700_seq.sv",
        "r700_pkg::KindAluPop:   pop = |pops;",
        "r700_pkg::KindAluPop:   pop = |pops | FAULT;",
        &["pop_counts"],
    ),
    (
        "r700_stack.sv",
        "underflow_o = pop_i &",
        "underflow_o = pop_i & ~FAULT &",
        &["stack_not_under"],
    ),
    (
        "r700_seq.sv",
        "loop_open = is_end & open;",
        "loop_open = is_end & open & ~FAULT;",
        &["exit_loop_at_frame"],
    ),
    (
        "r700_seq.sv",
        "no_call   = (kind == r700_pkg::KindReturn) &",
        "no_call   = (kind == r700_pkg::KindReturn) & ~FAULT &",
        &["exit_call_at_frame"],
    ),
    (
        "r700_seq.sv",
        "no_loop   = (is_end",
        "no_loop   = ~FAULT & (is_end",
        &["drop_in_loop"],
    ),
    (
        "r700_seq.sv",
        ".leave_i      (commit & exit_loop),",
        ".leave_i      (commit & (exit_loop | (FAULT & is_end))),",
        &["loop_onehot"],
    ),
    (
        "r700_seq.sv",
        "((count == 12'd0) & ~(start_dx10 & (DX10_COUNT == 0)))",
        "((count == 12'd0) & ~((start_dx10 & (DX10_COUNT == 0)) | FAULT))",
        &["loop_counts"],
    ),
    (
        "r700_loop.sv",
        "(lc_q > 12'd1);",
        "(lc_q > 12'd1) | FAULT;",
        &["again_counts"],
    ),
    (
        "r700_lanes.sv",
        "on    = active_q & ~pass_i;",
        "on    = active_q & ~(pass_i & {LANES{~FAULT}});",
        &["classes_exclusive"],
    ),
];

const SPA5: &[Fault] = &[
    (
        "spa5_seq.sv",
        "status_d = spa5_pkg::StatusUnwind;",
        "status_d = FAULT ? spa5_pkg::StatusRun : spa5_pkg::StatusUnwind;",
        &["I1", "all_is_some"],
    ),
    (
        "spa5_threads.sv",
        "active_d = active_q & ~taken_i;",
        "active_d = active_q & ~(taken_i & {LANES{~FAULT}});",
        &["I2"],
    ),
    // A token without its lowest thread.
    (
        "spa5_seq.sv",
        "push_mask = active;",
        "push_mask = FAULT ? active & (active - 1'b1) : active;",
        &["I3"],
    ),
    (
        "spa5_seq.sv",
        "push_mask = rest;",
        "push_mask = FAULT ? active : rest;",
        &["I4", "I4b"],
    ),
    (
        "spa5_stack.sv",
        " mask_q[at] <= mask_i;",
        " mask_q[at] <= mask_i | {LANES{FAULT & ~empty_o}};",
        &["I5"],
    ),
    // A leaving instruction without a token.
    (
        "spa5_seq.sv",
        "no_token   = some &",
        "no_token   = some & ~FAULT &",
        &["I6", "I6b", "I8"],
    ),
    // BRK loses its threads.
    (
        "spa5_threads.sv",
        "if (to_brk)",
        "if (to_brk & ~FAULT)",
        &["I7b", "I9"],
    ),
    (
        "spa5_stack.sv",
        "vis_d = top_vis;",
        "vis_d = FAULT ? vis_q : top_vis;",
        &["I10"],
    ),
    (
        "spa5_seq.sv",
        "if (empty) begin",
        "if (empty | FAULT) begin",
        &["I11"],
    ),
    (
        "spa5_threads.sv",
        "killed_d = killed_q | taken_i;",
        "killed_d = killed_q | taken_i | {LANES{FAULT}};",
        &["I12"],
    ),
    (
        "spa5_stack.sv",
        "full_o     = sp_q == Full;",
        "full_o     = (sp_q == Full) & ~FAULT;",
        &["sp_in_range"],
    ),
    (
        "spa5_stack.sv",
        "head = {token_i,",
        "head = {token_i | {3{FAULT}},",
        &["tokens_sound"],
    ),
    (
        "spa5_stack.sv",
        "top_mask_q <= mask_i;",
        "top_mask_q <= mask_i ^ LANES'(FAULT);",
        &["top_is_top"],
    ),
    (
        "spa5_seq.sv",
        "pc_d = pc_seq;",
        "pc_d = FAULT ? pc_next : pc_seq;",
        &["pc_normalized"],
    ),
    (
        "spa5_seq.sv",
        "prog_size_q <= prog_size_i;",
        "prog_size_q <= prog_size_i | 32'(FAULT);",
        &["size_in_bundles"],
    ),
    (
        "spa5_seq.sv",
        "prog_base_q <= prog_base_i;",
        "prog_base_q <= prog_base_i | {{27{FAULT}}, 5'd0};",
        &["program_ends"],
    ),
    (
        "spa5_seq.sv",
        "err_d    = spa5_pkg::ErrOk;",
        "err_d    = FAULT ? err_q : spa5_pkg::ErrOk;",
        &["err_in_err"],
    ),
    (
        "spa5_seq.sv",
        "assign pc_o     = pc_q;",
        "assign pc_o     = FAULT ? pc_d : pc_q;",
        &["outputs_registered"],
    ),
    (
        "spa5_seq.sv",
        "to_target = is_setup | jump;",
        "to_target = is_setup | jump | FAULT;",
        &["no_token_alone"],
    ),
    (
        "spa5_decode.sv",
        "leave_o       = spa5_pkg::LeaveBrk;",
        "leave_o       = spa5_pkg::LeaveBrk | 5'(FAULT);",
        &["leave_onehot"],
    ),
    (
        "spa5_decode.sv",
        "kill_o        = 1'b0;",
        "kill_o        = FAULT & is_sync;",
        &["kil_exits"],
    ),
    (
        "spa5_decode.sv",
        "no_such_test = (CSM == 0) &",
        "no_such_test = ((CSM == 0) ^ FAULT) &",
        &["clip_tests"],
    ),
    (
        "spa5_brx.sv",
        "group_o[t] = active_i[t] &",
        "group_o[t] = active_i[t] & ~FAULT &",
        &["group_not_empty"],
    ),
    (
        "spa5_seq.sv",
        "(commit & split),",
        "(commit & (split | (FAULT & is_leave))),",
        &["threads_onehot"],
    ),
    (
        "spa5_seq.sv",
        ".pop_i       (pop),",
        ".pop_i       (pop | (FAULT & commit & push)),",
        &["stack_onehot"],
    ),
    (
        "spa5_seq.sv",
        "overflow   = push & full;",
        "overflow   = push & full & ~FAULT;",
        &["stack_not_over"],
    ),
    (
        "spa5_seq.sv",
        "pop     = unwind & ~empty;",
        "pop     = unwind & (~empty | FAULT);",
        &["stack_not_under"],
    ),
    // Operands of a launch may change only while nothing runs.
    (
        "spa5_seq.sv",
        "((status_q == spa5_pkg::StatusDone) |",
        "(FAULT | (status_q == spa5_pkg::StatusDone) |",
        &["launch_aligned", "launch_ends"],
    ),
];

fn faults<U: Tested>() -> &'static [Fault] {
    match U::NAME {
        "r500" => R500,
        "r700" => R700,
        "spa5" => SPA5,
        other => panic!("no faults for {other}"),
    }
}

/// The fault that is present, and the only assertion that is checked; 0: no fault, all assertions.
const CHOICE: &str = "\
package choice;
  function automatic int unsigned given();
    if ($value$plusargs(\"reconverge_mutant=%d\", given) == 0) given = 0;
  endfunction
  int unsigned value = given();
endpackage
";

/// The file that [`CHOICE`] reads.
fn choice(fault: usize, assertion: usize) -> u32 {
    u32::try_from(fault | assertion << 8).unwrap()
}

/// The RTL of `U` with all of its faults, and the names of its assertions.
fn with_faults<U: Tested>(faults: &[Fault]) -> (Copy, Vec<String>) {
    let copy = Folder::own(U::NAME).copy();
    for ((file, from, to, _), number) in faults.iter().zip(1..) {
        let to = to.replace("FAULT", &format!("(choice::value[7:0] == 8'd{number})"));
        copy.change((file, from, &to));
    }
    let path = |name: &str| copy.dir().join(name);
    fs::write(path("choice.sv"), CHOICE).unwrap();
    let list = path(&format!("{}.f", U::NAME));
    let files = fs::read_to_string(&list).unwrap();
    fs::write(&list, format!("choice.sv\n{files}")).unwrap();

    let bound = path(&format!("{}_sva.sv", U::NAME));
    let mut names = Vec::new();
    let mut text = String::new();
    for line in fs::read_to_string(&bound).unwrap().lines() {
        let labelled = line.split_once(": assert (");
        if let Some((name, _)) = labelled.or(line.split_once(": assume (")) {
            names.push(name.trim().to_owned());
            let alone = format!("choice::value[15:8] inside {{8'd0, 8'd{}}}", names.len());
            text += &format!("if ({alone}) {}\n", line.trim_start());
        } else {
            text += &format!("{line}\n");
        }
    }
    fs::write(&bound, text).unwrap();
    (copy, names)
}

/// Few lanes and small stacks, which fill up soon; all optional parts are built in.
fn small<U: Tested>() -> Build {
    let mut build = Build::from(4);
    let parameters: &[(&str, u32)] = match U::NAME {
        "r700" => &[("DX10_COUNT", 1), ("MAX_STACK_SIZE", 3), ("SUBENTRIES", 8)],
        "spa5" => &[("BRX", 1), ("CSM", 1), ("DEPTH", 6)],
        _ => &[],
    };
    build
        .parameters
        .extend(parameters.iter().map(|(n, v)| ((*n).to_owned(), *v)));
    build
}

fn every_assertion_fails_for_a_fault_and_none_without<U: Tested>() {
    let faults = faults::<U>();
    let (copy, names) = with_faults::<U>(faults);
    let build = small::<U>();
    let rtl = Rtl::<U>::of(build.clone(), copy.dir()).unwrap();
    let pins = recorded::<U>(1, &build, 100_000, Pace::Campaign);
    // The message with which the RTL stops for this choice.
    let stopped = |choice: u32| {
        let mut dut = rtl.clone().mutant(choice).open(1).unwrap();
        let _ = dut.bare(&pins);
        dut.stopped()
    };
    assert_eq!(stopped(0), None, "without a fault");

    let mut wrong = Vec::new();
    for (number, name) in (1..).zip(&names) {
        let mut of_it = (1..)
            .zip(faults)
            .filter(|(_, fault)| fault.3.contains(&name.as_str()))
            .peekable();
        if of_it.peek().is_none() {
            wrong.push(format!("{name}: no fault"));
        }
        for (fault, (file, _, to, _)) in of_it {
            let why = stopped(choice(fault, number));
            let named = format!("u_sva.{name}: ");
            if !why.as_ref().is_some_and(|why| why.contains(&named)) {
                wrong.push(format!("{name}: {why:?} with {to:?} in {file}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // No name is misspelt.
    let listed = faults.iter().flat_map(|fault| fault.3);
    for name in listed {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
}

/// No unit has a legal state of ones alone.
fn a_state_that_was_preloaded_is_not_held_to_assertions_until_a_reset<U: Tested>() {
    let (copy, _) = with_faults::<U>(faults::<U>());
    let build = small::<U>();
    let rtl = Rtl::<U>::of(build.clone(), copy.dir()).unwrap();
    let mut stalled = U::In::default();
    stalled.set_stall(true);
    let mut impossible = U::State::zeroed();
    bytes_of_mut(&mut impossible).fill(0xff);

    let mut dut = rtl.mutant(choice(1, 0)).open(1).unwrap();
    for pins in [U::In::reset(), U::In::reset(), stalled] {
        dut.clock(&pins, None);
    }
    dut.load(&impossible);
    for _ in 0..3 {
        dut.clock(&stalled, None);
    }
    assert_eq!(dut.stopped(), None);
    // The pins begin with a reset, and the fault is present.
    dut.bare(&recorded::<U>(1, &build, 20_000, Pace::Campaign));
    let why = dut.stopped().unwrap();
    assert!(why.contains("u_sva."), "{why}");
}
