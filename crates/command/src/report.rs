//! Results of `cover` and `mutate` on a page.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use reconverge::cover::{SavedCoverage, Share, UnitCoverage};
use reconverge::html::text;
use reconverge::input::InputError;
use reconverge::mutate::VERDICTS;
use serde_json::Value;

use crate::page::{Further, shares, table};
use crate::streams;

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
pub fn json(out: &mut Further, path: &Path) -> Result<bool, InputError> {
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
pub fn json_files(dir: &Path) -> Result<Vec<PathBuf>, InputError> {
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
