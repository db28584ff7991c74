//! The search for a smaller case: the changes, and their order.

use super::*;

/// A lane: whether it is launched, its draws as (k, bits), and the lane whose part of the preloaded states it has.
pub(super) type Lane = (bool, Vec<(u64, u16)>, usize);

pub(super) struct Simplify<'f, U: Campaign> {
    /// The smallest failing case so far, and what the golden model does in it.
    pub(super) best: Case<U>,
    pub(super) history: History<U>,
    /// True if the text of the best program assembles to the same program. Once true, it stays true.
    pub(super) readable: bool,
    pub(super) search: Search<'f, Case<U>>,
    /// A model could not be opened.
    pub(super) error: Option<String>,
}

/// Returns [`LANES`], or of a unit with several wavefronts the least number of lanes from there on with two in each: lanes part only
/// from others of their wavefront.
fn few<U: Campaign>() -> u32 {
    match U::DECLARATION.wavefronts {
        1 => LANES,
        wavefronts => wavefronts * LANES.div_ceil(wavefronts).max(2),
    }
}

impl<U: Campaign> Simplify<'_, U> {
    pub(super) fn over(&self) -> bool {
        self.error.is_some() || self.search.over()
    }

    /// Tries `candidate`, with `seeds` different seeds if it depends on its seed. If it fails as before, it becomes the best
    /// case. Returns true then.
    pub(super) fn attempt_with(&mut self, mut candidate: Case<U>, seeds: u64) -> bool {
        if same(&candidate, &self.best) || candidate.check_input("shrink").is_err() {
            return false;
        }
        let drawn = candidate.conditions.are_drawn();
        let varies = drawn || candidate.noise_cycles.is_some() || candidate.stall16 > 0;
        let first = candidate.seed;
        for n in 0..if varies { seeds } else { 1 } {
            if self.over() {
                return false;
            }
            if n > 0 {
                candidate.seed = (draw_word(first, 0, n) >> 32).max(1);
            }
            match self.fails(&candidate) {
                Ok(false) => {}
                Ok(true) => return true,
                Err(why) => {
                    self.error = Some(why);
                    return false;
                }
            }
        }
        false
    }

    pub(super) fn attempt(&mut self, candidate: Case<U>) -> bool {
        let stalled = candidate.noise_cycles.is_none() && candidate.stall16 > 0;
        self.attempt_with(candidate, if stalled { STALL_SEEDS } else { SEEDS })
    }

    pub(super) fn fails(&mut self, candidate: &Case<U>) -> Result<bool, String> {
        let Some(failure) = self.search.fails(candidate)? else {
            return Ok(false);
        };
        let program = &candidate.program;
        if *program != self.best.program {
            let readable = readable::<U>(program);
            if self.readable && !readable {
                return Ok(false);
            }
            self.readable = readable;
        }
        self.history = History::of(candidate, failure.cycle());
        self.best = candidate.clone();
        self.search.keep(failure);
        Ok(true)
    }

    /// Tries the best case changed by `edit`.
    pub(super) fn edited(&mut self, edit: impl FnOnce(&mut Case<U>)) -> bool {
        let mut candidate = self.best.clone();
        edit(&mut candidate);
        self.attempt(candidate)
    }

    pub(super) fn all(&mut self, other: &impl Fn(u32) -> Result<Rtl<U>, String>) {
        self.length();
        if self.best.noise_cycles.is_some() {
            self.quiet();
        }
        self.stalls(false);
        if self.best.noise_cycles.is_some() {
            // With few lanes, a long program still hits situations that a short one does not.
            self.few_lanes(other);
        }
        // With few lanes everything else is faster, so half of the budget is reserved for that.
        self.reduce();
        self.search.runs.share = 1;
        if self.few_lanes(other) {
            self.reduce();
        }
        // Try again: the reason why this did not work before may be gone.
        if self.best.noise_cycles.is_some() {
            self.quiet();
            self.reduce();
        }
        self.stalls(true);
        self.short_noise();
        self.length();
        self.edited(|case| case.seed = 1);
        self.any_model();
    }

    /// Tries the case without the seed of its model: for a failure that does not depend on X, `run` repeats it.
    fn any_model(&mut self) {
        let mut candidate = self.best.clone();
        if candidate.model_seed.take().is_none() || self.over() {
            return;
        }
        if let Err(why) = self.fails(&candidate) {
            self.error = Some(why);
        }
    }

    pub(super) fn reduce(&mut self) {
        loop {
            let before = self.search.kept;
            self.start();
            self.instructions();
            self.looped();
            self.table();
            self.rows();
            self.masks();
            self.simpler();
            self.pairs();
            self.retargeted();
            if self.search.kept == before || self.over() {
                return;
            }
        }
    }

    /// Tries to end the case where it fails.
    pub(super) fn length(&mut self) {
        let last = self.search.best.cycle() + 1;
        let steps = self.history.steps.len() as u64;
        self.edited(|case| match &mut case.noise_cycles {
            Some(cycles) => *cycles = last.min(*cycles),
            // All executed instructions, and one more for the judge, which also compares the end.
            None => case.max_steps = case.max_steps.min(steps + 1),
        });
    }

    /// Tries to make a noisy case a plain one.
    pub(super) fn quiet(&mut self) {
        let plain = |case: &mut Case<U>| {
            case.noise_cycles = None;
            case.max_steps = 4096;
        };
        let stall16 = self.best.stall16.max(5);
        let mut candidates = Vec::new();
        if let Some(mut own) = self.own_launch() {
            plain(&mut own);
            own.stall16 = 0;
            let mut all_lanes = own.clone();
            all_lanes.launch_mask = u64::MAX >> (64 - own.lanes);
            let program = own.program.clone();
            candidates.push((own, 1));
            let mut drawn = all_lanes.clone();
            drawn.conditions = Conditions::Drawn { p16: 8 };
            candidates.push((all_lanes.clone(), 1));
            candidates.push((drawn, 32));
            let mut stalled = all_lanes;
            stalled.stall16 = stall16;
            candidates.push((stalled, 32));
            let mut as_it_is = self.best.clone();
            plain(&mut as_it_is);
            as_it_is.program = program;
            as_it_is.conditions = Conditions::Drawn { p16: 8 };
            candidates.push((as_it_is, 32));
        }
        let mut same = self.best.clone();
        plain(&mut same);
        same.conditions = Conditions::Drawn { p16: 8 };
        same.stall16 = 0;
        candidates.push((same.clone(), 32));
        same.stall16 = stall16;
        candidates.push((same, 32));
        for (candidate, seeds) in candidates {
            if self.attempt_with(candidate, seeds) {
                return;
            }
        }
        // If the case stays noisy, noise on pins that do not matter may be enough, without noise in the conditions.
        for conditions in [
            Conditions::Table(Table::default()),
            Conditions::Drawn { p16: 8 },
        ] {
            let mut candidate = self.best.clone();
            candidate.conditions = conditions;
            candidate.noise_cycles = candidate.noise_cycles.map(|cycles| cycles.max(512));
            if self.best.conditions == Conditions::Noise
                && self.attempt_with(candidate, MANY_SEEDS / 4)
            {
                return;
            }
        }
    }

    /// Returns the last launch before the failure as a separate program, with the instructions that it executed and a table of
    /// the conditions that their lanes saw.
    pub(super) fn own_launch(&self) -> Option<Case<U>> {
        let (pins, after) = self.history.launch.as_ref()?;
        let last = self.history.steps.last().map_or(pins, |step| &step.pins);
        let (program, mask) = U::relaunched(&self.best.program, pins, after, last);
        let executed: BTreeSet<usize> = self.history.numbers(&program).flatten().collect();
        let mut pieces = Vec::new();
        for n in &executed {
            // A plain instruction before each gives it its own draw, so that it sees the same conditions as before.
            if !U::DRAWS_ITSELF && !program.is_plain(*n) {
                pieces.push(Piece::New);
            }
            pieces.push(Piece::Old(*n));
        }
        let mut rows = Vec::new();
        let mut k = [0u64; 64];
        for (step, number) in self
            .history
            .steps
            .iter()
            .zip(self.history.numbers(&program))
        {
            let control = number.is_some_and(|n| !program.is_plain(n));
            if control || U::DRAWS_ITSELF {
                for lane in (0..self.best.lanes).filter(|lane| step.active >> lane & 1 == 1) {
                    rows.push(Row {
                        lane,
                        k: k[lane as usize],
                        bits: U::conditions(&step.pins, lane),
                    });
                }
            }
            let drawn = if control && !U::DRAWS_ITSELF {
                step.active
            } else {
                0
            };
            for (lane, k) in k.iter_mut().enumerate() {
                *k += (drawn >> lane & 1) + (step.counts >> lane & 1);
            }
        }
        rows.retain(|row| row.bits != 0);
        let mut case = self.best.clone();
        let lead = |address| program.led(&pieces, address);
        case.start = self.history.start.iter().map(|s| s.led(lead)).collect();
        case.program = program.laid_out(&pieces);
        case.launch_mask = mask & u64::MAX >> (64 - case.lanes);
        case.conditions = Conditions::Table(Table::from(rows));
        Some(case)
    }

    /// Tries to run without stalls, and at the end (`at_last`) with few. Before the end many stalls are better, because a
    /// failure that needs a stall then occurs sooner.
    pub(super) fn stalls(&mut self, at_last: bool) {
        for stall16 in [0, 1, 2, 4] {
            let mut candidate = self.best.clone();
            if stall16 < candidate.stall16 && (at_last || stall16 == 0) {
                candidate.stall16 = stall16;
                if let Some(cycles) = &mut candidate.noise_cycles {
                    *cycles = (*cycles).max(256);
                }
                if self.attempt_with(candidate, MANY_SEEDS) {
                    return;
                }
            }
        }
    }

    /// Returns the best case with its program replaced by `pieces`, and its table and start states adapted.
    pub(super) fn cut(&self, pieces: &[Piece]) -> Case<U> {
        let mut case = self.best.clone();
        if let Conditions::Table(table) = &case.conditions {
            let kept = pieces.iter().filter_map(|p| p.original()).collect();
            let table = self.history.followed(table, &case.program, &kept);
            case.conditions = Conditions::Table(table);
        }
        let lead = |address| self.best.program.led(pieces, address);
        case.start = case.start.iter().map(|s| s.led(lead)).collect();
        case.program = case.program.laid_out(pieces);
        if let Some(cycles) = &mut case.noise_cycles {
            // A late event may come even later.
            *cycles = (*cycles).max(256);
        }
        case
    }

    pub(super) fn instructions(&mut self) {
        let count = self.best.program.count();
        if count > 1 {
            let nothing = self.cut(&[Piece::New]);
            self.attempt_with(nothing, MANY_SEEDS);
            let executed: BTreeSet<usize> =
                self.history.numbers(&self.best.program).flatten().collect();
            let pieces: Vec<Piece> = executed.into_iter().map(Piece::Old).collect();
            if !pieces.is_empty() && pieces.len() < self.best.program.count() {
                let executed = self.cut(&pieces);
                self.attempt(executed);
            }
        }
        let mut size = self.best.program.count() / 2;
        while size > 0 && !self.over() {
            let before = self.best.program.count();
            let mut end = before;
            // From the end, so that instructions after the failure are removed first.
            while end > 0 {
                let from = end.saturating_sub(size);
                let count = self.best.program.count();
                if end <= count && end - from < count {
                    self.without(&|n| (from..end).contains(&n));
                }
                end = from;
            }
            if size > 1 || self.best.program.count() == before {
                size /= 2;
            }
        }
        for n in (0..self.best.program.count()).rev() {
            if n < self.best.program.count() && !self.best.program.is_plain(n) {
                let pieces: Vec<Piece> = (0..self.best.program.count())
                    .map(|i| {
                        if i == n {
                            Piece::Instead(i)
                        } else {
                            Piece::Old(i)
                        }
                    })
                    .collect();
                let candidate = self.cut(&pieces);
                self.attempt(candidate);
            }
        }
    }

    pub(super) fn left(&self, out: &dyn Fn(usize) -> bool) -> Case<U> {
        let pieces: Vec<Piece> = (0..self.best.program.count())
            .filter(|n| !out(*n))
            .map(Piece::Old)
            .collect();
        self.cut(&pieces)
    }

    pub(super) fn without(&mut self, out: &dyn Fn(usize) -> bool) -> bool {
        let candidate = self.left(out);
        self.attempt(candidate)
    }

    /// Tries a loop of a few instructions in place of a long program.
    pub(super) fn looped(&mut self) {
        let count = self.best.program.count();
        if count <= INSTRUCTIONS {
            return;
        }
        for size in [1, 2, 4] {
            for from in 0..=count - size {
                let mut candidate = self.left(&|n| !(from..from + size).contains(&n));
                candidate.program = candidate.program.looped();
                candidate.max_steps = candidate.max_steps.max(LOOPED);
                if self.attempt(candidate) || self.over() {
                    return;
                }
            }
        }
    }

    /// Tries to remove two instructions at once, such as a push and its pop.
    pub(super) fn pairs(&mut self) {
        let mut a = self.best.program.count();
        if a > PAIRS {
            return;
        }
        while a > 1 {
            a -= 1;
            for b in (0..a).rev() {
                if self.best.program.count() > 2
                    && a < self.best.program.count()
                    && self.without(&|n| n == a || n == b)
                {
                    break;
                }
            }
        }
    }

    /// Tries to remove one instruction and to give one of the others a new target.
    pub(super) fn retargeted(&mut self) {
        let mut n = self.best.program.count();
        if n > RETARGETED {
            return;
        }
        while n > 0 {
            n -= 1;
            if self.best.program.count() < 2 || n >= self.best.program.count() || self.over() {
                continue;
            }
            let rest = self.left(&|i| i == n);
            let count = rest.program.count();
            let all = (0..count).flat_map(|n| (0..=count).map(move |to| (n, to)));
            for program in all.flat_map(|(n, to)| rest.program.retargeted(n, to)) {
                let candidate = Case {
                    program,
                    ..rest.clone()
                };
                if self.attempt_with(candidate, 1) {
                    break;
                }
            }
        }
    }

    /// Tries to replace the draws by a table with the same bits.
    pub(super) fn table(&mut self) {
        let conditions = &self.best.conditions;
        if !conditions.are_drawn() || self.best.noise_cycles.is_some() {
            return;
        }
        let steps = self.history.steps.len() as u64;
        let seed = self.best.seed;
        if steps * u64::from(self.best.lanes) > DRAWS {
            return;
        }
        let rows = (0..self.best.lanes)
            .flat_map(|lane| (0..=steps).map(move |k| (lane, k)))
            .map(|(lane, k)| Row {
                lane,
                k,
                bits: conditions.draw(seed, lane, k, 16),
            })
            .filter(|row| row.bits != 0);
        let table = Table::from(rows.collect::<Vec<_>>());
        self.edited(|case| case.conditions = Conditions::Table(table));
    }

    /// Returns the lanes of the best case, if its conditions are a table.
    pub(super) fn by_lane(&self) -> Option<Vec<Lane>> {
        let Conditions::Table(table) = &self.best.conditions else {
            return None;
        };
        let mask = self.best.launch_mask;
        let begins = |lane: u32| {
            if self.best.start.is_empty() {
                0
            } else {
                lane as usize
            }
        };
        let mut lanes: Vec<_> = (0..self.best.lanes)
            .map(|lane| (mask >> lane & 1 == 1, Vec::new(), begins(lane)))
            .collect();
        for row in table.rows() {
            lanes.get_mut(row.lane as usize)?.1.push((row.k, row.bits));
        }
        Some(lanes)
    }

    /// Returns the best case with its lanes replaced by `lanes`.
    pub(super) fn with_lanes(&self, lanes: &[Lane]) -> Case<U> {
        let mut case = self.best.clone();
        case.lanes = lanes.len() as u32;
        case.launch_mask = 0;
        let mut rows = Vec::new();
        let begin: Vec<usize> = lanes.iter().map(|(_, _, begin)| *begin).collect();
        case.start = case.start.iter().map(|s| s.of_lanes(&begin)).collect();
        for (lane, (launched, draws, _)) in (0..).zip(lanes) {
            case.launch_mask |= u64::from(*launched) << lane;
            rows.extend(draws.iter().map(|(k, bits)| Row {
                lane,
                k: *k,
                bits: *bits,
            }));
        }
        case.conditions = Conditions::Table(Table::from(rows));
        case
    }

    /// Tries to reduce the case to [`LANES`] lanes, if it has more and the RTL can have so few. Returns true if it has at most
    /// [`LANES`] then.
    pub(super) fn few_lanes(&mut self, other: &impl Fn(u32) -> Result<Rtl<U>, String>) -> bool {
        let few = few::<U>();
        if self.best.lanes <= few || self.over() {
            return false;
        }
        let there = self.search.has(few) || other(few).and_then(|rtl| self.search.add(rtl)).is_ok();
        if there {
            self.lanes();
        }
        self.best.lanes <= few
    }

    /// Tries to reduce the case to [`LANES`] lanes, for which there is a model.
    pub(super) fn lanes(&mut self) {
        let few = few::<U>() as usize;
        let Some(mut lanes) = self.by_lane().filter(|_| self.best.noise_cycles.is_none()) else {
            let mut candidate = self.best.clone();
            candidate.lanes = few as u32;
            candidate.launch_mask = u64::MAX >> (64 - few);
            if let Some(cycles) = &mut candidate.noise_cycles {
                *cycles = (*cycles).max(2048);
            }
            // The lane that failed and its neighbours.
            let all = self.best.lanes as usize;
            let failed = self.search.best.place().element().unwrap_or(0);
            let chosen: Vec<usize> = (0..few).map(|n| (failed + n) % all).collect();
            candidate.start = candidate
                .start
                .iter()
                .map(|s| s.of_lanes(&chosen))
                .collect();
            // A state that splits other lanes may be illegal for these.
            let build = candidate.clone();
            candidate.start.retain(|s| s.check(&build).is_ok());
            if !self.attempt_with(candidate.clone(), MANY_SEEDS) {
                candidate.launch_mask &= self.best.launch_mask;
                self.attempt_with(candidate, MANY_SEEDS);
            }
            return;
        };
        let wavefronts = U::DECLARATION.wavefronts as usize;
        if wavefronts > 1 {
            // The same number of each wavefront: the first ones, then any.
            let each = Wavefronts::of::<U>(lanes.len()).lanes;
            for n in 0..MANY_SEEDS {
                let chosen = (0..few).map(|i| {
                    let (wavefront, lane) = (i * wavefronts / few, i % (few / wavefronts));
                    let any = draw_word(n, i as u32, n) as usize % each;
                    let lane = if n == 0 { lane } else { any };
                    lanes[wavefront * each + lane].clone()
                });
                if self.attempt(self.with_lanes(&chosen.collect::<Vec<_>>())) {
                    return;
                }
            }
            return;
        }
        if self.attempt(self.with_lanes(&lanes[..few])) {
            return;
        }
        // Each kind of lane once.
        let kinds = |lanes: &[Lane]| {
            let mut kinds = lanes.to_vec();
            kinds.sort();
            kinds.dedup();
            kinds
        };
        // First all lanes as copies of one of them, then each lane as a copy of an earlier one.
        for kind in kinds(&lanes) {
            let candidate = self.with_lanes(&vec![kind; lanes.len()]);
            if self.attempt(candidate) {
                break;
            }
        }
        lanes = self.by_lane().unwrap_or(lanes);
        for lane in 0..lanes.len() {
            for kind in kinds(&lanes[..lane]).into_iter().rev() {
                if kind == lanes[lane] {
                    break;
                }
                let old = std::mem::replace(&mut lanes[lane], kind);
                if self.attempt(self.with_lanes(&lanes)) {
                    break;
                }
                lanes[lane] = old;
            }
        }
        let kinds = kinds(&lanes);
        for again in 0..kinds.len().min(few) {
            let mut chosen: Vec<_> = kinds.iter().take(few).cloned().collect();
            chosen.resize(few, kinds[again].clone());
            if self.attempt(self.with_lanes(&chosen)) {
                return;
            }
        }
        // Any LANES lanes, chosen at random.
        for n in 0..MANY_SEEDS {
            let chosen: Vec<_> = (0..)
                .take(few)
                .map(|i| lanes[draw_word(n + 1, i, n) as usize % lanes.len()].clone())
                .collect();
            if self.attempt(self.with_lanes(&chosen)) {
                return;
            }
        }
    }

    /// Tries to remove rows of the table, and bits in them.
    pub(super) fn rows(&mut self) {
        let Conditions::Table(table) = &self.best.conditions else {
            return;
        };
        let mut rows = table.rows();
        let mut size = rows.len();
        while size > 0 {
            let mut end = rows.len();
            while end > 0 {
                let from = end.saturating_sub(size);
                let mut fewer = rows.clone();
                fewer.drain(from..end);
                if self.edited(|c| c.conditions = Conditions::Table(Table::from(fewer.clone()))) {
                    rows = fewer;
                }
                end = from;
            }
            size /= 2;
        }
        for n in 0..rows.len() {
            for bit in (0..16).rev() {
                let mut fewer = rows.clone();
                fewer[n].bits &= !(1 << bit);
                if fewer[n].bits != rows[n].bits
                    && self.edited(|c| c.conditions = Conditions::Table(Table::from(fewer.clone())))
                {
                    rows = fewer;
                }
            }
        }
    }

    /// Tries to begin with the launch; otherwise in a single preloaded state, simplified as far as possible.
    pub(super) fn start(&mut self) {
        if self.best.start.is_empty() || self.edited(|case| case.start.clear()) {
            return;
        }
        if let Some(start) = self
            .history
            .start
            .clone()
            .filter(|_| self.best.start.len() > 1)
        {
            self.edited(|case| case.start = vec![start]);
        }
        let mut next = 0;
        while !self.over() && self.best.start.len() == 1 {
            let all = self.best.start[0].simpler();
            let Some(start) = all.get(next).cloned() else {
                return;
            };
            if !self.edited(|case| case.start = vec![start]) {
                next += 1;
            }
        }
    }

    /// Tries to launch all lanes.
    pub(super) fn masks(&mut self) {
        self.edited(|case| case.launch_mask = u64::MAX >> (64 - case.lanes));
    }

    /// Tries to simplify registers, constants and fields of instructions.
    pub(super) fn simpler(&mut self) {
        if self.best.program.count() > SIMPLER {
            return;
        }
        // The simpler variants of a new program come in the same order, so continue at the present position.
        let mut next = 0;
        while !self.over() {
            let all = self.best.program.simpler();
            let Some(program) = all.get(next) else {
                return;
            };
            let program = program.clone();
            let seeds = if self.best.noise_cycles.is_some() {
                2
            } else {
                1
            };
            let candidate = Case {
                program,
                ..self.best.clone()
            };
            if !self.attempt_with(candidate, seeds) {
                next += 1;
            }
        }
    }

    /// Tries seeds to make a case that stays noisy as short as possible.
    pub(super) fn short_noise(&mut self) {
        let Some(_) = self.best.noise_cycles else {
            return;
        };
        let seed = self.best.seed;
        for n in 0..4 * MANY_SEEDS {
            let cycles = self.search.best.cycle();
            if cycles < 4 {
                return;
            }
            let mut candidate = self.best.clone();
            // Accept only a shorter case.
            candidate.noise_cycles = Some(cycles);
            candidate.seed = if n == 0 {
                1
            } else {
                (draw_word(seed, 1, n) >> 32).max(1)
            };
            self.attempt_with(candidate, 1);
        }
    }
}
