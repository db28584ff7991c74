//! The result of a campaign in each of its forms: `--json`, `--junit`, `--html`.

use std::time::Duration;

use reconverge::cover::Bins as _;
use reconverge::show::page::Failed;
use serde_json::Value;

use crate::console::{Failure, Status};
use crate::junit::{self, Suite};
use crate::page::Part;
use crate::shows::Shows;
use crate::whole::Whole;

/// The result of a unit's campaign.
#[derive(Clone)]
pub struct Ran {
    /// Whether a case failed.
    pub status: Status,
    /// Why the campaign is incomplete.
    pub interrupted: Option<String>,
    /// The summary for `--json`.
    pub json: Value,
    /// The suite for `--junit`.
    pub suite: Suite,
    /// The part of the page for `--html`.
    pub part: Part,
}

/// Returns the results of a campaign; `reports` are those of its failures, `shown` is what a page shows of them.
pub fn ran<C: Shows>(
    whole: &Whole<C>,
    reports: &[String],
    interrupted: Option<String>,
    took: Option<Duration>,
    shown: Vec<Failed>,
) -> Result<Ran, Failure> {
    let &Whole {
        summary,
        options,
        shard,
        build,
        ..
    } = whole;
    let nothing = summary.compared.cycles == 0 && summary.failures.is_empty();
    if nothing && interrupted.is_none() {
        return Err(Failure::Other("nothing was compared".to_owned()));
    }
    let mut json = summary.to_json(options, &C::Bins::new(build));
    json["build"] = serde_json::to_value(build).unwrap_or_default();
    let given_up = summary.given_up();
    json["complete"] = (interrupted.is_none() && given_up.is_none()).into();
    let rest = given_up.and_then(|_| whole.not_run());
    json["not_run"] = rest.into();
    json["shard"] = (shard.of() > 1).then(|| shard.to_string()).into();
    let complete = json["complete"] == true;
    Ok(Ran {
        part: Part::new(whole, complete, shown),
        status: Status::of(!summary.failures.is_empty()),
        interrupted,
        json,
        suite: junit::suite(whole, reports, took),
    })
}
