//! Mutants in the netlist.
use super::{Design, Folder, List, Options, Trouble};
/// How many.
pub const DEFAULT: usize = 1000;
pub(super) fn make(_: &Design, _: &Options, _: &Folder) -> Result<List, Trouble> {
    Err(Trouble::Other("later".to_owned()))
}
