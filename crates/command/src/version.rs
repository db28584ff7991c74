//! The version of this program.

use std::sync::LazyLock;

use reconverge::package;

/// The text of `--version` after the name, which every bug report needs: version, sources, tools of the linked models.
pub static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut text = format!("{}\n", env!("CARGO_PKG_VERSION"));
    for (what, is) in [
        ("sources", package::SOURCES),
        ("commit", package::COMMIT.unwrap_or_default()),
        ("target", package::TARGET),
        ("built with", package::BUILT_WITH),
    ] {
        if !is.is_empty() {
            text += &format!("{what:<12}{is}\n");
        }
    }
    for (unit, contents) in package::linked() {
        text += &format!("RTL {unit:<8}{contents}\n");
    }
    text.truncate(text.trim_end().len());
    text
});
