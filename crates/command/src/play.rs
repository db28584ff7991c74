//! Streams of pins of a unit, as `exhaust` saves them: `replay`, and the report of a stream that fails.

use std::fmt::Write as _;
use std::path::Path;

use reconverge::check::TestCase as _;
use reconverge::compiled::Compiled;
use reconverge::design::{Control as _, Golden as _};
use reconverge::failure::{Cause, Failure};
use reconverge::input::InputError;
use reconverge::report::{Waves, dump_file, dump_from};
use reconverge::stream::{SavedStream, Stream};
use reconverge::unit::Pins as _;
use reconverge::wave::shell;

use crate::console::{
    Agreed, Done, Failure as Trouble, colour, complain, print, print_styled, program, width,
};
use crate::found::{Saved, save};
use crate::rtl::{absolute, rtl};
use crate::run::ReplayArgs;
use crate::streams::writable;
use crate::workers::Isolated;
use crate::{outcome, streams};

/// Returns the command that runs the stream in `path` again, on the RTL in `dir` or on ours.
fn replay_command(path: &Path, dir: Option<&Path>) -> String {
    let shown = |path: &Path| shell(&path.to_string_lossy());
    let rtl = dir.map_or_else(String::new, |dir| format!("--rtl {} ", shown(dir)));
    format!("{} replay {rtl}{}", shell(&program()), shown(path))
}

/// Saves a stream that fails and prints its report: the difference, the rule, the last cycles, the replay command, waves. `dir`
/// is the folder of its RTL, if that is not ours. Returns the saved file.
///
/// # Errors
/// It did not run, or the report cannot be printed.
pub fn report<U: Compiled>(
    failure: &Failure<Stream<U>>,
    rtl: &mut Isolated<U>,
    dir: Option<&Path>,
    out: &Path,
) -> Result<Saved, Trouble> {
    if let Cause::NotRun(why) = &failure.cause {
        return Err(Trouble::Other(why.clone()));
    }
    crate::console::failed();
    let saved = save(failure, out);
    let width = width();
    let text = match colour() {
        true => format!("{failure:#width$}"),
        false => format!("{failure:width$}"),
    };
    print_styled(&text)?;
    if let Some(path) = &saved {
        print(&format!("replay  {}\n", replay_command(path, dir)))?;
    }
    if !failure.lost() {
        match waves(&failure.case, Some(failure), rtl, out) {
            Ok(waves) => print(&waves.to_string())?,
            Err(why) => complain(&format!("warning: no waves: {why}")),
        }
    }
    Ok(saved)
}

/// Runs `stream` again with a dump in `out`.
fn waves<U: Compiled>(
    stream: &Stream<U>,
    failure: Option<&Failure<Stream<U>>>,
    rtl: &mut Isolated<U>,
    out: &Path,
) -> Result<Waves, String> {
    std::fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
    let dump = dump_file(stream, out);
    let name = dump.file_name().unwrap_or_default().to_string_lossy();
    // The dump gets its name when it is complete.
    let part = out.join(format!(".writing-{}-{name}", std::process::id()));
    let played = rtl.play(stream, Some((dump_from(failure), &part)));
    let made = played.map_err(crate::stop::Trouble::why).and_then(|again| {
        std::fs::rename(&part, &dump).map_err(|e| format!("{}: {e}", dump.display()))?;
        Waves::of(stream, failure, &again, dump, rtl.format())
    });
    if made.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    made
}

/// Returns the cycles of a stream after its reset as words: instructions, launches, other events.
pub fn said<U: Compiled>(stream: &Stream<U>) -> String {
    let mut golden = U::Golden::build(&stream.build());
    let mut text = String::new();
    for (cycle, pins) in stream.cycles.0.iter().enumerate() {
        let state = *golden.state();
        let running = U::running(&state);
        let taken = running && !pins.is_reset() && !pins.is_stalled() && !U::mid_step(&state);
        golden.cycle(pins);
        let executed = taken && *golden.state() != state;
        let what = match (executed, U::mid_step(&state)) {
            (true, _) => {
                let words = U::instruction(pins);
                let operation = U::anatomy(&words).ok().and_then(|a| a.operation);
                let shown: Vec<_> = words.iter().map(|word| format!("{word:08x}")).collect();
                // Its operands depend on its place: `explain` shows them.
                format!("{:<8}  {}", operation.unwrap_or_default(), shown.join(" "))
            }
            (false, true) if !pins.is_reset() && !pins.is_stalled() => "unwind".to_owned(),
            _ => pins.describe(running),
        };
        let _ = writeln!(text, "  {cycle:>4}  pc 0x{:03x}  {what}", U::pc(&state));
    }
    text
}

/// Runs `replay` of a stream.
pub fn replay<U: Compiled>(text: &str, file: &str, args: &ReplayArgs) -> Done {
    args.show.none(file)?;
    if let Some(path) = &args.json {
        writable("--json", path)?;
    }
    if args.shrink {
        let why = "a stream of pins is not shrunk: its path is a shortest one";
        return Err(InputError::new(file, 0, "--shrink", why).into());
    }
    let saved = SavedStream::<U>::parse(text, file)?;
    let stream = &saved.stream;
    let dir = args.place.rtl.as_deref().map(absolute);
    let rtl = rtl::<U>(&args.place, stream.build())?;
    let mut rtl = Isolated::new(&rtl, args.limits)?.dumping(args.place.format());
    let out = &args.place.out;
    let played = rtl.play(stream, None)?;
    let there = match &played {
        Ok(agreed) => {
            let name = stream.name();
            let fields = U::fields().len();
            let mut text = format!(
                "{name}\nlock-step    agrees: {} cycles, {fields} fields each, {} lanes\n",
                agreed.compared.cycles, stream.lanes
            );
            if let Some(place) = &saved.failure {
                let _ = writeln!(text, "it failed {place} when it was saved");
            }
            print(&text)?;
            None
        }
        Err(failure) => {
            let now = failure.place();
            if let Some(place) = saved.failure.as_ref().filter(|place| **place != now) {
                complain(&format!("note: saved as failing {place}; fails now {now}"));
            }
            report(failure, &mut rtl, dir.as_deref(), out)?
        }
    };
    if let Some(path) = &args.json {
        streams::write_whole(path, &outcome::of_stream(stream, &played, there.as_deref()))?;
    }
    Ok(match played {
        Ok(_) => Agreed::Yes,
        Err(_) => Agreed::No,
    })
}
