//! The page of a campaign, and `report`: the contents of result folders as one page.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::HumanCount;
use reconverge::campaign::results;
use reconverge::cover::{Bins as _, Overview, SavedCoverage, Share, UnitCoverage};
use reconverge::html::text;
use reconverge::input::InputError;
use reconverge::mutate::VERDICTS;
use reconverge::show::page::{self, Failed, Heading};
use serde_json::Value;

use crate::commands::Commands;
use crate::console::{Agreed, Done, Failure};
use crate::fuzz::{self, Whole};
use crate::merge;
use crate::shows::Shows;
use crate::streams::{self, writable, write_whole};

#[derive(Args)]
pub struct ReportArgs {
    /// Folders with results of campaigns, and the JSON files of `cover` and `mutate`; or such files
    #[arg(required = true, value_name = "DIR")]
    from: Vec<PathBuf>,
    /// The page
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Folder for the failed cases
    #[arg(long, value_name = "DIR", default_value = "waves")]
    pub out: PathBuf,
}

/// A campaign on the page.
#[derive(Clone)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// The build of the unit.
    pub build: String,
    /// Programs, cycles, instructions, programs judged, failures.
    pub numbers: [u64; 5],
    /// The campaign has ended.
    pub complete: bool,
    /// The situations that occurred.
    pub met: Overview,
    /// The situations that should have occurred but did not; empty for a failed campaign.
    pub missing: Vec<String>,
    /// One failure of each group.
    pub failures: Vec<Failed>,
}

impl Part {
    /// Returns the part of a campaign on a page; `failures` are shown.
    pub fn new<C: Shows>(whole: &Whole<C>, complete: bool, failures: Vec<Failed>) -> Self {
        let &Whole {
            summary,
            options,
            shard,
            build,
            ..
        } = whole;
        let model = C::Bins::new(build);
        Part {
            name: fuzz::name::<C>(options, shard),
            build: build.to_string(),
            numbers: [
                summary.programs,
                summary.compared.cycles,
                summary.compared.steps,
                summary.judged.programs,
                summary.failures.len() as u64,
            ],
            complete,
            met: model.overview(&summary.bins),
            missing: match summary.failures.is_empty() {
                true => summary.never_met(&model),
                false => Vec::new(),
            },
            failures,
        }
    }
}

/// Other results than those of campaigns.
#[derive(Default)]
pub struct Further {
    /// What the page shows of them, as HTML.
    html: String,
    /// Some of them failed.
    failed: bool,
}

/// Returns the heading of a page of `parts` and `further`.
fn heading(parts: &[&Part], further: &Further) -> Heading {
    match () {
        () if further.failed || parts.iter().any(|part| part.numbers[4] > 0) => Heading::Fails,
        () if parts.is_empty() => Heading::Nothing,
        () if parts.iter().all(|part| part.complete) => Heading::Agrees,
        () => Heading::NotComplete,
    }
}

/// Returns the page of campaigns: failed ones come first, `further` last.
pub fn page(parts: &[&Part], further: &Further) -> String {
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let title = match names[..] {
        [] => "Report".to_owned(),
        [name] => name.to_owned(),
        [first, ..] => format!("{first} and {} more campaigns", names.len() - 1),
    };
    let (mut above, mut below) = (String::new(), String::new());
    if !parts.is_empty() {
        above += "<h2>Campaigns</h2>\n";
        let rows = parts.iter().map(|part| {
            let name = match part.complete {
                true => part.name.clone(),
                false => format!("{} (not complete)", part.name),
            };
            (vec![name, part.build.clone()], part.numbers.to_vec())
        });
        let heads = [
            "campaign",
            "build",
            "programs",
            "cycles",
            "instructions",
            "scalar",
            "failed",
        ];
        table(&mut above, "campaigns", &heads, rows);
    }
    for part in parts {
        let _ = writeln!(below, "<h2>Coverage of {}</h2>", text(&part.name));
        let all = ("bins", part.met.all);
        let groups = std::iter::once(all).chain(part.met.groups.iter().copied());
        shares(&mut below, groups);
        if !part.missing.is_empty() {
            let missing = part.missing.join("\n");
            let _ = writeln!(
                below,
                "<details><summary>Never met: {}</summary><pre>{}</pre></details>",
                part.missing.len(),
                text(&missing)
            );
        }
    }
    below += &further.html;
    let failures: Vec<Failed> = (parts.iter().flat_map(|part| &part.failures))
        .cloned()
        .collect();
    let heading = heading(parts, further);
    page::campaign(&title, heading, &above, &failures, &below)
}

/// Adds a table whose rows are words followed by numbers.
fn table(
    out: &mut String,
    class: &str,
    heads: &[&str],
    rows: impl Iterator<Item = (Vec<String>, Vec<u64>)>,
) {
    let _ = write!(out, "<div class=\"tables\"><table class=\"{class}\">\n<tr>");
    for head in heads {
        let _ = write!(out, "<th>{}</th>", text(head));
    }
    *out += "</tr>\n";
    for (words, numbers) in rows {
        *out += "<tr>";
        // On a narrow screen each cell stands behind the head of its column.
        let mut heads = heads.iter().map(|head| text(head));
        for word in words {
            let head = heads.next().unwrap_or_default();
            let _ = write!(out, "<td data-head=\"{head}\">{}</td>", text(&word));
        }
        for number in numbers {
            let head = heads.next().unwrap_or_default();
            let number = HumanCount(number);
            let _ = write!(
                out,
                "<td data-head=\"{head}\" class=\"number\">{number}</td>"
            );
        }
        *out += "</tr>\n";
    }
    *out += "</table></div>\n";
}

/// Adds a table of bins by group.
fn shares<N: AsRef<str>>(out: &mut String, groups: impl Iterator<Item = (N, Share)>) {
    *out += "<div class=\"tables\"><table class=\"coverage\">\n<tr><th>group</th><th>hit</th><th>reachable</th><th></th></tr>\n";
    for (name, Share { hit, reachable }) in groups {
        let _ = writeln!(
            out,
            "<tr><td data-head=\"group\">{}</td><td data-head=\"hit\" class=\"number\">{}</td>\
             <td data-head=\"reachable\" class=\"number\">{}</td>\
             <td><meter min=\"0\" max=\"{}\" value=\"{hit}\"></meter></td></tr>",
            text(name.as_ref()),
            HumanCount(hit as u64),
            HumanCount(reachable as u64),
            reachable.max(1),
        );
    }
    *out += "</table></div>\n";
}

/// Adds the results that `cover --json` wrote of a unit.
fn coverage(out: &mut String, unit: &UnitCoverage) {
    let _ = writeln!(
        out,
        "<h2>Coverage of {}.cover, {}</h2>",
        text(&unit.unit),
        text(&unit.build().to_string())
    );
    for (what, wrong) in unit.wrong() {
        let _ = writeln!(out, "<p class=\"bad\">{what} {}</p>", text(&wrong));
    }
    let share = |hit, reachable| Share { hit, reachable };
    let all = ("bins".to_owned(), share(unit.hit(), unit.reachable()));
    let groups = unit.groups.iter();
    let groups = groups.map(|group| (group.name.clone(), share(group.hit(), group.reachable())));
    shares(out, std::iter::once(all).chain(groups));
}

/// Adds the results that `mutate --json` wrote of a family of mutants: verdicts by module, and each mutant that was not caught.
/// Returns whether one was missed.
fn mutants(out: &mut String, run: &Value) -> bool {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let counts = |value: &Value| {
        let count = |verdict: &&str| value[*verdict].as_u64().unwrap_or_default();
        VERDICTS.iter().map(count).collect::<Vec<u64>>()
    };
    let name = format!("{}.{}", word(&run["unit"]), word(&run["family"]));
    let _ = writeln!(out, "<h2>Mutants of {}</h2>", text(&name));
    let mut rows = vec![(vec!["all".to_owned()], counts(&run["verdicts"]))];
    if let Some(modules) = run["modules"].as_object() {
        rows.extend(modules.iter().map(|(m, c)| (vec![m.clone()], counts(c))));
    }
    let heads = [&["module"], &VERDICTS[..]].concat();
    table(out, "mutants", &heads, rows.into_iter());
    let mutants = run["mutants"].as_array().into_iter().flatten();
    let missed = mutants.clone().any(|m| m["verdict"] == "missed");
    let open = mutants.filter(|m| m["verdict"] == "missed" || m["verdict"] == "undecided");
    let open: Vec<String> = open
        .map(|m| {
            let [verdict, file, operator, before, after, why] =
                ["verdict", "file", "operator", "before", "after", "why"].map(|key| word(&m[key]));
            let (number, line) = (&m["number"], &m["line"]);
            format!("{verdict} {number}  {file}:{line}  {operator}: {before}  ->  {after}  ({why})")
        })
        .collect();
    if !open.is_empty() {
        let _ = writeln!(
            out,
            "<details open><summary>Not caught: {}</summary><pre>{}</pre></details>",
            open.len(),
            text(&open.join("\n"))
        );
    }
    missed || run["verdicts"]["missed"].as_u64().is_some_and(|n| n > 0)
}

/// Adds the contents of a JSON file of `cover` or `mutate`; returns whether it is one.
fn json(out: &mut Further, path: &Path) -> Result<bool, InputError> {
    let (content, name) = streams::read_text(path)?;
    let value: Value = match serde_json::from_str(&content) {
        Ok(value) => value,
        Err(e) => return Err(InputError::json(&name, "json", &content, &e)),
    };
    if value.get("reconverge_cover").is_some() {
        for unit in &SavedCoverage::parse(&content, &name)?.units {
            coverage(&mut out.html, unit);
            out.failed |= unit.wrong().next().is_some();
        }
        return Ok(true);
    }
    let runs = value.as_array().map_or(&[][..], Vec::as_slice);
    let of_mutants = |run: &Value| run["family"].is_string() && run["modules"].is_object();
    if runs.is_empty() || !runs.iter().all(of_mutants) {
        return Ok(false);
    }
    for run in runs {
        out.failed |= mutants(&mut out.html, run);
    }
    Ok(true)
}

/// Returns the JSON files in a folder, sorted by name.
fn json_files(dir: &Path) -> Result<Vec<PathBuf>, InputError> {
    let bad = |e: &std::io::Error| InputError::io(dir.to_string_lossy(), e);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| bad(&e))? {
        let path = entry.map_err(|e| bad(&e))?.path();
        if path.extension().is_some_and(|ending| ending == "json") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

pub fn command(units: &[&'static dyn Commands], args: &ReportArgs) -> Done {
    writable("--output", &args.output)?;
    let (mut campaigns, mut further) = (Vec::new(), Further::default());
    let mut given = BTreeSet::new();
    for path in &args.from {
        let bad = |why: &str| InputError::new(path.to_string_lossy(), 0, "results", why);
        if !given.insert(std::fs::canonicalize(path).unwrap_or_else(|_| path.clone())) {
            return Err(bad("is given twice").into());
        }
        let before = (campaigns.len(), further.html.len());
        if path.is_dir() {
            campaigns.extend(results::files(path)?);
            // Saved cases and other files may lie there too.
            for file in json_files(path)? {
                json(&mut further, &file)?;
            }
        } else if path.extension().is_some_and(|e| e == results::ENDING) {
            campaigns.push(path.clone());
        } else {
            json(&mut further, path)?;
        }
        if before == (campaigns.len(), further.html.len()) {
            let why = "nothing to report: no results of `fuzz --results`, `cover --json` or `mutate --json`";
            return Err(bad(why).into());
        }
    }
    let campaigns = merge::campaigns(units, campaigns)?;
    let parts: Result<Vec<Part>, Failure> = campaigns
        .iter()
        .map(|((unit, _), files)| units[*unit].report(files, args))
        .collect();
    let parts = parts?;
    let parts: Vec<&Part> = parts.iter().collect();
    write_whole(&args.output, &page(&parts, &further))?;
    match heading(&parts, &further) {
        Heading::Fails => Ok(Agreed::No),
        _ => Ok(Agreed::Yes),
    }
}
