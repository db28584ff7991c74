// What the worked examples hit; included by `tb/cover.rs`.

impl Worked for R500 {
    const CONDITIONS: &'static [(u32, u32, u16)] = &[(0, 0, 1), (3, 0, 1)];
    const BINS: &'static str = "";
}
impl Worked for R700 {
    const CONDITIONS: &'static [(u32, u32, u16)] = &[(0, 0, 1), (2, 0, 1)];
    const BINS: &'static str = "";
}
impl Worked for Spa5 {
    const CONDITIONS: &'static [(u32, u32, u16)] = &[(0, 0, 1), (2, 0, 1)];
    const BINS: &'static str = "";
}
