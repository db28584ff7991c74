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
    let [users, groups] =
        ["/etc/passwd", "/etc/group"].map(|file| fs::read_to_string(file).unwrap_or_default());
    let own = own_group(&users, &groups, user);
    let mut trusted = Trusted {
        users: [0, user].into(),
        groups: [0].into_iter().chain(own).collect(),
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

/// Returns the group of `user` alone, as systems make it whose umask is 002: it has the number and the name of the user. In the
/// texts of `/etc/passwd` and `/etc/group` no other user is in it.
fn own_group(users: &str, groups: &str, user: u32) -> Option<u32> {
    let number = user.to_string();
    let name = rows(users).find_map(|[name, of, _]| (of == number).then_some(name));
    let of_another = |member: &str| !member.is_empty() && Some(member) != name;
    let is_own = rows(groups).all(|[group, of, members]| {
        of != number || Some(group) == name && !members.split(',').any(of_another)
    });
    // A group does not list those whose first group it is.
    let is_first_of_another = rows(users).any(|[_, of, first]| first == number && of != number);
    (is_own && !is_first_of_another).then_some(user)
}

/// Returns from each line of a file like `/etc/passwd` and `/etc/group` the name, the number, and the first group or the members.
fn rows(text: &str) -> impl Iterator<Item = [&str; 3]> {
    text.lines().filter_map(|line| {
        let mut fields = line.split(':');
        Some([fields.next()?, fields.nth(1)?, fields.next()?])
    })
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

    /// Checks that only those who are trusted can change `path`, without the folders above it. `closed`: only the owner of one of
    /// these, who is trusted, can reach it. Returns whether that is so for what is in it.
    fn check(&self, path: &Path, closed: bool) -> Result<bool, String> {
        let shown = path.display();
        let found = fs::symlink_metadata(path).map_err(|e| format!("{shown}: {e}"))?;
        let (mode, group) = (found.mode() & 0o7777, found.gid());
        // The mode of a link says nothing: who can write the folder that it is in can replace it.
        let free = closed || found.is_symlink() || is_sticky(&found);
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
        Ok(closed || found.is_dir() && mode & 0o011 == 0)
    }
}

/// Checks that only root, this user, and those who can change this program anyway can change or replace the file or folder
/// `path`: the owner and the mode of it, of each folder above it, and of the file to which links lead.
///
/// # Errors
/// It does not exist; another user or a group can change it. Says which part of the path that is.
pub fn only_ours(path: &Path) -> Result<(), String> {
    only_of(&TRUSTED, Path::new("/"), path)
}

/// Checks `path` and the folders above it that are in `top`.
fn only_of(trusted: &Trusted, top: &Path, path: &Path) -> Result<(), String> {
    let shown = |e: std::io::Error| format!("{}: {e}", path.display());
    let named = std::path::absolute(path).map_err(shown)?;
    let real = named.canonicalize().map_err(shown)?;
    for path in [named, real] {
        let mut parts: Vec<&Path> = path.ancestors().collect();
        parts.retain(|part| part.starts_with(top));
        let mut closed = false;
        for part in parts.into_iter().rev() {
            closed = trusted.check(part, closed)?;
        }
    }
    Ok(())
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
        Err(format!("is not a {}", if dir { "folder" } else { "file" }))
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

    use tempfile::TempDir;

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

    /// Checks `path`, but not the folders above `dir`, which may belong to any user.
    fn check(dir: &TempDir, path: &Path) -> Result<(), String> {
        only_of(&few(), dir.path(), path)
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Returns a folder with `sub/file`, which only this user can change.
    fn folder() -> (TempDir, PathBuf) {
        // Not a link: it is compared with real paths.
        let temporary = std::env::temp_dir().canonicalize().unwrap();
        let dir = tempfile::tempdir_in(temporary).unwrap();
        let file = dir.path().join("sub/file");
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(&file, "").unwrap();
        set(dir.path(), 0o755);
        set(&dir.path().join("sub"), 0o755);
        set(&file, 0o644);
        (dir, file)
    }

    #[test]
    fn a_file_is_ours_until_others_can_write_to_it_or_to_a_folder_above() {
        let (dir, file) = folder();
        check(&dir, &file).unwrap();
        for path in [&file, &dir.path().join("sub"), dir.path()] {
            let mode = fs::metadata(path).unwrap().permissions().mode() & 0o7777;
            set(path, 0o777);
            let why = check(&dir, &file).unwrap_err();
            let shown = path.display();
            assert_eq!(why, format!("others can write to {shown} (mode 777)"));
            set(path, mode);
        }
        check(&dir, &file).unwrap();
        // As /tmp is: others can add files, and not replace these.
        set(&dir.path().join("sub"), 0o1777);
        check(&dir, &file).unwrap();
        let why = check(&dir, &dir.path().join("none")).unwrap_err();
        assert!(why.ends_with("none: No such file or directory (os error 2)"));
    }

    /// A clone below a home folder is writable by the group where the umask is 002.
    #[test]
    fn a_group_may_write_if_it_is_the_group_of_one_user() {
        let (dir, file) = folder();
        let group = fs::metadata(&file).unwrap().gid();
        set(&file, 0o664);
        let why = check(&dir, &file).unwrap_err();
        let shown = file.display();
        assert_eq!(
            why,
            format!("group {group} can write to {shown} (mode 664)")
        );
        let mut trusted = few();
        trusted.groups.insert(group);
        let check = || only_of(&trusted, dir.path(), &file);
        check().unwrap();
        // Of a folder too, and not if everyone can write.
        set(dir.path(), 0o775);
        check().unwrap();
        set(dir.path(), 0o777);
        assert!(check().is_err());
    }

    #[test]
    fn the_group_of_one_user_has_its_number_and_its_name_and_no_other_user() {
        let users = "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/:/bin/sh\nteam:x:1001:1001:::\n\
            games:x:60:60:::\nmail:x:8:8:::\nbob:x:1002:8:::\n";
        let groups = "root:x:0:\nalice:x:1000:alice\nteam:x:1001:bob,carol\nsudo:x:27:alice\nplay:x:60:\n\
            mail:x:8:\nguests:x:1003:\n";
        for (user, own) in [
            (1000, true),
            // Others are listed, it has another name, it is the first group of another, it is that of no user.
            (1001, false),
            (60, false),
            (8, false),
            (1003, false),
            // In a container, whose files list neither.
            (1004, true),
        ] {
            assert_eq!(own_group(users, groups, user), own.then_some(user));
        }
        assert_eq!(own_group("", "", 1000), Some(1000));
    }

    /// Regression: a home folder of mode 700 did not help where all users have one group.
    #[test]
    fn others_may_write_to_what_they_cannot_reach() {
        let (dir, file) = folder();
        let sub = dir.path().join("sub");
        set(&file, 0o666);
        for (mode, closed) in [
            (0o755, false),
            (0o711, false),
            (0o710, false),
            (0o744, true),
            (0o700, true),
        ] {
            set(&sub, mode);
            assert_eq!(check(&dir, &file).is_ok(), closed, "{mode:o}");
        }
        // But not if they can replace it, or it is somewhere else.
        set(dir.path(), 0o777);
        assert!(check(&dir, &file).is_err());
        set(dir.path(), 0o755);
        // Both folders are in the one that is the top here.
        let (other, open) = folder();
        set(&open, 0o666);
        symlink(&open, sub.join("link")).unwrap();
        let real = [&file, &sub.join("link")].map(|path| {
            let real = path.canonicalize().unwrap();
            let top = [&dir, &other].map(TempDir::path);
            let top = top.into_iter().find(|top| real.starts_with(top)).unwrap();
            only_of(&few(), top, path).is_ok()
        });
        assert_eq!(real, [true, false]);
    }

    #[test]
    fn the_file_of_another_user_is_not_ours_even_through_a_link_or_below_a_folder_of_ours() {
        let (dir, file) = folder();
        let link = dir.path().join("link");
        symlink(&file, &link).unwrap();
        check(&dir, &link).unwrap();
        // Root's files are as good as ours.
        assert!(few().users.contains(&0));
        // Only root can give files away, and not in every container.
        let other = 65534 - u32::from(user() == 65534);
        if chown(&file, Some(other), None).is_err() {
            return;
        }
        for path in [&file, &link] {
            let why = check(&dir, path).unwrap_err();
            let shown = file.display();
            assert_eq!(why, format!("{shown} belongs to user {other}"));
        }
        chown(&file, Some(user()), None).unwrap();
        chown(dir.path().join("sub"), Some(other), None).unwrap();
        let why = check(&dir, &link).unwrap_err();
        assert!(why.ends_with(&format!("belongs to user {other}")));
    }

    /// A container in which root builds the folder of a user.
    #[test]
    fn who_can_change_the_program_is_trusted() {
        let (_dir, file) = folder();
        set(&file, 0o666);
        let mut trusted = Trusted::default();
        let user = user();
        let why = trusted.check(&file, false).unwrap_err();
        assert!(why.ends_with(&format!("belongs to user {user}")), "{why}");
        trusted.add(&fs::metadata(&file).unwrap());
        assert!(trusted.everyone);
        trusted.check(&file, false).unwrap();
    }
}
