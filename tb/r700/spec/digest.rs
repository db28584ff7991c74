//! The digest of r700-B.

use super::*;

/// Live frames as the digest spells them, for eight lanes.
fn frame_bytes(frames: &[Frame], out: &mut Vec<u8>) {
    for frame in frames {
        match frame {
            Frame::Branch(mask) => {
                out.push(1);
                out.extend((0..8).map(|i| (mask >> i & 1) as u8));
            }
            Frame::Loop(f) => {
                out.push(2);
                out.extend((0..8).map(|i| (f.st[0] >> i & 1 | (f.st[1] >> i & 1) << 1) as u8));
                out.push(f.lt);
                out.extend(f.lc.to_le_bytes());
                out.extend(f.al.to_le_bytes());
                out.push(f.inc);
                out.extend(f.base.to_le_bytes());
                out.push(f.bkind);
            }
            Frame::Call(f) => {
                out.push(3);
                out.extend(f.ret.to_le_bytes());
                out.push(f.depth);
                out.extend(f.base.to_le_bytes());
                out.push(f.bkind);
            }
        }
    }
}

const ALU_OPS: [u32; 16] = [8, 9, 9, 9, 10, 11, 13, 14, 15, 9, 10, 8, 12, 9, 15, 10];
const CF_OPS: [u32; 32] = [
    4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 18, 20, 24, 0, 1, 5, 10, 13, 14, 6, 9, 11, 20, 4, 5, 10,
    14, 39, 18, 15, 40,
];

/// The words of one step, as r700-B builds them from its draws.
fn digest_words(r: u32, a: u32, b: u32) -> (u32, u32) {
    let (mut dw0, mut dw1);
    if r & 15 < 6 {
        dw0 = a & 0x3f_ffff;
        dw1 = 0x8000_0000 | ALU_OPS[(b & 15) as usize] << 26 | (b >> 4 & 127) << 18;
    } else {
        dw0 = a & 0x3ff;
        dw1 = 0x8000_0000 | CF_OPS[(b & 31) as usize] << 23 | (b >> 5 & 31) << 3;
        dw1 |= b >> 10 & if r >> 4 & 3 == 0 { 7 } else { 1 };
        if r >> 6 & 3 == 0 {
            dw1 |= (b >> 13 & 3) << 8;
        }
        dw1 |= (b >> 15 & if r >> 8 & 7 == 0 { 63 } else { 1 }) << 13;
        for (shift, mask, bit) in [(11, 31, 21), (16, 7, 22), (19, 63, 30)] {
            if r >> shift & mask == 0 {
                dw1 |= 1 << bit;
            }
        }
        if dw1 >> 23 & 127 == 18 && r >> 25 & 7 != 0 {
            dw1 &= !7;
        }
    }
    if r >> 28 == 0 && a & 0x700 == 0 {
        (dw0, dw1) = (a, b);
    }
    (dw0, dw1)
}

/// The random walk of r700-B: an instruction after the other, errors forgotten, and a launch after each
/// end and every 128 steps. `see` gets number, state and stack after each step.
fn walk(machine: &mut Golden, steps: u32, mut see: impl FnMut(u32, &State, Vec<Frame>)) {
    let mut x: u32 = 0x5237_3030;
    let mut random = || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x
    };
    for n in 0..32 {
        machine.clock(&write(n, random() & 0xffff_f003));
    }
    let mut state = machine.clock(&write(32, random()));
    let regs = program(0x3f0, 6);
    for step in 1..=steps {
        if step == 1 || state.done == 1 || step & 127 == 0 {
            let valid = random() | random() | random();
            // A launch is taken only when nothing runs.
            state.running = 0;
            machine.load(&state);
            state = machine.clock(&launch(&regs, u64::from(valid)));
            assert_eq!((state.running, state.sp), (1, 0));
        }
        let (r, a, b, p) = (random(), random(), random(), random());
        // An error changed nothing: go on.
        let before = State {
            err: 0,
            halted: 0,
            running: 1,
            pc: (p >> 16) % 0x3f0,
            ..state
        };
        machine.load(&before);
        let (dw0, dw1) = digest_words(r, a, b);
        let u = p >> 8 & 3 != 0;
        state = machine.clock(&pins(Quad { dw0, dw1, u }, u64::from(p & 0xff)));
        if state.err > 0 {
            assert_eq!(state, halted(&before, state.err), "step {step}");
        }
        see(step, &state, machine.frames().collect());
    }
}

/// r700-B: the checksum of the walk, and how often each error came up.
#[test]
fn golden_has_the_digest() {
    let expected = [
        (1000, 0x2142_7218, [671, 44, 12, 76, 16, 35, 132, 0, 12, 2]),
        (
            10_000,
            0xA604_4401,
            [6833, 468, 107, 602, 232, 349, 1170, 51, 151, 37],
        ),
        (
            100_000,
            0x4009_4DB5,
            [67549, 4498, 1139, 6392, 2043, 3579, 12229, 885, 1360, 326],
        ),
        (
            1_000_000,
            0xB4B6_7633,
            [
                675_680, 45105, 11288, 64318, 20132, 35257, 122_233, 9711, 13298, 2978,
            ],
        ),
    ];
    let mut crc = crc32fast::Hasher::new();
    let mut histogram = [0; 10];
    let mut checked = 0;
    let mut record = Vec::new();
    walk(&mut Golden::new(8), 1_000_000, |step, s, stack| {
        record.clear();
        record.extend((0..8).map(|i| s.class(i)));
        record.extend((0..8).map(|i| (s.valid >> i & 1) as u8));
        record.extend(s.sp.to_le_bytes());
        record.extend(s.base.to_le_bytes());
        record.push(s.bkind);
        record.extend(s.nb.to_le_bytes());
        record.push(s.lt);
        record.extend(s.lc.to_le_bytes());
        record.extend(s.al.to_le_bytes());
        record.extend([s.inc, s.depth, s.skipped]);
        record.extend(s.pc.to_le_bytes());
        record.extend([s.err, s.done, s.jump]);
        record.extend((0..8).map(|i| (s.exec >> i & 1) as u8));
        frame_bytes(&stack, &mut record);
        crc.update(&record);
        histogram[usize::from(s.err)] += 1;
        if let Some((_, value, errors)) = expected.iter().find(|(at, ..)| *at == step) {
            assert_eq!(crc.clone().finalize(), *value, "after step {step}");
            assert_eq!(histogram, *errors, "after step {step}");
            checked += 1;
        }
    });
    assert_eq!(checked, expected.len());
}
