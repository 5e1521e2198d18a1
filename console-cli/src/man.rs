//! `turbowish completions` and `turbowish man`, printed from the command line's own tables.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::failure::{Failure, note, print_own};

/// Prints a completion script.
///
/// # Errors
/// stdout cannot be written to.
pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "turbowish", &mut script);
    print_own(&String::from_utf8_lossy(&script))
}

/// Prints the manual page, or writes those of all commands into a folder.
///
/// # Errors
/// The folder cannot be written to.
pub(crate) fn man(out: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command())
            .render(&mut page)
            .map_err(|cause| Failure::local("cannot create the manual", &cause))?;
        return print_own(&String::from_utf8_lossy(&page));
    };
    let failed = |cause| {
        Failure::local(
            &format!("cannot write manual pages to {}", folder.display()),
            &cause,
        )
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
    note(&format!("wrote the manual pages to {}", folder.display()));
    Ok(())
}
