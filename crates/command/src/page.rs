//! The page of campaigns.

use std::fmt::Write as _;

use indicatif::HumanCount;
use reconverge::cover::{Bins as _, Overview, Share};
use reconverge::html::text;
use reconverge::quantity::counted;
use reconverge::show::page::{self, Failed, Heading};

use crate::shows::Shows;
use crate::whole::Whole;

/// A campaign on the page.
#[derive(Clone)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// The build of the unit.
    pub build: String,
    /// What its cases are: programs or streams ([`NOUN`](reconverge::campaign::Drawn::NOUN)).
    pub noun: &'static str,
    /// They execute instructions, which only programs do ([`EXECUTES`](reconverge::campaign::Drawn::EXECUTES)).
    pub executes: bool,
    /// Cases, cycles, instructions, programs judged, failures.
    pub numbers: [u64; 5],
    /// The campaign has ended.
    pub complete: bool,
    /// The situations that occurred.
    pub met: Overview,
    /// What it hardly tested, and the heading of that; empty for a failed campaign.
    pub gaps: (&'static str, Vec<String>),
    /// One failure of each group.
    pub failures: Vec<Failed>,
}

impl Part {
    /// Returns the part of a campaign on a page; `failures` are shown.
    pub fn new<C: Shows>(whole: &Whole<C>, complete: bool, failures: Vec<Failed>) -> Self {
        let &Whole { summary, build, .. } = whole;
        let model = C::Bins::new(build);
        Part {
            name: whole.name(),
            build: build.to_string(),
            noun: C::NOUN,
            executes: C::EXECUTES,
            numbers: whole.numbers(),
            complete,
            met: model.overview(&summary.bins),
            gaps: match summary.failures.is_empty() {
                true => (C::GAP, summary.gaps(&model)),
                false => (C::GAP, Vec::new()),
            },
            failures,
        }
    }
}

/// Other results than those of campaigns.
#[derive(Default)]
pub struct Further {
    /// What the page shows of them, as HTML.
    pub html: String,
    /// Some of them failed.
    pub failed: bool,
}

/// Returns the heading of a page of `parts` and `further`.
pub fn heading(parts: &[&Part], further: &Further) -> Heading {
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
        [first, ..] => format!("{first} and {}", counted(names.len() - 1, "more campaign")),
    };
    let (mut above, mut below) = (String::new(), String::new());
    if !parts.is_empty() {
        above += "<h2>Campaigns</h2>\n";
        let cases = match parts.iter().all(|part| part.noun == parts[0].noun) {
            true => format!("{}s", parts[0].noun),
            false => "cases".to_owned(),
        };
        // Of streams alone there are no instructions and no scalar judge.
        let executes = parts.iter().any(|part| part.executes);
        let rows = parts.iter().map(|part| {
            let name = match part.complete {
                true => part.name.clone(),
                false => format!("{} (not complete)", part.name),
            };
            let words = vec![name, part.build.clone()];
            let [cases, cycles, .., failed] = part.numbers;
            match executes {
                true => (words, part.numbers.to_vec()),
                false => (words, vec![cases, cycles, failed]),
            }
        });
        let more: &[&str] = if executes {
            &["instructions", "scalar"]
        } else {
            &[]
        };
        let heads = [&["campaign", "build", &cases, "cycles"], more, &["failed"]].concat();
        table(&mut above, "campaigns", &heads, rows);
    }
    for part in parts {
        let _ = writeln!(below, "<h2>Coverage of {}</h2>", text(&part.name));
        let all = ("bins", part.met.all);
        let groups = std::iter::once(all).chain(part.met.groups.iter().copied());
        shares(&mut below, groups);
        let (gap, gaps) = &part.gaps;
        if !gaps.is_empty() {
            let _ = writeln!(
                below,
                "<details><summary>{}{}: {}</summary><pre>{}</pre></details>",
                gap[..1].to_uppercase(),
                &gap[1..],
                gaps.len(),
                text(&gaps.join("\n"))
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
pub fn table(
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
pub fn shares<N: AsRef<str>>(out: &mut String, groups: impl Iterator<Item = (N, Share)>) {
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
