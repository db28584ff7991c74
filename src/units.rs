// THE list of units, read by build.rs as well: module, type, and the lane counts that are linked in
// (the first is the default; 4 is that of the worked examples).
macro_rules! for_each_unit {
    ($with:ident) => {
        $with! {
            r500 R500 [16, 4];
        }
    };
}
