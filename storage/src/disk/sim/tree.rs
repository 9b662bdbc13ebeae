//! The names of a simulated disk: as a process sees them, and as a power failure leaves them.

use super::content::Node;
use super::power::Power;
use crate::disk::Entry;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Component, Path};
use std::sync::Arc;

/// A folder's place in [`Tree::dirs`].
type DirId = usize;

const ROOT: DirId = 0;

/// All folders ever made. One that lost its name stays: its names may still be in a crash's reach.
#[derive(Debug)]
pub(super) struct Tree {
    dirs: Vec<Dir>,
}

#[derive(Clone, Debug)]
enum Item {
    Dir(DirId),
    File(Arc<Node>),
}

type Names = BTreeMap<String, Item>;

#[derive(Debug, Default)]
struct Dir {
    live: Names,
    durable: Names,
    unsynced: Vec<Change>,
}

#[derive(Clone, Debug)]
enum Change {
    Link(String, Item),
    Unlink(String),
    /// Within one folder, and so in one piece.
    Move {
        from: String,
        to: String,
        item: Item,
    },
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { dirs: vec![Dir::default()] }
    }
}

/// The folder part and the last name.
fn split(path: &Path) -> io::Result<(&Path, &str)> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or(ErrorKind::InvalidFilename)?;
    Ok((path.parent().unwrap_or(Path::new("/")), name))
}

impl Tree {
    fn find(&self, path: &Path) -> io::Result<Item> {
        let mut here = Item::Dir(ROOT);
        for component in path.components() {
            let Component::Normal(name) = component else { continue };
            let Item::Dir(dir) = here else { return Err(ErrorKind::NotADirectory.into()) };
            let name = name.to_str().ok_or(ErrorKind::InvalidFilename)?;
            here = self.dir(dir)?.live.get(name).cloned().ok_or(ErrorKind::NotFound)?;
        }
        Ok(here)
    }

    fn find_dir(&self, path: &Path) -> io::Result<DirId> {
        match self.find(path)? {
            Item::Dir(dir) => Ok(dir),
            Item::File(_) => Err(ErrorKind::NotADirectory.into()),
        }
    }

    fn dir(&self, id: DirId) -> io::Result<&Dir> {
        self.dirs.get(id).ok_or(ErrorKind::NotFound.into())
    }

    fn dir_mut(&mut self, id: DirId) -> io::Result<&mut Dir> {
        self.dirs.get_mut(id).ok_or(ErrorKind::NotFound.into())
    }

    pub(super) fn file(&self, path: &Path) -> io::Result<Arc<Node>> {
        match self.find(path)? {
            Item::File(node) => Ok(node),
            Item::Dir(_) => Err(ErrorKind::IsADirectory.into()),
        }
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        self.find(path).is_ok()
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let dir = self.dir(self.find_dir(path)?)?;
        let entry = |(name, item): (&String, &Item)| Entry {
            name: name.clone(),
            is_dir: matches!(item, Item::Dir(_)),
        };
        Ok(dir.live.iter().map(entry).collect())
    }

    fn link(&mut self, path: &Path, item: Item) -> io::Result<()> {
        let (above, name) = split(path)?;
        let above = self.find_dir(above)?;
        let dir = self.dir_mut(above)?;
        if dir.live.contains_key(name) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        dir.change(Change::Link(name.to_owned(), item));
        Ok(())
    }

    pub(super) fn link_file(&mut self, path: &Path, node: Arc<Node>) -> io::Result<()> {
        self.link(path, Item::File(node))
    }

    pub(super) fn mkdir(&mut self, path: &Path) -> io::Result<()> {
        self.link(path, Item::Dir(self.dirs.len()))?;
        self.dirs.push(Dir::default());
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        if let Item::Dir(id) = self.find(path)?
            && !self.dir(id)?.live.is_empty()
        {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        let (above, name) = split(path)?;
        let above = self.find_dir(above)?;
        self.dir_mut(above)?.change(Change::Unlink(name.to_owned()));
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let item = self.find(from)?;
        match (&item, self.find(to)) {
            (_, Err(_)) | (Item::File(_), Ok(Item::File(_))) => {}
            (Item::File(_), Ok(Item::Dir(_))) => return Err(ErrorKind::IsADirectory.into()),
            (Item::Dir(_), Ok(Item::File(_))) => return Err(ErrorKind::NotADirectory.into()),
            (Item::Dir(_), Ok(Item::Dir(id))) => {
                if !self.dir(id)?.live.is_empty() {
                    return Err(ErrorKind::DirectoryNotEmpty.into());
                }
            }
        }
        let ((from_dir, from), (to_dir, to)) = (split(from)?, split(to)?);
        let (from_dir, to_dir) = (self.find_dir(from_dir)?, self.find_dir(to_dir)?);
        let (from, to) = (from.to_owned(), to.to_owned());
        if from_dir == to_dir {
            self.dir_mut(from_dir)?.change(Change::Move { from, to, item });
        } else {
            self.dir_mut(to_dir)?.change(Change::Link(to, item));
            self.dir_mut(from_dir)?.change(Change::Unlink(from));
        }
        Ok(())
    }

    pub(super) fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        let id = self.find_dir(path)?;
        let dir = self.dir_mut(id)?;
        let Dir { durable, unsynced, .. } = dir;
        unsynced.drain(..).for_each(|change| change.apply(durable));
        Ok(())
    }

    /// The names that are left: in each folder the synced ones and the first few changes since.
    pub(super) fn after_crash(&self, power: &Arc<Power>, draw: &mut dyn FnMut() -> u64) -> Tree {
        self.copy(power, Some(draw))
    }

    /// All names and bytes, as a process sees them.
    pub(super) fn as_seen(&self, power: &Arc<Power>) -> Tree {
        self.copy(power, None)
    }

    fn copy<'a>(
        &'a self,
        power: &'a Arc<Power>,
        draw: Option<&'a mut (dyn FnMut() -> u64 + 'a)>,
    ) -> Tree {
        let made = BTreeMap::new();
        let mut copy = Copy { of: self, power, draw, made, tree: Tree::default() };
        copy.dir(ROOT, ROOT);
        copy.tree
    }
}

impl Dir {
    fn change(&mut self, change: Change) {
        change.clone().apply(&mut self.live);
        self.unsynced.push(change);
    }

    fn after_crash(&self, draw: &mut dyn FnMut() -> u64) -> Names {
        let mut names = self.durable.clone();
        let count = self.unsynced.len() as u64;
        let kept = match draw() % 3 {
            0 => count,
            1 => 0,
            _ => draw() % (count + 1),
        };
        for (change, _) in self.unsynced.iter().zip(0..kept) {
            change.clone().apply(&mut names);
        }
        names
    }
}

impl Change {
    fn apply(self, names: &mut Names) {
        match self {
            Change::Link(name, item) => drop(names.insert(name, item)),
            Change::Unlink(name) => drop(names.remove(&name)),
            Change::Move { from, to, item } => {
                names.remove(&from);
                names.insert(to, item);
            }
        }
    }
}

/// A tree in the making, with nodes of its own.
struct Copy<'a> {
    of: &'a Tree,
    power: &'a Arc<Power>,
    /// What the crash keeps; None: there is no crash, and all is kept.
    draw: Option<&'a mut (dyn FnMut() -> u64 + 'a)>,
    /// By the address of the old node, so that two names of one file stay that.
    made: BTreeMap<usize, Arc<Node>>,
    tree: Tree,
}

impl Copy<'_> {
    fn dir(&mut self, from: DirId, to: DirId) {
        let Some(dir) = self.of.dirs.get(from) else { return };
        let kept = match &mut self.draw {
            Some(draw) => dir.after_crash(draw),
            None => dir.live.clone(),
        };
        let mut names = Names::new();
        for (name, item) in kept {
            let item = match item {
                Item::File(node) => Item::File(self.file(&node)),
                Item::Dir(inner) => {
                    let id = self.tree.dirs.len();
                    self.tree.dirs.push(Dir::default());
                    self.dir(inner, id);
                    Item::Dir(id)
                }
            };
            names.insert(name, item);
        }
        if let Some(made) = self.tree.dirs.get_mut(to) {
            *made = Dir { live: names.clone(), durable: names, unsynced: Vec::new() };
        }
    }

    fn file(&mut self, node: &Arc<Node>) -> Arc<Node> {
        let draw = &mut self.draw;
        let copy = || {
            let bytes = match draw {
                Some(draw) => node.after_crash(draw),
                None => node.bytes(),
            };
            Arc::new(Node::new(self.power.clone(), bytes))
        };
        self.made.entry(Arc::as_ptr(node).addr()).or_insert_with(copy).clone()
    }
}
