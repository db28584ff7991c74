//! How the command shows the two kinds of cases: streams of pins and programs.

use std::path::Path;

use reconverge::assembly::Assembly as _;
use reconverge::campaign::Shrunk;
use reconverge::case::Case;
use reconverge::check::{Agreed, Judged, TestCase as _};
use reconverge::compiled::Compiled;
use reconverge::design::Design;
use reconverge::failure::Failure;
use reconverge::input::InputError;
use reconverge::quantity::counted;
use reconverge::saved::Saved;
use reconverge::show::{Run, page};
use reconverge::stream::Stream;
use reconverge::text::abridged;
use reconverge::wave;

use crate::console::Failure as Trouble;
use crate::outcome::agreed_text;
use crate::show::show;
use crate::shows::{
    End, ShowArgs, Shown, Shows, at, beside_command, replay_command, save_again, statements,
};
use crate::workers::Isolated;

impl<D: Design> Shows for Stream<D> {
    fn by_itself(&self) -> bool {
        true
    }

    fn loads(&self) -> bool {
        false
    }

    fn end(_: &Agreed<D>) -> Option<End> {
        None
    }

    fn agreed_text(&self, agreed: &Agreed<D>) -> String {
        format!(
            "{}\nlock-step    agrees: {}, {}, {}\n",
            self.name(),
            counted(agreed.compared.cycles, "cycle"),
            D::DECLARATION.extent(),
            counted(self.lanes, "lane")
        )
    }

    fn run_to_show(_: &Failure<Self>) -> Option<(Run, Vec<(u32, String)>)> {
        None
    }

    fn can_show(args: &ShowArgs, file: &str) -> Result<(), InputError> {
        args.none(file)
    }

    fn show(
        self,
        _: &ShowArgs,
        judged: Judged<Self>,
        _: &mut Isolated<Self>,
        _: &Path,
    ) -> Result<Shown<Self>, Trouble> {
        Ok(Shown {
            case: self,
            judged,
            written: Ok(()),
        })
    }

    fn small(shrunk: &Shrunk<Self>, _: bool) -> String {
        shrunk.text()
    }

    fn save_again(failure: &Failure<Self>, stem: &Path) -> Result<String, String> {
        let file = at(stem, "json");
        wave::write_whole(&file, &Saved::from(failure).to_text())?;
        Ok(format!(
            "replay  {}\n",
            replay_command(&*failure.case, &file)
        ))
    }
}

impl<U: Compiled> Shows for Case<U> {
    fn by_itself(&self) -> bool {
        self.noise_cycles.is_none() && self.start.is_empty()
    }

    fn loads(&self) -> bool {
        !self.start.is_empty()
    }

    fn end(agreed: &Agreed<U>) -> Option<End> {
        Some(End::of::<U>(agreed))
    }

    fn agreed_text(&self, agreed: &Agreed<U>) -> String {
        agreed_text(self, agreed)
    }

    fn run_to_show(failure: &Failure<Self>) -> Option<(Run, Vec<(u32, String)>)> {
        let judged = Err(failure.clone());
        let run = U::run_to_show(&failure.case, &judged, false, page::ROWS);
        Some((run, statements(&failure.case)))
    }

    fn can_show(args: &ShowArgs, _: &str) -> Result<(), InputError> {
        args.check()
    }

    fn show(
        self,
        args: &ShowArgs,
        judged: Judged<Self>,
        rtl: &mut Isolated<Self>,
        out: &Path,
    ) -> Result<Shown<Self>, Trouble> {
        show(args, self, judged, rtl, out)
    }

    fn small(shrunk: &Shrunk<Self>, run: bool) -> String {
        let case = &shrunk.failure.case;
        match run {
            true => beside_command(case) + &abridged(&case.program.to_text()),
            false => shrunk.text(),
        }
    }

    /// Writes the case, its program, and a table of conditions if it needs one.
    fn save_again(failure: &Failure<Self>, stem: &Path) -> Result<String, String> {
        save_again(&failure.case, &Saved::from(failure).to_text(), stem)
    }
}
