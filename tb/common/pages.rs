//! The pages of the repository.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use reconverge::ROOT;

/// Every page in Markdown, in order: the README, those beside it, in `docs` and beside sources.
pub fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(ROOT)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            // Build outputs and users' files are not pages.
            let ours = !name.starts_with('.') && name != "target";
            let link = path.is_symlink();
            if path.is_dir() && ours && !link && (folder != Path::new(ROOT) || OURS.contains(&name))
            {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The folders with pages.
const OURS: [&str; 6] = ["crates", "docs", "examples", "rtl", "tb", "waves"];

/// Every text file of `path`, a file or a folder, with its text.
pub fn texts(path: &Path) -> Vec<(PathBuf, String)> {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|entry| !entry.ends_with("target"))
            .collect();
        entries.sort();
        return entries.iter().flat_map(|path| texts(path)).collect();
    }
    match fs::read_to_string(path) {
        Ok(text) => vec![(path.to_owned(), text)],
        // Pictures and compiled programs; what another test wrote and has renamed since.
        Err(e) if matches!(e.kind(), ErrorKind::InvalidData | ErrorKind::NotFound) => Vec::new(),
        Err(e) => panic!("{}: {e}", path.display()),
    }
}

/// What stands between single backquotes in a page, outside of blocks of code, with the number of its line.
pub fn quoted(page: &str) -> Vec<(usize, &str)> {
    let mut inside = false;
    let lines = page.lines().enumerate().filter(|(_, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    lines
        .flat_map(|(n, line)| {
            let parts = line.split('`').skip(1).step_by(2);
            parts.map(move |part| (n + 1, part))
        })
        .collect()
}
