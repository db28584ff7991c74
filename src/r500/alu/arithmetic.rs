//! Arithmetic of one lane, float32, rounded to nearest even after every operation.
//!
//! Source: `docs/spec/r500-alu.md`, section 3. Rust's operations on `f32` are IEEE 754 and neither fuse nor
//! flush denormals.

use super::decode::{Compare, Special};

/// Returns a * b; a factor 0 gives +0 where the product would be NaN (r500-alu-3.1-c).
pub fn mul(a: f32, b: f32) -> f32 {
    let product = a * b;
    if product.is_nan() && (a == 0.0 || b == 0.0) {
        0.0
    } else {
        product
    }
}

/// Returns a if it is less than b, otherwise b (r500-alu-3-f).
pub fn min(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// Returns a if it is greater than b, otherwise b (r500-alu-3-g).
pub fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Returns a - floor(a), never -0; NaN if a is not finite (r500-alu-3.1-d).
pub fn frc(a: f32) -> f32 {
    // Infinity - infinity is NaN. The sum turns -0 into +0.
    a - a.floor() + 0.0
}

/// Returns the result clamped to 0..1; NaN gives 0 (r500-alu-4-c).
pub fn clamp(a: f32) -> f32 {
    min(max(a, 0.0), 1.0)
}

/// Returns the result of an operation of the alpha half on one operand (r500-alu-3.1-e).
pub fn special(op: Special, a: f32) -> f32 {
    match op {
        Special::Rcp => 1.0 / a,
        Special::Rsq if a == 0.0 => 1.0 / a,
        Special::Rsq if a < 0.0 => f32::NAN,
        Special::Rsq => 1.0 / a.sqrt(),
        // These four are computed in double precision and rounded once.
        Special::Ex2 => f64::from(a).exp2() as f32,
        Special::Ln2 if a == 0.0 => f32::NEG_INFINITY,
        Special::Ln2 => f64::from(a).log2() as f32,
        Special::Sin => (std::f64::consts::TAU * f64::from(a)).sin() as f32,
        Special::Cos => (std::f64::consts::TAU * f64::from(a)).cos() as f32,
    }
}

/// Compares with zero; for NaN only "not equal" is true (r500-alu-3.1-f).
pub fn compare(op: Compare, a: f32) -> bool {
    match op {
        Compare::Equal => a == 0.0,
        Compare::Less => a < 0.0,
        Compare::GreaterOrEqual => a >= 0.0,
        Compare::NotEqual => a != 0.0,
    }
}
