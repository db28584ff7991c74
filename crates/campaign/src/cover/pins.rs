//! The bins of a design whose cases are streams of pins: each bit of each pin and field is 0, and is 1, and what happens to channels.

use reconverge_bench::channels::{COUNT, EVENTS, possible};
use reconverge_bench::design::{Build, Design};
use reconverge_bench::stream::coverage::items;

use super::{Axis, Declaration, When};

/// Declares the bins of `D` with `build`: two for each bit, in the order of [`items`], then those of the channels, then those of the groups
/// of its declaration. What the declaration of a pin or channel excludes is unreachable.
pub fn declared<D: Design>(build: &Build) -> Declaration {
    let mut groups = [("pins", Vec::new()), ("fields", Vec::new())];
    let mut excluded = [const { Vec::new() }; 2];
    for (number, item) in items::<D>(build.lanes).into_iter().enumerate() {
        let group = usize::from(number >= D::DECLARATION.pins.len());
        let reached = (0..item.width).flat_map(|bit| item.reached.map(|is| is >> bit & 1));
        excluded[group].extend(reached.map(|reached| reached == 0));
        let (name, bits) = (item.name, &mut groups[group].1);
        match item.width {
            1 => bits.push(name.to_owned()),
            _ => bits.extend((0..item.width).map(|bit| format!("{name}[{bit}]"))),
        }
    }
    let about = "each bit: cycles in which it was 0 and 1; of a list, those of all elements";
    let mut declaration = Declaration::default();
    for ((name, bits), excluded) in groups.into_iter().zip(excluded) {
        let axis = |name: &str, values| Axis {
            name: name.to_owned(),
            values,
        };
        let is = ["0", "1"].map(str::to_owned).to_vec();
        let axes = vec![axis("bit", bits), axis("is", is)];
        let first = declaration.group(When::Sometimes, name, about, axes);
        if excluded.contains(&true) {
            let why = "the declaration of the pin excludes it";
            declaration.declare_unreachable(first, why, &|n| excluded[n]);
        }
    }
    let channels = D::DECLARATION.channels;
    if !channels.is_empty() {
        let about = "each channel: cycles with a transfer, with another one in the cycle before, with valid and not ready, \
                     that for 8 cycles, with ready and not valid; offers that were withdrawn";
        let axis = |name: &str, values: Vec<&str>| Axis {
            name: name.to_owned(),
            values: values.into_iter().map(str::to_owned).collect(),
        };
        let names = channels.iter().map(|channel| channel.name).collect();
        let axes = vec![axis("channel", names), axis("event", EVENTS.to_vec())];
        let first = declaration.group(When::Sometimes, "channels", about, axes);
        let excluded = |n: usize| possible(&channels[n / COUNT]) >> (n % COUNT) & 1 == 0;
        if (0..channels.len() * COUNT).any(excluded) {
            let why = "the declaration of the channel excludes it";
            declaration.declare_unreachable(first, why, &excluded);
        }
    }
    declaration.add::<D>(build, |_| true);
    declaration
}

#[cfg(feature = "campaign")]
mod counted {
    use reconverge_bench::bins::Sampler;
    use reconverge_bench::channels::{COUNT, Watch};
    use reconverge_bench::check::Judged;
    use reconverge_bench::dut::Dut;
    use reconverge_bench::lockstep::Seen;
    use reconverge_bench::stream::coverage::{Item, each_word, items};
    use reconverge_bench::stream::{Stream, pulse};

    use super::Design;
    use crate::campaign::PinBins;
    use crate::cover::run::{Counted, Counts};
    use crate::cover::{Bins as _, Hits};

    /// Counts the cycles of streams in which each bit was 0 and 1.
    pub struct Counter {
        /// Each pin and field, with the number of its first bin.
        items: Vec<(usize, Item)>,
        /// The first bin of the channels.
        channels: usize,
        sampler: Sampler,
        hits: Hits,
        cycles: u64,
    }

    /// A stream has no instructions that another one could take over, so no run of streams is guided.
    impl<D: Design> Counted for Stream<D> {
        type Counter<'m> = Counter;
        type Guide<'m> = ();
        type Kept = ();

        fn counter(bins: &PinBins<D>) -> Counter {
            let mut first = 0;
            let items = items::<D>(bins.build().lanes).into_iter().map(|item| {
                let at = first;
                first += 2 * item.width as usize;
                (at, item)
            });
            let items = items.collect();
            let own = first + COUNT * D::DECLARATION.channels.len();
            Counter {
                items,
                channels: first,
                sampler: Sampler::new::<D>(bins.build(), own, |_| true),
                hits: bins.declaration().no_hits(),
                cycles: 0,
            }
        }

        fn counts(counter: &Counter) -> Counts<'_> {
            Counts {
                hits: &counter.hits,
                cycles: counter.cycles,
                steps: 0,
            }
        }

        fn guide(_: &PinBins<D>) {}

        fn count(
            &self,
            _: u64,
            dut: &mut Dut<D>,
            counter: &mut Counter,
            _: Option<(&(), &mut ())>,
            progress: &dyn Fn(),
        ) -> Judged<Self> {
            let Counter {
                items,
                channels,
                sampler,
                hits,
                cycles,
            } = counter;
            hits.clear();
            let mut handshakes = Watch::new::<D>();
            sampler.begin();
            let mut pulse = pulse(|_| progress());
            let mut watch = |cycle: &Seen<D>| {
                let Seen {
                    pins,
                    state,
                    points,
                    ..
                } = *cycle;
                pulse();
                *cycles += 1;
                handshakes.see::<D>(pins, state, |channel, events| {
                    let bins = &mut hits.counts[*channels + COUNT * channel..][..COUNT];
                    let bins = (0..).zip(bins);
                    bins.for_each(|(event, hits)| *hits += events >> event & 1);
                });
                sampler.see::<D>(pins, state, points, |bin| hits.counts[bin] += 1);
                each_word::<D>(pins, state, |item, word| {
                    let (first, Item { width, reached, .. }) = &items[item];
                    for bit in 0..*width {
                        let is = (word >> bit & 1) as usize;
                        // `constrain` may set what the declaration of a pin excludes.
                        hits.counts[first + 2 * bit as usize + is] += reached[is] >> bit & 1;
                    }
                });
            };
            let judged = self.check_on(dut, None, &mut watch);
            judged.unwrap_or_else(|why| unreachable!("no dump: {why}"))
        }
    }
}
