//! Tests that hold for every unit.

/// The generic functions named, as tests of one unit; attributes before the name are those of the test.
macro_rules! test_unit {
    ($unit:ty: $($(#[$attribute:meta])* $test:ident),+ $(,)?) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $test() {
                super::$test::<$unit>();
            }
        )+
    };
}
pub(crate) use test_unit;
