//! Runs the transcripts of `tb/transcripts`. Of a package they are no part.

#[cfg(in_repository)]
#[path = "../../../tb"]
mod tb {
    pub mod common {
        #[allow(dead_code, reason = "the tests of the bench use all of it")]
        pub mod tool;
    }
    pub mod transcripts;
}

#[cfg(in_repository)]
use tb::common;

fn main() {
    #[cfg(in_repository)]
    tb::transcripts::run();
}
