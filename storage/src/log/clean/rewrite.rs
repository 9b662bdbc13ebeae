//! The second half of a pass: what is superseded goes, group by group of segments.

use super::batch::{Kept, Rules};
use super::buffers::Buffers;
use super::error::CleanError;
use super::output::{Output, Stands, remove_all};
use super::pass::Pass;
use super::transactions::Transactions;
use super::walk::Step;
use crate::log::Doomed;
use crate::segment::Segment;
use crate::segment::name::Fate;
use crate::segment::scan::Found;
use std::sync::Arc;

impl Pass<'_> {
    /// Puts what is kept of `group` in its place.
    pub(super) fn clean_group(
        &mut self,
        group: &[Arc<Segment>],
        rules: &Rules<'_>,
        transactions: &mut Transactions,
    ) -> Result<(), CleanError> {
        let Some(base) = group.first().map(|it| it.base()) else { return Ok(()) };
        let replaced = self.replace(base, group, rules, transactions);
        if !matches!(replaced, Ok(Some(_)))
            && let Err(error) = remove_all(&self.log.home, base, Fate::Cleaned)
            && replaced.is_ok()
        {
            return Err(error.into());
        }
        if let Some(doomed) = replaced? {
            self.supervisor.replaced(doomed);
        }
        Ok(())
    }

    /// None: there was nothing to clean.
    fn replace(
        &mut self,
        base: i64,
        group: &[Arc<Segment>],
        rules: &Rules<'_>,
        transactions: &mut Transactions,
    ) -> Result<Option<Doomed>, CleanError> {
        let output = Output::create(&self.log.home, base, self.options.buffer_bytes)?;
        let (output, is_changed) = self.fill(output, group, rules, transactions)?;
        let aborted = transactions.take_left();
        if !is_changed && group.len() == 1 {
            return Ok(None);
        }
        self.log.put_in_place(group, output, &aborted).map(Some)
    }

    /// Writes what is kept of `group`. Also says whether that is less than all.
    fn fill<'o>(
        &mut self,
        mut output: Output<'o>,
        group: &[Arc<Segment>],
        rules: &Rules<'_>,
        transactions: &mut Transactions,
    ) -> Result<(Output<'o>, bool), CleanError> {
        let mut is_changed = false;
        for segment in group {
            let (end, _) = segment.end();
            transactions.add(self.log.aborted_transactions(segment.base(), end)?);
            self.walk(segment, 0, |pass, found, bytes| {
                pass.done.read_bytes += found.size;
                let before = output.size();
                is_changed |=
                    put_kept(&mut output, (found, bytes), rules, transactions, &mut pass.buffers)?;
                let written = output.size() - before;
                pass.done.written_bytes += written;
                pass.spend(written)?;
                Ok(Step::GoOn)
            })?;
        }
        Ok((output, is_changed))
    }
}

/// Writes what is kept of a batch. True: that is less than all, or not the same.
fn put_kept(
    output: &mut Output<'_>,
    (found, bytes): (&Found, &[u8]),
    rules: &Rules<'_>,
    transactions: &mut Transactions,
    buffers: &mut Buffers,
) -> Result<bool, CleanError> {
    let stands = Stands { last_offset: found.last_offset, max_timestamp: found.max_timestamp };
    let Some(header) = &found.header else {
        output.put(bytes, stands)?;
        return Ok(false);
    };
    match rules.keep(transactions, (header, bytes), buffers)? {
        Kept::Whole => output.put(bytes, stands)?,
        Kept::Part(bytes, header) => {
            output.put(bytes, Stands::from(&header))?;
            return Ok(true);
        }
        Kept::Nothing => return Ok(true),
    }
    Ok(false)
}
