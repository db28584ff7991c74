//! Coverage as one self-contained HTML page, without network access or scripts, in light and dark style.

use std::fmt::Write as _;

use super::saved::{GroupCoverage, UnitCoverage};
use reconverge_bench::html::{number, text};
use reconverge_bench::quantity::counted;
use reconverge_bench::text::percent;

const STYLE: &str = "
:root { color-scheme: light dark; --text: #1c2024; --page: #fcfcfd; --line: #d9dce0; --dim: #6a7078;
  --hit: #d8f0dc; --missed: #ffd0cc; --never: #eceef0; --wrong: #c22; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e6e9; --page: #16181a; --line: #3a3f45;
  --dim: #9aa0a8; --hit: #1d4428; --missed: #6b2420; --never: #26292d; --wrong: #f66; } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 80rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: .5rem 0 1rem; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--line); padding: .15rem .45rem; text-align: right; }
th { font-weight: 600; text-align: left; } td.name, td.about { text-align: left; }
td.about { color: var(--dim); } td.hit { background: var(--hit); } td.missed { background: var(--missed); }
td.never { background: var(--never); color: var(--dim); } td.wrong { color: var(--wrong); font-weight: 700; }
.scroll { overflow-x: auto; } summary { cursor: pointer; padding: .2rem 0; }
meter { width: 8rem; } .about, .why { color: var(--dim); } .wrong { color: var(--wrong); }
";

/// Returns the page of these units.
pub fn page(units: &[UnitCoverage]) -> String {
    let names: Vec<&str> = units.iter().map(|u| u.unit.as_str()).collect();
    let title = text(&format!("Functional coverage: {}", names.join(", ")));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width\"/>\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         <p>A cell counts how often its bin was hit. Red: never hit. Grey: cannot be hit, by the numbered reason \
         below the table.</p>\n"
    );
    for unit in units {
        unit_section(&mut page, unit);
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn unit_section(page: &mut String, unit: &UnitCoverage) {
    let name = text(&unit.unit);
    let (hit, reachable) = (unit.hit(), unit.reachable());
    let further = unit.parameters.iter().map(|(n, v)| format!(", {n}={v}"));
    let built = text(&format!(
        "{}{}",
        counted(unit.lanes, "lane"),
        further.collect::<String>()
    ));
    let t = unit.totals;
    let _ = write!(
        page,
        "<h2 id=\"{name}\">{name}: {hit} of {reachable} reachable bins hit, {} %</h2>\n\
         <p>{built}; {}, {}, {}, {}</p>\n",
        percent(hit, reachable),
        counted(number(t.programs), "program"),
        counted(number(t.launches), "launch"),
        counted(number(t.cycles), "cycle"),
        counted(number(t.steps), "step"),
    );
    for failed in &unit.failures {
        let _ = writeln!(
            page,
            "<p class=\"wrong\">FAILED {}</p>",
            text(&failed.line())
        );
    }
    for (group, bin) in unit.impossible() {
        let why = bin.unreachable.as_deref().unwrap_or_default();
        let _ = writeln!(
            page,
            "<p class=\"wrong\">{}: {}: declared unreachable ({}), hit {} times</p>",
            text(&group.name),
            text(&bin.name()),
            text(why),
            number(bin.hits)
        );
    }
    page.push_str("<table>\n<tr><th>group</th><th>hit</th><th>reachable</th><th>%</th><th></th><th>meaning</th></tr>\n");
    for g in &unit.groups {
        let (hit, reachable) = (g.hit(), g.reachable());
        let group = text(&g.name);
        let _ = writeln!(
            page,
            "<tr><td class=\"name\"><a href=\"#{name}-{0}\">{group}</a></td><td>{hit}</td><td>{reachable}</td>\
             <td>{1}</td><td><meter min=\"0\" max=\"{2}\" value=\"{hit}\"></meter></td>\
             <td class=\"about\">{3}</td></tr>",
            anchor(&g.name),
            percent(hit, reachable),
            reachable.max(1),
            text(&g.about),
        );
    }
    page.push_str("</table>\n");
    for g in &unit.groups {
        group_section(page, &name, g);
    }
}

fn anchor(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

fn group_section(page: &mut String, unit: &str, g: &GroupCoverage) {
    let (hit, reachable) = (g.hit(), g.reachable());
    let open = if hit < reachable {
        " open=\"open\""
    } else {
        ""
    };
    let _ = write!(
        page,
        "<details id=\"{unit}-{}\"{open}>\n<summary>{}: {hit} of {reachable}</summary>\n\
         <p class=\"about\">Sampled in {}.</p>\n<div class=\"scroll\"><table>\n<tr>",
        anchor(&g.name),
        text(&g.name),
        text(&g.about),
    );
    // The last axis is horizontal, the others are vertical.
    let Some((right, down)) = g.axes.split_last() else {
        return;
    };
    for axis in down {
        let _ = write!(page, "<th>{}</th>", text(&axis.name));
    }
    for value in &right.values {
        let _ = write!(page, "<th>{}</th>", text(value));
    }
    page.push_str("</tr>\n");
    let reasons = g.reasons();
    for row in g.bins.chunks(right.values.len().max(1)) {
        page.push_str("<tr>");
        for value in row
            .first()
            .map_or(&[][..], |bin| &bin.at[..down.len().min(bin.at.len())])
        {
            let _ = write!(page, "<th>{}</th>", text(value));
        }
        for bin in row {
            let reason = bin
                .unreachable
                .as_deref()
                .and_then(|why| reasons.iter().position(|(known, _)| *known == why));
            let (class, cell) = match reason {
                Some(_) if bin.hits > 0 => ("wrong", number(bin.hits)),
                Some(n) => ("never", format!("({})", n + 1)),
                None if bin.hits == 0 => ("missed", "0".to_owned()),
                None => ("hit", number(bin.hits)),
            };
            let _ = write!(page, "<td class=\"{class}\">{cell}</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
    for (n, (why, count)) in reasons.iter().enumerate() {
        let _ = writeln!(
            page,
            "<p class=\"why\">({}) {}: {}</p>",
            n + 1,
            text(why),
            counted(count, "bin")
        );
    }
    page.push_str("</details>\n");
}
