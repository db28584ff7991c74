//! `cache`: the folder of the models that are built at run time.

use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;
use indicatif::{HumanBytes, HumanDuration};
use verilate::{Kept, Limits, Store, Usage};

use crate::console::{Done, Failure, Status, print};

#[derive(Args)]
pub struct CacheArgs {
    /// List the models with size, time since last use and name, most recently used first
    #[arg(long, conflicts_with_all = ["prune", "clear"])]
    list: bool,
    /// Delete models unused for --days, then the least recently used until the rest fit in --megabytes. Every build
    /// of a model does this with the default values
    #[arg(long, conflicts_with = "clear")]
    prune: bool,
    /// With --prune: keep models used in the last so many days
    #[arg(long, requires = "prune", default_value_t = 30)]
    days: u32,
    /// With --prune: keep at most so many megabytes
    #[arg(long, value_name = "MB", requires = "prune", default_value_t = 2048)]
    megabytes: u32,
    /// Delete every model that no running program uses
    #[arg(long)]
    clear: bool,
}

impl CacheArgs {
    fn limits(&self) -> Limits {
        Limits {
            age: Duration::from_secs(u64::from(self.days) * 24 * 3600),
            size: u64::from(self.megabytes) << 20,
        }
    }
}

fn shown(usage: Usage) -> String {
    let s = if usage.entries == 1 { "y" } else { "ies" };
    format!("{} entr{s}, {}", usage.entries, HumanBytes(usage.bytes))
}

pub fn command(args: &CacheArgs) -> Done {
    let failed = |e: verilate::Error| Failure::unbuilt(&e.into(), None);
    let store = Store::of_user().map_err(failed)?;
    let thrown = if args.clear {
        Some(store.clear().map_err(failed)?)
    } else if args.prune {
        Some(store.prune(&args.limits()).map_err(failed)?)
    } else {
        None
    };
    let mut text = String::new();
    if let Some(thrown) = thrown {
        let _ = writeln!(text, "thrown away  {}", shown(thrown));
    }
    let _ = writeln!(text, "folder       {}", store.dir().display());
    let usage = shown(store.usage().map_err(failed)?);
    let _ = writeln!(text, "models       {usage}");
    if args.list {
        for Kept { name, bytes, used } in store.entries().map_err(failed)? {
            let size = HumanBytes(bytes).to_string();
            let age = HumanDuration(used.elapsed().unwrap_or_default()).to_string();
            let _ = writeln!(text, "{size:>11}  {age:>10}  {name}");
        }
    }
    print(&text)?;
    Ok(Status::Agreed)
}
