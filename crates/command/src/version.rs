//! The version of this program.

use std::sync::LazyLock;

use crate::guests::{known, only};

/// The version, which follows the name: that of the bench, also for a program with another name.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    match only() {
        Some(_) => format!("with reconverge {version}"),
        None => version.to_owned(),
    }
});

/// The text of `--version` after the name, which every bug report needs: version, sources, tools of the linked models.
pub static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut text = format!("{}\n", *VERSION);
    for known in known()
        .iter()
        .filter(|known| !known.declaration.sources.is_empty())
    {
        text += &format!("{:<12}{}\n", known.name, known.declaration.sources);
    }
    #[cfg(feature = "units")]
    of_units(&mut text);
    text.truncate(text.trim_end().len());
    text
});

/// Adds the sources of the units and the tools of their linked models.
#[cfg(feature = "units")]
fn of_units(text: &mut String) {
    use reconverge::package;

    for (what, is) in [
        ("sources", package::SOURCES),
        ("commit", package::COMMIT.unwrap_or_default()),
        ("target", package::TARGET),
        ("built with", package::BUILT_WITH),
    ] {
        if !is.is_empty() {
            *text += &format!("{what:<12}{is}\n");
        }
    }
    for (unit, contents) in package::linked() {
        *text += &format!("RTL {unit:<8}{contents}\n");
    }
}
