//! The program `turbowish`.

fn main() -> std::process::ExitCode {
    turbowish_cli::main()
}
