//! Columns as wide as what stands in them.

use crate::failure::Failure;
use crate::output::Output;

/// Prints rows below a header, each cell filled up with spaces and ended by a tab, as Kafka's
/// tools have it.
pub(crate) fn print(
    header: &[&str],
    rows: &[Vec<String>],
    output: &mut Output,
) -> Result<(), Failure> {
    let header: Vec<String> = header.iter().map(|it| (*it).to_owned()).collect();
    let all = || std::iter::once(&header).chain(rows);
    let width = |column: usize| {
        let cells = all().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    for row in all() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}\t"));
        output.line(cells.collect::<String>())?;
    }
    Ok(())
}
