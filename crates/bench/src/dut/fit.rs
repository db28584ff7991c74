//! Whether ports and probes of RTL fit the declaration. Verilator only warns of a port that the bench top connects with fewer bits, or
//! not at all, and of a probe with more bits than the declaration: bits would not be compared, and an input would have a constant value
//! that the seed draws.

/// Returns why the RTL does not fit, from Verilator's `warnings`; `bench` is the file name of the bench top. `inputs` returns the
/// names of the inputs of the design's module; it is called only if a port is not connected.
///
/// # Errors
/// `inputs` fails.
pub(super) fn misfit<E>(
    warnings: &str,
    bench: &str,
    inputs: impl FnOnce() -> Result<Vec<String>, E>,
) -> Result<Option<String>, E> {
    let of_bench = warnings
        .lines()
        .filter(|line| line.starts_with("%Warning-") && line.contains(&format!("{bench}:")));
    let mut missing = Vec::new();
    for line in of_bench {
        if let Some((kind, port, has, connected)) = connection(line)
            && connected < has
        {
            let effect = match kind {
                Kind::Input => "the others would not be driven",
                Kind::Output => "the others would not be compared",
            };
            return Ok(Some(format!(
                "port {port} has {has} bits, {connected} are declared: {effect}"
            )));
        }
        if let Some((has, taken)) = assignment(line)
            && taken < has
        {
            // As Verilator writes errors, so that the place in the file with the probes can be found.
            let (place, _) = line.split_once(": Operator").unwrap_or((line, ""));
            let (_, place) = place.split_once(' ').unwrap_or(("", place));
            return Ok(Some(format!(
                "%Error: {place}: the probe has {has} bits, {taken} are declared: the others would not be compared"
            )));
        }
        missing.extend(between(line, "missing pin: '", "'").map(str::to_owned));
    }
    if missing.is_empty() {
        return Ok(None);
    }
    let inputs = inputs()?;
    let open = missing.into_iter().find(|port| inputs.contains(port));
    Ok(open.map(|port| {
        format!(
            "input port {port} is not declared: it would have a constant value that the seed draws"
        )
    }))
}

/// Direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Input,
    Output,
}

/// Returns the port of a warning about a connection, its bits, and those that the bench top connects.
fn connection(line: &str) -> Option<(Kind, &str, u32, u32)> {
    let kinds = [("Input port", Kind::Input), ("Output port", Kind::Output)];
    let (_, kind) = kinds
        .into_iter()
        .find(|(words, _)| line.contains(&format!("{words} connection '")))?;
    let port = between(line, "port connection '", "'")?;
    let has = between(line, " expects ", " bits")?.parse().ok()?;
    let connected = between(line, " generates ", " bits")?.parse().ok()?;
    Some((kind, port, has, connected))
}

/// Returns the bits of a probe in a warning about its assignment, and those that the declaration takes.
fn assignment(line: &str) -> Option<(u32, u32)> {
    let taken = between(line, "Operator ASSIGNW expects ", " bits on the Assign RHS")?;
    let has = between(line, " generates ", " bits")?;
    Some((has.parse().ok()?, taken.parse().ok()?))
}

/// Returns what stands between `before` and `after`.
fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(warnings: &str) -> Option<String> {
        let inputs = || Ok::<_, ()>(vec!["scan_i".to_owned()]);
        misfit(warnings, "u_tb.sv", inputs).unwrap()
    }

    #[test]
    fn ports_with_more_bits_than_declared_and_open_inputs_do_not_fit() {
        let width = |kind: &str, has: u32, declared: u32| {
            format!(
                "%Warning-WIDTH: /c/u_tb.sv:194:6: {kind} port connection 'p' expects {has} bits on the pin \
                 connection, but pin connection's VARREF 'p' generates {declared} bits.\n"
            )
        };
        assert_eq!(of(""), None);
        assert_eq!(of(&width("Output", 4, 5)), None);
        assert_eq!(
            of(&width("Output", 5, 4)).as_deref(),
            Some("port p has 5 bits, 4 are declared: the others would not be compared")
        );
        assert_eq!(
            of(&width("Input", 5, 4)).as_deref(),
            Some("port p has 5 bits, 4 are declared: the others would not be driven")
        );
        let probe = |has: u32| {
            format!(
                "%Warning-WIDTH: /c/u_tb.sv:229:27: Operator ASSIGNW expects 3 bits on the Assign RHS, but Assign \
                 RHS's REPLICATE generates {has} bits.\n"
            )
        };
        assert_eq!(of(&probe(2)), None);
        assert_eq!(
            of(&probe(5)).as_deref(),
            Some(
                "%Error: /c/u_tb.sv:229:27: the probe has 5 bits, 3 are declared: the others would not be compared"
            )
        );
        // In the user's own RTL, it is only a warning.
        assert_eq!(of(&width("Input", 5, 4).replace("u_tb.sv", "u.sv")), None);
        let pin = |name: &str| {
            format!("%Warning-PINMISSING: /c/u_tb.sv:167:5: Cell has missing pin: '{name}'\n")
        };
        assert_eq!(of(&pin("debug_o")), None);
        assert_eq!(
            of(&(pin("debug_o") + &pin("scan_i"))).as_deref(),
            Some(
                "input port scan_i is not declared: it would have a constant value that the seed draws"
            )
        );
    }
}
