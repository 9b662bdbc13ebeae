//! The manual page, the completions of shells, and the names of tools, made of what there is.

use super::{Cli, kafka};
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use std::io::{self, Write};

/// What `shell` reads to complete `highwater`.
#[must_use]
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "highwater", &mut script);
    script
}

/// The names that the binary may be called by, without `.sh`, in their order.
#[must_use]
pub fn tools() -> Vec<String> {
    let tools = tools::TABLE.iter().map(|tool| tool.name);
    let mut names: Vec<_> = tools.chain(kafka::NAMES).map(str::to_owned).collect();
    names.sort_unstable();
    names
}

/// The manual page, that of each command below that of the program.
///
/// # Errors
/// One of them cannot be written down.
pub fn page() -> Result<Vec<u8>, String> {
    let mut page = Vec::new();
    write_page(&mut page).map_err(|error| error.to_string())?;
    Ok(page)
}

fn write_page(to: &mut Vec<u8>) -> io::Result<()> {
    let mut cli = Cli::command();
    cli.build();
    clap_mangen::Man::new(cli.clone()).render(to)?;
    for command in cli.get_subcommands().filter(|it| it.get_name() != "help") {
        write_command(command, &format!("highwater {}", command.get_name()), to)?;
    }
    Ok(())
}

/// A section for a command, and for each below it.
fn write_command(command: &clap::Command, name: &str, to: &mut Vec<u8>) -> io::Result<()> {
    writeln!(to, ".SH \"{}\"", name.to_uppercase())?;
    let man = clap_mangen::Man::new(command.clone());
    man.render_description_section(to)?;
    man.render_options_section(to)?;
    for below in command.get_subcommands().filter(|it| it.get_name() != "help") {
        write_command(below, &format!("{name} {}", below.get_name()), to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_page_has_every_command() {
        let page = String::from_utf8(page().unwrap()).unwrap();
        for name in ["START", "TOPIC CREATE", "CONFIG CHECK", "CONFIG SET"] {
            assert!(page.contains(&format!(".SH \"HIGHWATER {name}\"")), "{name}:\n{page}");
        }
    }
}
