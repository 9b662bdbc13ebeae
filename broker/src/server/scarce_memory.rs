//! A system that may refuse memory to a process that asks for it, and what is said of it at the
//! start: what is asked for is address space, of which this process touches a small part.

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use std::path::Path;
use storage::disk::Disk;
use tracing::warn;

const OVERCOMMIT: &str = "/proc/sys/vm/overcommit_memory";
/// Its value that has the kernel count what was asked for.
const NEVER: &str = "2";

/// Warns where memory may be refused.
pub(super) fn warn_of_refusals(disk: &dyn Disk) {
    // What cannot be read is not known, and nothing is said of it.
    let overcommit = first_bytes(disk, Path::new(OVERCOMMIT)).unwrap_or_default();
    let address_space = getrlimit(Resource::RLIMIT_AS).map_or(RLIM_INFINITY, |(soft, _)| soft);
    if let Some(warning) = warning(&overcommit, address_space) {
        warn!("{warning}");
    }
}

/// The kernel does not say how long such a file is.
fn first_bytes(disk: &dyn Disk, path: &Path) -> Option<String> {
    let mut bytes = vec![0; 64];
    let count = disk.open(path).ok()?.read_at(0, &mut bytes).ok()?;
    bytes.truncate(count);
    String::from_utf8(bytes).ok()
}

/// What to say, given the text of `vm.overcommit_memory` and the limit of the address space.
fn warning(overcommit: &str, address_space: u64) -> Option<String> {
    let limited = format!(
        "its address space has {} MiB (`ulimit -v`): lift that limit, and bound what it touches \
         instead (MemoryMax= of a systemd unit, or a container's memory)",
        address_space >> 20
    );
    let counted = "vm.overcommit_memory is 2: set it to 0 or 1 with sysctl, or leave much room below \
                   CommitLimit in /proc/meminfo";
    let why = match (address_space != RLIM_INFINITY, overcommit.trim() == NEVER) {
        (true, true) => format!("{limited}; and {counted}"),
        (true, false) => limited,
        (false, true) => counted.to_owned(),
        (false, false) => return None,
    };
    Some(format!(
        "The system may refuse memory to this process, which then ends at once, as by kill -9, \
         and must be started again: {why}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_where_memory_may_be_refused_and_only_there() {
        for overcommit in ["0\n", "1\n", "", "22\n"] {
            assert_eq!(warning(overcommit, RLIM_INFINITY), None);
        }
        let of_kernel = "vm.overcommit_memory is 2";
        let of_process = "4096 MiB (`ulimit -v`)";
        for (overcommit, address_space, has) in [
            ("2\n", RLIM_INFINITY, (true, false)),
            ("0\n", 4 << 30, (false, true)),
            ("2\n", 4 << 30, (true, true)),
        ] {
            let said = warning(overcommit, address_space).unwrap();
            assert!(said.contains("ends at once") && !said.contains('\n'), "{said}");
            assert_eq!((said.contains(of_kernel), said.contains(of_process)), has, "{said}");
        }
    }

    #[test]
    fn what_the_kernel_says_is_read_whole() {
        let said = first_bytes(&storage::disk::os::OsDisk, Path::new(OVERCOMMIT)).unwrap();
        assert!(["0", "1", "2"].contains(&said.trim()), "{said:?}");
        assert_eq!(first_bytes(&storage::disk::os::OsDisk, Path::new("/nowhere")), None);
    }
}
