/// The golden model: what the RTL must do, one call a cycle.
#[derive(Clone, Debug)]
pub struct Golden {
    entries: Vec<(u64, u16)>,
    state: State,
}

impl Golden {
    fn show(&mut self) {
        let (mask, pc) = self.entries.last().copied().unwrap_or_default();
        self.state.full = (self.entries.len() == 4).into();
        self.state.empty = self.entries.is_empty().into();
        (self.state.mask, self.state.pc) = (mask, pc);
    }
}

impl design::Golden<Peer> for Golden {
    fn build(_build: &Build) -> Self {
        let (entries, state) = (Vec::new(), State::default());
        let mut golden = Golden { entries, state };
        golden.show();
        golden
    }

    fn cycle(&mut self, pins: &In) -> &State {
        if pins.is_reset() {
            self.entries.clear();
        } else {
            if pins.pop == 1 {
                self.entries.pop();
            }
            if pins.push == 1 {
                self.entries.push((pins.mask, pins.pc));
            }
        }
        self.show();
        &self.state
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn constrain(&self, pins: &mut In) {
        if self.state.empty == 1 {
            pins.pop = 0;
        }
        if self.state.full == 1 && pins.pop == 0 {
            pins.push = 0;
        }
    }
}
