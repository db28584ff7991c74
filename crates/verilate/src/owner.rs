//! Who can change what is run or loaded: the owner and the mode of a file, and of every folder above it.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Users and groups whose files are run.
#[derive(Debug, Default)]
struct Trusted {
    users: BTreeSet<u32>,
    groups: BTreeSet<u32>,
    /// Everyone can change this program.
    everyone: bool,
}

/// Root and this user with their own groups, and those who can change this program anyway: they own or can write the program,
/// the package for which cargo runs it, or a folder above one of both.
static TRUSTED: LazyLock<Trusted> = LazyLock::new(|| {
    let user = rustix::process::geteuid().as_raw();
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let mut trusted = Trusted {
        users: [0, user].into(),
        groups: [0].into_iter().chain(own_group(&groups, user)).collect(),
        everyone: false,
    };
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let program = std::env::current_exe().ok();
    for path in [program, package].into_iter().flatten() {
        let real = path.canonicalize().unwrap_or(path);
        let all = real.ancestors().filter_map(|part| fs::metadata(part).ok());
        all.for_each(|found| trusted.add(&found));
    }
    trusted
});

/// Returns the group of `user` alone, as systems make it whose umask is 002: it has the number of the user, and `groups`, the
/// text of `/etc/group`, lists no member.
fn own_group(groups: &str, user: u32) -> Option<u32> {
    let number = user.to_string();
    let mut others = groups.lines().filter(|line| {
        let mut fields = line.split(':').skip(2);
        fields.next() == Some(&number) && fields.next().is_some_and(|members| !members.is_empty())
    });
    others.next().is_none().then_some(user)
}

/// Returns whether only the owner of what is in a folder can replace it, whatever its mode says.
fn is_sticky(found: &Metadata) -> bool {
    found.is_dir() && found.mode() & 0o1000 != 0
}

impl Trusted {
    /// Trusts those who can change `found`.
    fn add(&mut self, found: &Metadata) {
        self.users.insert(found.uid());
        if found.mode() & 0o020 != 0 && !is_sticky(found) {
            self.groups.insert(found.gid());
        }
        self.everyone |= found.mode() & 0o002 != 0 && !is_sticky(found);
    }

    /// Checks that only those who are trusted can change `path`, without the folders above it.
    fn check(&self, path: &Path) -> Result<(), String> {
        let shown = path.display();
        let found = fs::symlink_metadata(path).map_err(|e| format!("{shown}: {e}"))?;
        let (mode, group) = (found.mode() & 0o7777, found.gid());
        // The mode of a link says nothing: who can write the folder that it is in can replace it.
        let free = found.is_symlink() || is_sticky(&found);
        if !self.users.contains(&found.uid()) {
            return Err(format!("{shown} belongs to user {}", found.uid()));
        }
        if mode & 0o002 != 0 && !free && !self.everyone {
            return Err(format!("others can write to {shown} (mode {mode:o})"));
        }
        if mode & 0o020 != 0 && !free && !self.everyone && !self.groups.contains(&group) {
            return Err(format!(
                "group {group} can write to {shown} (mode {mode:o})"
            ));
        }
        Ok(())
    }
}

/// Checks that only root, this user, and those who can change this program anyway can change or replace the file or folder
/// `path`: the owner and the mode of it, of each folder above it, and of the file to which links lead.
///
/// # Errors
/// It does not exist; another user or a group can change it. Says which part of the path that is.
pub fn only_ours(path: &Path) -> Result<(), String> {
    only_of(&TRUSTED, path)
}

fn only_of(trusted: &Trusted, path: &Path) -> Result<(), String> {
    let shown = |e: std::io::Error| format!("{}: {e}", path.display());
    let named = std::path::absolute(path).map_err(shown)?;
    let real = named.canonicalize().map_err(shown)?;
    let mut parts = named.ancestors().chain(real.ancestors());
    parts.try_for_each(|part| trusted.check(part))
}

/// Checks that `path` is a folder or a regular file that belongs to this user alone and that others cannot write to.
///
/// # Errors
/// It is not; says why.
pub(crate) fn ours(path: &Path, dir: bool) -> Result<(), String> {
    let m = fs::symlink_metadata(path).map_err(|e| e.to_string())?;
    let user = rustix::process::geteuid().as_raw();
    if m.is_symlink() {
        Err("is a symbolic link".to_owned())
    } else if m.is_dir() != dir || m.is_file() == dir {
        Err(format!("is no {}", if dir { "folder" } else { "file" }))
    } else if m.uid() != user {
        Err(format!("belongs to user {}, not to {user}", m.uid()))
    } else if m.mode() & 0o022 != 0 {
        Err(format!(
            "others can write to it (mode {:o})",
            m.mode() & 0o7777
        ))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn user() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    /// Root and this user, but not those who can change this program.
    fn few() -> Trusted {
        Trusted {
            users: [0, user()].into(),
            ..Trusted::default()
        }
    }

    fn check(path: &Path) -> Result<(), String> {
        only_of(&few(), path)
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Returns a folder with `sub/file`, which only this user can change.
    fn folder() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("sub/file");
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(&file, "").unwrap();
        set(&dir.path().join("sub"), 0o755);
        set(&file, 0o644);
        (dir, file)
    }

    #[test]
    fn a_file_is_ours_until_others_can_write_to_it_or_to_a_folder_above() {
        let (dir, file) = folder();
        check(&file).unwrap();
        for path in [&file, &dir.path().join("sub"), dir.path()] {
            let mode = fs::metadata(path).unwrap().permissions().mode() & 0o7777;
            set(path, 0o777);
            let why = check(&file).unwrap_err();
            let shown = path.display();
            assert_eq!(why, format!("others can write to {shown} (mode 777)"));
            set(path, mode);
        }
        check(&file).unwrap();
        // As /tmp is: others can add files, and not replace these.
        set(&dir.path().join("sub"), 0o1777);
        check(&file).unwrap();
        let why = check(&dir.path().join("none")).unwrap_err();
        assert!(why.ends_with("none: No such file or directory (os error 2)"));
    }

    /// A clone below a home folder is writable by the group where the umask is 002.
    #[test]
    fn a_group_may_write_if_it_is_the_group_of_one_user() {
        let (dir, file) = folder();
        let group = fs::metadata(&file).unwrap().gid();
        set(&file, 0o664);
        let why = check(&file).unwrap_err();
        let shown = file.display();
        assert_eq!(
            why,
            format!("group {group} can write to {shown} (mode 664)")
        );
        let mut trusted = few();
        trusted.groups.insert(group);
        only_of(&trusted, &file).unwrap();
        // Of a folder too, and not if everyone can write.
        set(dir.path(), 0o775);
        only_of(&trusted, &file).unwrap();
        set(dir.path(), 0o777);
        assert!(only_of(&trusted, &file).is_err());
        let groups = "root:x:0:\nalice:x:1000:\nteam:x:1001:bob,carol\nsudo:x:27:alice\n";
        assert_eq!(own_group(groups, 1000), Some(1000));
        assert_eq!(own_group(groups, 1001), None);
        assert_eq!(own_group("", 1000), Some(1000));
    }

    #[test]
    fn the_file_of_another_user_is_not_ours_even_through_a_link_or_below_a_folder_of_ours() {
        let (dir, file) = folder();
        let link = dir.path().join("link");
        symlink(&file, &link).unwrap();
        check(&link).unwrap();
        if rustix::process::geteuid().is_root() {
            chown(&file, Some(65534), None).unwrap();
            for path in [&file, &link] {
                let why = check(path).unwrap_err();
                assert_eq!(why, format!("{} belongs to user 65534", file.display()));
            }
            chown(&file, Some(0), None).unwrap();
            chown(dir.path().join("sub"), Some(65534), None).unwrap();
            assert!(check(&link).unwrap_err().ends_with("belongs to user 65534"));
        }
        // Root's files are as good as ours.
        check(Path::new("/usr/bin")).unwrap();
    }

    /// A container in which root builds the folder of a user.
    #[test]
    fn who_can_change_the_program_is_trusted() {
        let (_dir, file) = folder();
        set(&file, 0o666);
        let mut trusted = Trusted::default();
        let user = user();
        let why = trusted.check(&file).unwrap_err();
        assert!(why.ends_with(&format!("belongs to user {user}")), "{why}");
        trusted.add(&fs::metadata(&file).unwrap());
        assert!(trusted.everyone);
        trusted.check(&file).unwrap();
    }
}
