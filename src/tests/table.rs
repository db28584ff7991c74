//! The table of a report, with states of the units.

use crate::r500::R500;
use crate::r700::R700;
use crate::spa5::Spa5;
use crate::unit::Unit;
use bytemuck::bytes_of;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge_bench::field::diff;
use reconverge_bench::report::table::{MARK, Table, WIDTH};

fn table<U: Unit>(lanes: usize, rtl: U::State, golden: U::State) -> String {
    let diffs = diff(U::fields(), bytes_of(&rtl), bytes_of(&golden));
    let table = Table::new::<U>(&rtl, &golden, &diffs, lanes, "golden").to_string();
    table.lines().map(|line| format!("|{line}\n")).collect()
}

/// Regression: a table showed twelve rows of `active[n]` and "22 more", but neither PC nor status.
#[test]
fn single_values_that_differ_stand_above_the_lanes_that_do() {
    let golden = crate::spa5::state::State {
        active: 0xffff_00f0,
        exited: 0x0000_000f,
        pc: 0x28,
        sp: 2,
        ..Default::default()
    };
    let rtl = crate::spa5::state::State {
        active: 0x00ff_ff00,
        exited: 0x0000_000e,
        pc: 0x30,
        status: 3,
        ..golden
    };
    assert_eq!(
        table::<Spa5>(32, rtl, golden),
        "\
|  field       rtl               golden
|  pc          0x030             0x028             <--
|  status      UNWIND            RUN               <--
|  active      lanes 4..15 24..31                  <--
|    rtl     00000000 11111111 11111111 00000000
|    golden  00001111 00000000 11111111 11111111
|  exited[0]   0                 1                 <--
|  top_addr    0x000             0x000
|  sp          2                 2
|  err         0 OK              0 OK
|  vis         0000              0000
|  top_type    -                 -
"
    );
}

#[test]
fn lanes_with_equal_values_share_a_column() {
    let golden = crate::r500::state::State {
        bc: [0b1111, 0, 0b0011, 0, 0],
        loops: [0x1_0503, 0, 0, 0],
        ..Default::default()
    };
    let rtl = crate::r500::state::State {
        st: [0xf0f0, 0],
        bc: [0b0001, 0, 0b1011, 0, 1 << 15],
        loops: [0x1_0403, 7, 0, 0],
        ..golden
    };
    assert_eq!(
        table::<R500>(16, rtl, golden),
        "\
|  field            rtl               golden
|  st[4..7 12..15]  BRANCH            ACTIVE            <--
|  bc               4 lanes                             <--
|    lane    1  2  3  15
|    rtl     4  0  4  16
|    golden  5  1  1   0
|  loops            2 entries                           <--
|    entry              0              1
|    rtl     REP n=4 aL=3  LOOP n=0 aL=7
|    golden  REP n=5 aL=3  LOOP n=0 aL=0
|  pc               0x000             0x000
|  loop_depth       0                 0
|  addr_depth       0                 0
|  err              0 OK              0 OK
"
    );
}

/// Checks that every single value that differs has its row, that every lane that differs is named or counted, and that no line
/// is too long.
fn whatever_differs_is_shown<U: Unit>(rng: &mut Pcg64Mcg) {
    for lanes in [1, 4, 16, 32, 33, 64] {
        for odds in [1, 4, 64] {
            let golden = U::State::default();
            let mut rtl = golden;
            for field in U::fields() {
                for element in 0..field.elements(lanes) {
                    for bit in 0..field.width as usize {
                        if rng.random_ratio(1, odds) {
                            field.flip(bytemuck::bytes_of_mut(&mut rtl), element, bit);
                        }
                    }
                }
            }
            let diffs = diff(U::fields(), bytes_of(&rtl), bytes_of(&golden));
            let text = table::<U>(lanes, rtl, golden);
            for line in text.lines() {
                assert!(line.len() <= 1 + WIDTH, "{lanes}: {} {line}", line.len());
            }
            for (index, field) in U::fields().iter().enumerate() {
                let differs = diffs.iter().any(|d| d.field == index);
                let row = |line: &str| {
                    let name = line[1..].trim_start().split([' ', '[']).next();
                    name == Some(field.name) && line.ends_with(MARK)
                };
                let rows = text.lines().filter(|line| row(line)).count();
                assert_eq!(
                    rows,
                    usize::from(differs),
                    "{lanes}: {}\n{text}",
                    field.name
                );
            }
        }
    }
}

#[test]
fn whatever_differs_is_in_the_table() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    whatever_differs_is_shown::<R500>(&mut rng);
    whatever_differs_is_shown::<R700>(&mut rng);
    whatever_differs_is_shown::<Spa5>(&mut rng);
}
