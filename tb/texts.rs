//! Assembler and disassembler as data, `tb/<unit>/assembled.txt` and `refused.txt`: programs, each with the words that it becomes or the
//! message that it is refused with. `\n` ends a line of a program, `\t` is a tab; `file` names one in `tb/<unit>/programs`. What is accepted is the same program
//! again when it is disassembled and assembled.

use reconverge::assembly::Assembly as _;
use reconverge::unit::{LoadOptions, Unit};

use crate::data;

/// Returns the programs in file `path` of the repository.
pub fn inputs(path: &str) -> Vec<String> {
    let text = std::fs::read_to_string(format!("{}/{path}", reconverge::ROOT)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("    "));
    let inputs = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let programs = inputs.filter(|line| !line.starts_with("file "));
    programs.map(|line| line.replace("\\n", "\n")).collect()
}

fn programs_become_the_words_that_are_shown<U: Unit>() {
    for file in ["assembled", "refused"] {
        data::compare(&format!("tb/{}/{file}.txt", U::NAME), true, |text| {
            let text = match text.strip_prefix("file ") {
                Some(file) => {
                    let file = format!("{}/tb/{}/programs/{file}", reconverge::ROOT, U::NAME);
                    std::fs::read_to_string(file).unwrap()
                }
                None => text.replace("\\n", "\n").replace("\\t", "\t"),
            };
            match U::Program::assemble(&text, "t.s") {
                Err(refused) => refused.to_string(),
                Ok(program) => {
                    assert_ne!(file, "refused", "{text}\nis accepted");
                    let again = program.to_text();
                    let same =
                        U::Program::assemble(&again, "t.s").is_ok_and(|again| again == program);
                    assert!(same, "{text}\nis not the same as\n{again}");
                    let named = U::Program::assemble(&text, "some/where/name.of.s").unwrap();
                    assert_eq!(named.name(), "name.of");
                    if !text.contains('\n') {
                        // Labels are the only names in which capitals count.
                        let small = U::Program::assemble(&text.to_lowercase(), "t.s");
                        assert!(small.is_ok_and(|small| small == program), "{text}");
                    }
                    // Behind its name.
                    let hex = U::to_hex(&program);
                    let lines = hex.lines().skip(1).filter(|line| !line.is_empty());
                    lines.collect::<Vec<_>>().join("\n")
                }
            }
        });
    }
}

/// As text and as words; whatever its name is, it does not break out of its comment.
fn the_examples_round_trip<U: Unit>() {
    let folder = format!("{}/tb/{}/programs", reconverge::ROOT, U::NAME);
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "s") {
            continue;
        }
        let file = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let example = U::Program::assemble(&text, file).unwrap();
        let mut named = example.clone();
        named.rename("a\nFOO\r\n.full".to_owned());
        for (program, same_name) in [(example, true), (named, false)] {
            let words = U::load(
                U::to_hex(&program).as_bytes(),
                file,
                &LoadOptions::default(),
            );
            for mut again in [
                U::Program::assemble(&program.to_text(), file).unwrap(),
                words.unwrap().program,
            ] {
                if !same_name {
                    again.rename(program.name().to_owned());
                }
                assert_eq!(again, program, "{file}");
            }
        }
        seen += 1;
    }
    assert!(seen >= 13, "{seen} examples");
}

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            #[test]
            fn programs_become_the_words_that_are_shown() {
                super::programs_become_the_words_that_are_shown::<reconverge::$module::$unit>();
            }
            #[test]
            fn the_examples_round_trip() {
                super::the_examples_round_trip::<reconverge::$module::$unit>();
            }
        }
    )+};
}
reconverge::for_each_unit!(tests);
