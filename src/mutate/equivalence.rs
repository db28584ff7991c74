//! The referee.
use super::{Design, List};
use std::path::Path;
/// What it says.
pub enum Proof {
    /// Equal.
    Equivalent(String),
    /// Not.
    Differs(String),
    /// Neither.
    Unknown(String),
}
/// Referee.
pub struct Referee;
impl Referee {
    pub(super) fn new(_: &Design, _: &List, _: &Path) -> Result<Self, String> {
        Err("later".to_owned())
    }
    /// Judge.
    pub fn judge(&self, _: u32) -> Proof {
        Proof::Unknown(String::new())
    }
}
