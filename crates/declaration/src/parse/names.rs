//! Names: which are allowed, and which are reserved.

use crate::MAX_NAME;
use crate::error::Error;
use crate::table::Table;

/// Keywords of Rust, and those that it reserves.
const RUST: &str = "\
    abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl \
    in let loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof \
    unsafe unsized use virtual where while yield";

/// Keywords of C and C++.
const C: &str = "\
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const const_cast \
    consteval constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit export extern \
    false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq \
    private protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert \
    static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using \
    virtual void volatile wchar_t while xor xor_eq";

/// Keywords of SystemVerilog (IEEE 1800-2017).
const VERILOG: &str = "\
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins \
    binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const \
    constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge \
    else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule \
    endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event eventually expect \
    export extends extern final first_match for force foreach forever fork forkjoin function generate genvar global highz0 \
    highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input inside \
    instance int integer interconnect interface intersect join join_any join_none large let liblist library local \
    localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor \
    noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority program \
    property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase \
    randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 \
    s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled signed small \
    soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1 sync_accept_on \
    sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand \
    trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var vectored virtual void \
    wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor";

/// Names that the bench top uses.
const OWN: &str = "\
    bench_i clk_i clock0_i clock1_i clock2_i clock3_i clock4_i clock5_i clock6_i clock7_i clocks_o dut first_q golden_i in_d in_i in_q kept load_i mismatch_o now_o second_q state_o";

/// Returns whether a generated file could not use `name`.
fn is_reserved(name: &str) -> bool {
    let lists = [RUST, C, VERILOG, OWN];
    lists
        .iter()
        .any(|list| list.split(' ').any(|word| word == name))
}

/// Prefixes of generated names.
const PREFIXES: [&str; 6] = ["fits_", "kept_", "pad", "probe_", "load_", "valid_"];

/// Returns whether `text` is a SystemVerilog identifier without escapes.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.len() <= MAX_NAME
}

/// Reads a name that becomes part of other names.
pub(super) fn part_of_names(table: &Table, key: &'static str) -> Result<String, Error> {
    let name = table.required_string(key)?;
    if !is_identifier(&name) || name.starts_with('_') || name.chars().any(|c| c.is_uppercase()) {
        let limit = format!("a to z, 0 to 9 and _, at most {MAX_NAME} of them");
        return Err(table.error(key, format!("{name:?} is not a name: {limit}")));
    }
    Ok(name)
}

/// Reads a name that must be valid in Rust, SystemVerilog and C.
pub(super) fn name(table: &Table, key: &'static str) -> Result<String, Error> {
    let name = part_of_names(table, key)?;
    if is_reserved(&name) {
        let why = format!("{name:?} is a word that the generated files need");
        return Err(table.error(key, why));
    }
    if PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        let why = format!("{name:?} begins as generated names do");
        return Err(table.error(key, why));
    }
    Ok(name)
}

/// Returns a suitable name for the pin or field of port `port`: in lower case, without the suffix for its direction, and with `_` for
/// characters that only an escaped name has.
pub fn name_of(port: &str) -> String {
    let odd = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let name = port.to_ascii_lowercase().replace(odd, "_");
    let name = match (name.strip_suffix("_ni"), name.strip_suffix("_no")) {
        (Some(name), _) | (_, Some(name)) => format!("{name}_n"),
        _ => {
            let short = name.strip_suffix("_i").or(name.strip_suffix("_o"));
            short.unwrap_or(&name).to_owned()
        }
    };
    let name = name.trim_start_matches('_');
    let name = match is_reserved(name) {
        true => format!("{name}_port"),
        false => name.to_owned(),
    };
    let begins = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    match begins || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        true => format!("p_{name}"),
        false => name,
    }
}

/// Returns the name of the Rust module for an enum that is called `name`.
pub(crate) fn module(name: &str) -> String {
    match RUST.split(' ').any(|word| word == name) {
        true => format!("{name}_"),
        false => name.to_owned(),
    }
}

/// Returns whether `text` is an identifier that SystemVerilog needs not escape.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.starts_with('$')
        && is_identifier(&text.replace('$', "_"))
        && !VERILOG.split(' ').any(|word| word == text)
}

/// Reads the name of a module, clock or parameter of the RTL.
pub(super) fn identifier(table: &Table, key: &'static str) -> Result<Option<String>, Error> {
    match table.string(key)? {
        Some(name) if !is_plain(&name) => Err(no_identifier(table, key, &name)),
        name => Ok(name),
    }
}

pub(super) fn no_identifier(table: &Table, key: &'static str, name: &str) -> Error {
    let limit = format!("letters, digits, _ and $, at most {MAX_NAME} of them");
    table.error(key, format!("{name:?} is not an identifier: {limit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_of_every_language_are_no_names_and_ports_called_so_get_another() {
        for word in [RUST, C, VERILOG, OWN]
            .map(|list| list.split(' '))
            .into_iter()
            .flatten()
        {
            assert!(!word.is_empty() && is_reserved(word), "{word:?}");
        }
        for (port, name) in [
            ("wait_i", "wait_port"),
            ("dyn_i", "dyn_port"),
            ("crate_o", "crate_port"),
            ("new_i", "new_port"),
            ("a$b+c_i", "a_b_c"),
            ("kept_i", "p_kept_port"),
        ] {
            assert_eq!(name_of(port), name);
        }
        assert!(!is_reserved("valid") && !is_reserved("data") && !is_reserved(""));
    }
}
