//! The tests that `cargo test` ignores.

use xshell::{Cmd, cmd};

use crate::{Done, Workspace, run};

/// Options of cargo for tests that take long: campaigns of millions of cycles, many proofs, tests under a memory checker. What
/// spends the time is optimised, which `cargo test` does not do.
pub(crate) const OPTIMISED: [&str; 4] = [
    "--config",
    "profile.dev.package.reconverge.opt-level=1",
    "--config",
    "profile.dev.package.reconverge-mutate.opt-level=1",
];

/// Returns the command that runs the tests of the bench with `args`, the words behind `--`.
pub(crate) fn bench<'a>(place: &'a Workspace, args: &[&str]) -> Cmd<'a> {
    cmd!(
        place.sh,
        "cargo test --locked {OPTIMISED...} --test bench -- {args...}"
    )
}

/// Runs campaigns that are killed, interrupted and disturbed at random, also on RTL that crashes or ends its process. They have the
/// totals of undisturbed ones.
pub fn kills(place: &Workspace) -> Done {
    let both = [
        "ten_campaigns_killed",
        "stress::",
        "--ignored",
        "--nocapture",
    ];
    run(bench(place, &both).env("RECONVERGE_STRESS", "5"))
}

/// Checks that every listed change of each unit's RTL is caught; `cargo test` takes one of each list.
pub fn changes(place: &Workspace) -> Done {
    let lists = [
        "is_caught_and_its_case_replays",
        "by_a_variant_alone",
        "--include-ignored",
    ];
    let all = bench(place, &lists);
    run(all.env("RECONVERGE_ALL_CHANGES", "1"))
}

/// Ignored tests that belong to other checks, take an hour, or need tools that are not installed here.
const ELSEWHERE: [&str; 11] = [
    "is_caught_and_its_case_replays",
    "by_a_variant_alone",
    "guest::",
    "ten_campaigns_killed",
    "stress::",
    "as_many",
    "all_changes_are_shrunk",
    "readme::",
    "read_by_slang",
    "listings_are_what_mesa_makes",
    "all_of_r500_is_proved",
];

/// Runs the tests that `cargo test` ignores because they need optional tools or take many models or proofs. A missing tool is a
/// failure.
pub fn builds(place: &Workspace) -> Done {
    let skipped = ELSEWHERE.iter().flat_map(|name| ["--skip", name]);
    run(cmd!(
        place.sh,
        "cargo test --locked {OPTIMISED...} --test bench --test pure --test rtl --test transcripts -- --ignored {skipped...}"
    ))
}

/// Compares what README, guides and the pages beside the sources show with what their commands print: tb/readme.rs.
pub fn readme(place: &Workspace) -> Done {
    let command = place.reconverge()?;
    let pages = bench(place, &["readme::", "--ignored", "--nocapture"]);
    run(pages.env("RECONVERGE", command))
}

/// Follows a crate that `new` writes through the whole command, also as the guide does. Compiles the bench for it, once.
pub fn guests(place: &Workspace) -> Done {
    run(bench(place, &["guest::", "--ignored"]))
}
