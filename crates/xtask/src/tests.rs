//! The tests that `cargo test` ignores.

use xshell::cmd;

use crate::{Done, Workspace, run};

/// Runs campaigns that are killed, interrupted and disturbed at random, also on RTL that crashes or ends its process. They have the
/// totals of undisturbed ones.
pub fn kills(place: &Workspace) -> Done {
    run(cmd!(
        place.sh,
        "cargo test --locked --test bench -- campaign:: --ignored --nocapture"
    ))?;
    let stress = cmd!(
        place.sh,
        "cargo test --locked --test bench -- stress:: --ignored --nocapture"
    );
    run(stress.env("RECONVERGE_STRESS", "5"))
}

/// Checks that every listed change of each unit's RTL is caught; `cargo test` takes one of each list.
pub fn changes(place: &Workspace) -> Done {
    let all = cmd!(
        place.sh,
        "cargo test --locked --test bench -- is_caught_and_its_case_replays by_a_variant_alone --include-ignored"
    );
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
        "cargo test --locked --test bench --test pure --test rtl -- --ignored {skipped...}"
    ))
}

/// Compares what README, guides and the pages beside the sources show with what their commands print: tb/readme.rs.
pub fn readme(place: &Workspace) -> Done {
    let command = place.reconverge()?;
    let pages = cmd!(
        place.sh,
        "cargo test --locked --test bench -- readme:: --ignored --nocapture"
    );
    run(pages.env("RECONVERGE", command))
}

/// Follows a crate that `new` writes through the whole command, also as the guide does. Compiles the bench for it, once.
pub fn guests(place: &Workspace) -> Done {
    run(cmd!(
        place.sh,
        "cargo test --locked --test bench -- guest:: --ignored"
    ))
}
