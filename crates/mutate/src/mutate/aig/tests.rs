use super::*;

#[test]
fn gates_are_what_they_are_called() {
    let mut aig = Aig::new();
    let [a, b, c] = [aig.input(), aig.input(), aig.input()];
    let (and, or, xor, mux) = (aig.and(a, b), aig.or(a, b), aig.xor(a, b), aig.mux(c, a, b));
    let (any, all) = (aig.any([a, b, c]), aig.all(vec![a, b, c]));
    let mut inputs = HashMap::new();
    for (input, rows) in [(a, 0b1010_1010), (b, 0b1100_1100), (c, 0b1111_0000)] {
        inputs.insert(input, rows);
    }
    let values = aig.evaluate(&inputs);
    for row in 0..8 {
        let [x, y, z] = [row & 1 == 1, row & 2 == 2, row & 4 == 4];
        for (gate, expected) in [
            (and, x && y),
            (or, x || y),
            (xor, x != y),
            (mux, if z { x } else { y }),
            (any, x || y || z),
            (all, x && y && z),
        ] {
            let value = |lit| values.of(lit) >> row & 1 == 1;
            assert_eq!(value(gate), expected, "{gate:?} {row}");
            assert_eq!(value(!gate), !expected, "{gate:?} {row}");
        }
    }
}

/// All pairs of operands, each a literal or a gate of two inputs, and multiplexers, under each condition.
#[test]
fn a_multiplexer_is_right_whatever_its_operands_have_in_common() {
    let mut aig = Aig::new();
    let [a, b, c] = [aig.input(), aig.input(), aig.input()];
    let pins = [a, b, c];
    let mut operands = vec![a, !a, b, !b, c, Lit::TRUE, Lit::FALSE];
    for (x, y) in [(a, b), (a, c), (b, c), (a, !b), (!a, b), (!a, !c)] {
        operands.extend([aig.and(x, y), aig.or(x, y)]);
    }
    for (by, yes, no) in [(a, b, c), (a, !c, b), (b, !a, c), (c, a, b)] {
        operands.push(aig.mux(by, yes, no));
    }
    let inputs = pins.into_iter().zip([0xaa, 0xcc, 0xf0]).collect();
    for by in pins {
        for yes in operands.clone() {
            for no in operands.clone() {
                let mux = aig.mux(by, yes, no);
                let values = aig.evaluate(&inputs);
                let [by, yes, no, mux] = [by, yes, no, mux].map(|lit| values.of(lit) & 0xff);
                assert_eq!(mux, by & yes | !by & no);
            }
        }
    }
}

#[test]
fn what_an_operand_is_where_it_is_not_chosen_makes_no_difference() {
    let mut aig = Aig::new();
    let [by, yes, no, unknown] = std::array::from_fn(|_| aig.input());
    let plain = aig.mux(by, yes, no);
    let inner = aig.mux(by, yes, unknown);
    assert_eq!(aig.mux(by, inner, no), plain);
    assert_eq!(aig.mux(!by, no, inner), plain);
    let inner = aig.mux(!by, no, unknown);
    assert_eq!(aig.mux(by, yes, inner), plain);
    // The same if the inner multiplexer has a constant.
    let inner = aig.mux(by, Lit::TRUE, unknown);
    let always = aig.or(by, no);
    assert_eq!(aig.mux(by, inner, no), always);
}

#[test]
fn a_scan_that_takes_from_what_it_found_so_far_is_one_conjunction() {
    let mut aig = Aig::new();
    let entries: Vec<[Lit; 2]> = (0..5).map(|_| [aig.input(), aig.input()]).collect();
    let (mut holds, mut broken) = (Lit::TRUE, Lit::FALSE);
    for [used, right] in &entries {
        let still = aig.and(holds, *right);
        holds = aig.mux(*used, still, holds);
        let more = aig.or(broken, !*right);
        broken = aig.mux(!*used, broken, more);
    }
    assert_eq!(holds, !broken);
    let mut parts = aig.conjuncts(holds);
    let mut expected: Vec<Lit> = entries
        .iter()
        .map(|[used, right]| !aig.and(*used, !*right))
        .collect();
    parts.sort();
    expected.sort();
    assert_eq!(parts, expected);
    assert_eq!(aig.conjuncts(entries[0][0]), [entries[0][0]]);
}

/// Regression: when the check of an entry had three parts, `so_far` was below all of them and was not found.
#[test]
fn a_scan_whose_checks_have_some_parts_is_one_conjunction() {
    let mut aig = Aig::new();
    // Entries of two kinds, with as many checks as the search has levels, and with one more.
    for (checks, one) in [(SHARED_LEVELS, true), (SHARED_LEVELS + 1, false)] {
        let start = aig.input();
        let mut holds = start;
        for _ in 0..3 {
            let [used, kind] = [aig.input(), aig.input()];
            let by_kind = [(); 2].map(|()| {
                let checks: Vec<Lit> = (0..checks).map(|_| aig.input()).collect();
                checks
                    .iter()
                    .fold(holds, |still, check| aig.and(still, *check))
            });
            let still = aig.mux(kind, by_kind[0], by_kind[1]);
            holds = aig.mux(used, still, holds);
        }
        let parts = aig.conjuncts(holds);
        assert_eq!(parts.contains(&start), one, "{checks}");
        assert_eq!(parts.len() > 3, one, "{checks}: {parts:?}");
    }
}

#[test]
fn what_cannot_be_where_another_operand_holds_is_left_out() {
    let mut aig = Aig::new();
    let [before, after, now, other] = [(); 4].map(|()| aig.input());
    let then = aig.mux(before, now, other);
    let differs = aig.xor(now, then);
    let [never, may] = [before, after].map(|matters| aig.and(matters, differs));
    assert_eq!(aig.without_impossible(never), Lit::FALSE);
    assert_eq!(aig.without_impossible(may), may);
    let either = aig.or(never, may);
    assert_eq!(aig.without_impossible(either), may);
    assert_eq!(aig.without_impossible(Lit::TRUE), Lit::TRUE);
    assert_eq!(aig.without_impossible(Lit::FALSE), Lit::FALSE);
    // They are equal for every input.
    let columns = [0xff00, 0xf0f0, 0xcccc, 0xaaaa];
    let inputs = [before, after, now, other].into_iter().zip(columns);
    let values = aig.evaluate(&inputs.collect());
    assert_eq!(values.of(either), values.of(may));
    assert_ne!(values.of(may) & 0xffff, 0);
}

#[test]
fn what_two_sides_have_in_common_is_taken_out_of_both() {
    let mut aig = Aig::new();
    let [a, b, c, d, e] = [(); 5].map(|()| aig.input());
    let [ab, cd] = [aig.and(a, b), aig.and(c, d)];
    let [yes, no] = [aig.and(ab, cd), aig.and(e, cd)];
    assert_eq!(aig.shared(yes, no), Some((cd, ab, e)));
    assert_eq!(
        aig.shared(yes, c),
        Some((c, aig.all(vec![a, b, d]), Lit::TRUE))
    );
    assert_eq!(aig.shared(ab, cd), None);
    assert_eq!(aig.shared(!ab, !cd), None);
}

#[test]
fn what_is_the_same_is_one_node() {
    let mut aig = Aig::new();
    let [a, b] = [aig.input(), aig.input()];
    let left = aig.xor(a, b);
    assert_eq!(left, aig.xor(b, a));
    let both = aig.and(a, b);
    assert_eq!(aig.and(both, a), both);
    assert_eq!(aig.and(both, !b), Lit::FALSE);
    assert_eq!(aig.mux(a, both, Lit::FALSE), both);
}

#[test]
fn all_of_the_same_in_another_order_is_one_node() {
    let mut aig = Aig::new();
    let lanes: Vec<Lit> = (0..5).map(|_| aig.input()).collect();
    let mut moved = lanes.clone();
    moved.rotate_left(2);
    let all = aig.all(lanes.clone());
    assert_eq!(aig.all(moved.clone()), all);
    let any = aig.any(lanes.clone());
    assert_eq!(aig.any(moved), any);
    assert_ne!(all, any);
    let twice = aig.all([&lanes[..], &lanes].concat());
    assert_eq!(twice, all);
    let never = aig.all(vec![lanes[3], lanes[0], !lanes[3]]);
    assert_eq!(never, Lit::FALSE);
    assert_eq!(aig.weight(all), 5 + 4);
}

#[test]
fn a_gate_that_becomes_one_that_is_supposed_is_a_constant() {
    let mut aig = Aig::new();
    let [x, p, q, r] = [0; 4].map(|_| aig.input());
    let both = aig.and(x, p);
    let known = aig.or(both, q);
    let what = aig.or(p, q);
    let other = aig.or(p, r);
    // With x, `known` says p or q.
    let [what, other] = [what, other].map(|lit| aig.supposed(&[x, known], &[lit])[0]);
    assert_eq!(what, Lit::TRUE);
    assert_ne!(other, Lit::TRUE);
}

/// Regression: of two scans with the same gates except for a constant, one was computed before the constant was found.
#[test]
fn what_is_known_is_found_before_anything_is_worked_out() {
    let mut aig = Aig::new();
    let [a, b, c, t] = [(); 4].map(|()| aig.input());
    let x = aig.and(a, !b);
    let what = aig.and(x, c);
    // `known` contains a gate that is made after `x` and becomes `x`.
    let known = aig.any([x, t]);
    assert_eq!(aig.supposed(&[known, !t], &[what]), [c]);
}

#[test]
fn what_is_supposed_is_a_constant_and_what_holds_with_it() {
    let mut aig = Aig::new();
    let [a, b, c, d] = [aig.input(), aig.input(), aig.input(), aig.input()];
    let both = aig.and(a, b);
    let [x, y] = [aig.xor(both, c), aig.xor(a, d)];
    let what = aig.and(x, y);
    let len = aig.size();
    for known in [vec![both], vec![!both], vec![a, !c], vec![!a, both], vec![]] {
        let found = aig.supposed(&known, &[what])[0];
        let found = aig.all([&known[..], &[found]].concat());
        let mut expected = known.clone();
        expected.push(what);
        let expected = aig.all(expected);
        for row in 0..16u64 {
            let bits = [a, b, c, d].into_iter().zip(0..);
            let inputs = bits.map(|(input, i)| (input, row >> i & 1)).collect();
            let values = aig.evaluate(&inputs);
            assert_eq!(
                values.of(found) & 1,
                values.of(expected) & 1,
                "{known:?} {row}"
            );
        }
        aig.forget(len);
        assert_eq!(aig.size(), len);
    }
    // Nothing of the exclusive or remains.
    assert_eq!(aig.supposed(&[both, c], &[what]), [Lit::FALSE]);
    aig.forget(len);
    assert_eq!(aig.and(b, a), both);
    // The multiplexer becomes a, and it is known that a and b do not both hold.
    let choice = aig.mux(c, a, d);
    let what = aig.and(choice, b);
    assert_eq!(aig.supposed(&[c, !both], &[what]), [Lit::FALSE]);
}

#[test]
fn a_size_is_within_its_number_of_nodes_and_not_within_one_less() {
    let mut aig = Aig::new();
    let [a, b, c] = [(); 3].map(|()| aig.input());
    // Two paths lead to `a`, which is counted once.
    let x = aig.and(a, b);
    let y = aig.and(!a, c);
    let what = aig.and(!x, !y);
    assert_eq!(aig.weight(what), 6);
    assert!(aig.within(what, 6));
    assert!(!aig.within(what, 5));
    assert!(aig.within(!a, 1));
}

/// Two inputs, a register that stores their AND, and an output that is 1 while the register is 0; a third input is not used. The
/// expected text is made by hand from the description of the format: variables 1 and 2 are inputs, 3 is the register, 4 is the
/// gate, whose operands are coded as 8 - 4 and 4 - 2.
#[test]
fn a_circuit_is_written_as_the_format_says() {
    let mut aig = Aig::new();
    let [a, _, b, q] = [aig.input(), aig.input(), aig.input(), aig.input()];
    let next = aig.and(a, b);
    assert_eq!(
        aig.aiger(&[(q, next)], !q),
        b"aig 4 2 1 1 1\n8\n7\n\x04\x02"
    );
}

/// Made by hand from the grammar of the format; the input between the two is not needed.
#[test]
fn bits_are_written_as_btor2_says() {
    let mut aig = Aig::new();
    let [a, _, b] = [aig.input(), aig.input(), aig.input()];
    let gate = aig.and(!a, b);
    assert_eq!(
        aig.btor2(!gate),
        "1 sort bitvec 1\n2 input 1\n3 not 1 2\n4 input 1\n5 not 1 4\n6 and 1 3 4\n7 not 1 6\n8 bad 7\n"
    );
    assert_eq!(
        aig.btor2(Lit::FALSE),
        "1 sort bitvec 1\n2 zero 1\n3 not 1 2\n4 bad 2\n"
    );
}

/// Made by hand from the description in [`Aig::dimacs`]: inputs are variables 1 and 2, the gate is 3.
#[test]
fn clauses_are_written_as_the_format_says() {
    let mut aig = Aig::new();
    let [a, _, b] = [aig.input(), aig.input(), aig.input()];
    let what = aig.and(!a, b);
    let (text, variables) = aig.dimacs(!what);
    assert_eq!(variables, [a, b, what]);
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "p cnf 3 4\n-3 -1 0\n-3 2 0\n3 1 -2 0\n-3 0\n"
    );
    let (text, _) = aig.dimacs(Lit::FALSE);
    assert_eq!(String::from_utf8(text).unwrap(), "p cnf 1 2\n-1 0\n1 0\n");
}
