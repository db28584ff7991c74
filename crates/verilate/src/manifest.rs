//! The manifest of an entry in the store: what the entry was made from and what it contains.
//!
//! A text file of lines with words separated by tabs. The last line is the SHA-256 of the lines before it:
//!
//! ```text
//! reconverge-model 1
//! output  SIZE  SHA256  NAME
//! source  SHA256  PLACE        SHA256 is - of a file that was looked for and is not there
//! tool    SIZE  TIME  NAME  PATH
//! sum     SHA256
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, io};
use crate::files::{Digest, Hasher, digest, digest_of, hex, program, stamp_of_tool};

const FIRST: &str = "reconverge-model 1";

/// Name of the file.
pub(crate) const NAME: &str = "manifest";

/// The folders of the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roots {
    /// Folder of the RTL, absolute.
    pub rtl: PathBuf,
    /// Folder of the shim, absolute.
    pub shim: PathBuf,
}

/// The place of a source in a manifest, which does not depend on the folders of RTL and shim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SourcePath {
    /// Relative to the RTL folder, possibly outside of it.
    Rtl(PathBuf),
    /// Relative to the folder of the shim.
    Shim(PathBuf),
    /// Anywhere else.
    Absolute(PathBuf),
}

impl SourcePath {
    /// Returns the place of `path`, which is absolute or relative to the RTL folder.
    pub fn of(path: &Path, roots: &Roots) -> Self {
        if path.is_relative() {
            return SourcePath::Rtl(path.to_owned());
        }
        let below = |root: &Path| path.strip_prefix(root).ok().map(Path::to_owned);
        match (below(&roots.rtl), below(&roots.shim)) {
            (Some(path), _) => SourcePath::Rtl(path),
            (None, Some(path)) => SourcePath::Shim(path),
            (None, None) => SourcePath::Absolute(path.to_owned()),
        }
    }

    pub fn path(&self, roots: &Roots) -> PathBuf {
        match self {
            SourcePath::Rtl(path) => roots.rtl.join(path),
            SourcePath::Shim(path) => roots.shim.join(path),
            SourcePath::Absolute(path) => path.clone(),
        }
    }

    /// Returns the path as the manifest stores it.
    pub fn kept(&self) -> &Path {
        match self {
            SourcePath::Rtl(path) | SourcePath::Shim(path) | SourcePath::Absolute(path) => path,
        }
    }

    /// Returns a name that does not depend on the folder of the sources.
    fn name(&self) -> PathBuf {
        match self {
            SourcePath::Rtl(path) => Path::new("rtl").join(path),
            SourcePath::Shim(path) => Path::new("shim").join(path),
            SourcePath::Absolute(path) => PathBuf::from(path.file_name().unwrap_or_default()),
        }
    }

    fn to_text(&self) -> String {
        let kind = match self {
            SourcePath::Rtl(_) => "rtl",
            SourcePath::Shim(_) => "shim",
            SourcePath::Absolute(_) => "absolute",
        };
        format!("{kind}:{}", self.kept().display())
    }

    fn parse(text: &str) -> Option<Self> {
        let (kind, path) = text.split_once(':')?;
        let path = PathBuf::from(path);
        match kind {
            "rtl" => Some(SourcePath::Rtl(path)),
            "shim" => Some(SourcePath::Shim(path)),
            "absolute" => Some(SourcePath::Absolute(path)),
            _ => None,
        }
    }
}

/// An output file of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub name: String,
    pub size: u64,
    pub digest: String,
}

impl Output {
    pub fn of(dir: &Path, name: &str) -> Result<Self, Error> {
        let path = dir.join(name);
        let bytes = fs::read(&path).map_err(io(&path))?;
        Ok(Output {
            name: name.to_owned(),
            size: bytes.len() as u64,
            digest: hex(&digest(&bytes)),
        })
    }

    pub fn is_whole(&self, dir: &Path) -> bool {
        let path = dir.join(&self.name);
        let size = fs::symlink_metadata(&path).map(|m| m.is_file().then_some(m.len()));
        matches!(size, Ok(Some(size)) if size == self.size)
            && digest_of(&path).is_ok_and(|digest| hex(&digest) == self.digest)
    }
}

/// A file of a tool that was used: its name, which may be a program to search in `PATH`, its path, size and modification
/// time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tool {
    name: PathBuf,
    path: PathBuf,
    size: u64,
    time: u128,
}

impl Tool {
    /// Returns the tool with the name `name`.
    pub fn of(name: &Path) -> Option<Self> {
        let path = program(name)?.canonicalize().ok()?;
        let (size, time) = stamp_of_tool(&path)?;
        Some(Tool {
            name: name.to_owned(),
            path,
            size,
            time,
        })
    }

    fn is_same(&self) -> bool {
        Tool::of(&self.name).as_ref() == Some(self)
    }
}

/// What an entry was made from and what it contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub outputs: Vec<Output>,
    /// Sources in order, with their SHA-256; `None` for a file that was searched for and not found.
    pub sources: Vec<(SourcePath, Option<String>)>,
    pub tools: Vec<Tool>,
}

impl Manifest {
    pub fn to_text(&self) -> String {
        let mut text = format!("{FIRST}\n");
        for Output { name, size, digest } in &self.outputs {
            text += &format!("output\t{size}\t{digest}\t{name}\n");
        }
        for (place, digest) in &self.sources {
            let digest = digest.as_deref().unwrap_or("-");
            text += &format!("source\t{digest}\t{}\n", place.to_text());
        }
        for tool in &self.tools {
            let (name, path) = (tool.name.display(), tool.path.display());
            text += &format!("tool\t{}\t{}\t{name}\t{path}\n", tool.size, tool.time);
        }
        let sum = hex(&digest(text.as_bytes()));
        text + &format!("sum\t{sum}\n")
    }

    /// Parses a manifest; `None` if it was changed after it was written.
    pub fn parse(text: &str) -> Option<Self> {
        let (body, sum) = text.strip_suffix('\n')?.rsplit_once("\nsum\t")?;
        let body = format!("{body}\n");
        if hex(&digest(body.as_bytes())) != sum {
            return None;
        }
        let mut manifest = Manifest::default();
        let mut lines = body.lines();
        if lines.next() != Some(FIRST) {
            return None;
        }
        for line in lines {
            let words: Vec<&str> = line.split('\t').collect();
            match *words.as_slice() {
                ["output", size, digest, name] => manifest.outputs.push(Output {
                    name: name.to_owned(),
                    size: size.parse().ok()?,
                    digest: digest.to_owned(),
                }),
                ["source", digest, place] => manifest.sources.push((
                    SourcePath::parse(place)?,
                    (digest != "-").then(|| digest.to_owned()),
                )),
                ["tool", size, time, name, path] => manifest.tools.push(Tool {
                    name: PathBuf::from(name),
                    path: PathBuf::from(path),
                    size: size.parse().ok()?,
                    time: time.parse().ok()?,
                }),
                _ => return None,
            }
        }
        Some(manifest)
    }

    /// Returns whether sources and tools are unchanged; `digest_of` gives the digest of a file.
    pub fn is_up_to_date(
        &self,
        roots: &Roots,
        mut digest_of: impl FnMut(&Path) -> Option<Digest>,
    ) -> bool {
        let sources = self.sources.iter().all(|(place, digest)| {
            let now = digest_of(&place.path(roots)).map(|d| hex(&d));
            now == *digest
        });
        sources && self.tools.iter().all(Tool::is_same)
    }

    /// Returns a hash of sources and tools.
    pub fn key(&self) -> String {
        let mut hash = Hasher::default();
        let made_from = Manifest {
            outputs: Vec::new(),
            ..self.clone()
        };
        hash.part(made_from.to_text());
        hash.name()
    }

    /// Returns a hash of the sources alone. It is the same for the same sources in any folder, with any compiler.
    pub fn contents(&self) -> String {
        let mut sources: Vec<(PathBuf, &str)> = self
            .sources
            .iter()
            .filter_map(|(place, digest)| Some((place.name(), digest.as_deref()?)))
            .collect();
        sources.sort();
        let mut hash = Hasher::default();
        for (name, digest) in sources {
            hash.part(name.as_os_str().as_encoded_bytes());
            hash.part(digest);
        }
        hash.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            outputs: vec![Output {
                name: "libx.so".to_owned(),
                size: 7,
                digest: hex(&digest(b"content")),
            }],
            sources: vec![
                (
                    SourcePath::Rtl(PathBuf::from("a b.sv")),
                    Some("11".to_owned()),
                ),
                (SourcePath::Rtl(PathBuf::from("../shared/x.inc")), None),
                (
                    SourcePath::Shim(PathBuf::from("shim.cpp")),
                    Some("22".to_owned()),
                ),
                (
                    SourcePath::Absolute(PathBuf::from("/a/b.svh")),
                    Some("33".to_owned()),
                ),
            ],
            tools: vec![Tool {
                name: PathBuf::from("c++"),
                path: PathBuf::from("/usr/bin/g++"),
                size: 1,
                time: 2,
            }],
        }
    }

    #[test]
    fn a_manifest_reads_back_as_it_was() {
        let text = manifest().to_text();
        assert_eq!(Manifest::parse(&text), Some(manifest()));
    }

    /// A manifest that is truncated anywhere, or has any byte changed, is refused.
    #[test]
    fn a_manifest_that_is_not_as_it_was_written_is_none() {
        let text = manifest().to_text();
        for end in 0..text.len() {
            assert_eq!(Manifest::parse(&text[..end]), None, "{end} bytes");
        }
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(Manifest::parse(&changed), None, "byte {at}");
        }
    }

    #[test]
    fn contents_are_equal_wherever_the_sources_lie_and_differ_when_one_does() {
        let same = manifest().contents();
        let mut other = manifest();
        other.tools.clear();
        other.outputs.clear();
        // Files that do not exist do not count as contents.
        other.sources.remove(1);
        other.sources[2].0 = SourcePath::Absolute(PathBuf::from("/elsewhere/b.svh"));
        assert_eq!(other.contents(), same);
        for n in 0..3 {
            let mut changed = other.clone();
            changed.sources[n].1 = Some("44".to_owned());
            assert_ne!(changed.contents(), same, "{n}");
        }
        let mut renamed = other.clone();
        renamed.sources[0].0 = SourcePath::Rtl(PathBuf::from("c.sv"));
        assert_ne!(renamed.contents(), same);
    }

    #[test]
    fn places_are_relative_to_what_they_lie_in() {
        let roots = Roots {
            rtl: PathBuf::from("/p/rtl/u"),
            shim: PathBuf::from("/p/shim"),
        };
        for (path, place) in [
            ("/p/rtl/u/a.sv", SourcePath::Rtl(PathBuf::from("a.sv"))),
            (
                "/p/rtl/u/../x.svh",
                SourcePath::Rtl(PathBuf::from("../x.svh")),
            ),
            ("/p/shim/shim.h", SourcePath::Shim(PathBuf::from("shim.h"))),
            ("/q/x.svh", SourcePath::Absolute(PathBuf::from("/q/x.svh"))),
        ] {
            assert_eq!(SourcePath::of(Path::new(path), &roots), place);
            assert_eq!(place.path(&roots), Path::new(path));
            assert_eq!(SourcePath::parse(&place.to_text()), Some(place));
        }
    }
}
