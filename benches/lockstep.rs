//! Nanoseconds per cycle of the parts of lock-step; `benches/cost` compares them with the bare unit.

use bytemuck::bytes_of;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use reconverge::campaign::{self, Pace};
use reconverge::design::Golden;
use reconverge::dut::Rtl;
use reconverge::unit::Unit;

const CLOCKS: usize = 20_000;

fn parts<U: Unit>(c: &mut Criterion) {
    let inputs = campaign::recorded::<U>(1, &U::LANES.into(), CLOCKS, Pace::Campaign);
    let rtl = Rtl::<U>::own(U::LANES).expect("linked");
    let mut group = c.benchmark_group(U::NAME);
    group.throughput(Throughput::Elements(CLOCKS as u64));
    group.bench_function("bench top, bare", |b| {
        let mut dut = rtl.open(1).expect("fits");
        b.iter(|| dut.bare(&inputs));
    });
    group.bench_function("golden", |b| {
        let mut golden = U::Golden::new(U::LANES as usize);
        b.iter(|| {
            for pins in &inputs {
                golden.cycle(pins);
            }
        });
    });
    group.bench_function("lock-step", |b| {
        let mut dut = rtl.open(1).expect("fits");
        let mut golden = U::Golden::new(U::LANES as usize);
        // Every round starts with a reset, so that both begin in the same state.
        dut.clock(&inputs[0], None);
        golden.cycle(&inputs[0]);
        b.iter(|| {
            for pins in &inputs {
                let state = dut.clock(pins, None);
                assert!(bytes_of(state) == bytes_of(golden.state()));
                golden.cycle(pins);
            }
        });
    });
    group.finish();
}

macro_rules! units {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        fn all(c: &mut Criterion) {
            $(parts::<reconverge::$module::$unit>(c);)+
        }
    };
}
reconverge::for_each_unit!(units);

criterion_group!(benches, all);
criterion_main!(benches);
