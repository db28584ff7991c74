//! The `reconverge` command.

fn main() -> std::process::ExitCode {
    reconverge::cli::main()
}
