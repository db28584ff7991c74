// THE list of units, read by build.rs as well: module, type, and which models are linked in: lanes, and
// parameters that do not have their default, in alphabetical order, as in `32 BRX=1`. Each model costs every
// build seconds, so that only the default one of each unit is linked; others are built when they are first used.
#[macro_export]
#[doc(hidden)]
macro_rules! for_each_unit {
    ($with:ident) => {
        $with! {
            r500 R500 [16];
            r700 R700 [64];
            spa5 Spa5 [32];
        }
    };
}
