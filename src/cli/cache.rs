//! `cache`: the folder of models that are built at run time.

use clap::Args;
use indicatif::HumanBytes;
use verilate::{Limits, Store, Usage};

use super::{Agreed, Done, Failure, print};

#[derive(Args)]
pub struct CacheArgs {
    /// Throw away models not used for 30 days, and beyond 2 GiB those not used for longest, as every build does
    #[arg(long, conflicts_with = "clear")]
    prune: bool,
    /// Throw away every model that no running program uses
    #[arg(long)]
    clear: bool,
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
        Some(store.prune(&Limits::default()).map_err(failed)?)
    } else {
        None
    };
    if let Some(thrown) = thrown {
        print(&format!("thrown away  {}\n", shown(thrown)))?;
    }
    let kept = store.usage().map_err(failed)?;
    print(&format!(
        "folder       {}\nmodels       {}\n",
        store.dir().display(),
        shown(kept)
    ))?;
    Ok(Agreed::Yes)
}
