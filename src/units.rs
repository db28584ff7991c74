// THE list of units, read by build.rs as well: module, type, and what models are linked in: lanes, and
// parameters that do not have their default, in alphabetical order, as in `32 BRX=1` (the first lane count is the default; 4 is
// that of the worked examples).
macro_rules! for_each_unit {
    ($with:ident) => {
        $with! {
            r500 R500 [16, 4];
            r700 R700 [64, 4];
            spa5 Spa5 [32, 4, 32 BRX=1, 4 DEPTH=4];
        }
    };
}
