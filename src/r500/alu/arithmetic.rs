//! Arithmetic of one lane, float32, rounded to nearest even after every single operation.
//!
//! Source: `docs/spec/r500-alu.md`, section 3. Rust's operations on `f32` are IEEE 754 and neither fuse nor
//! flush denormals.

use super::decode::{Compare, Special};

/// a * b, where a factor 0 makes +0 of what would be NaN (r500-alu-3.1-c).
pub fn mul(a: f32, b: f32) -> f32 {
    let product = a * b;
    if product.is_nan() && (a == 0.0 || b == 0.0) {
        0.0
    } else {
        product
    }
}

/// a if it is less than b, else b (r500-alu-3-f).
pub fn min(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// a if it is greater than b, else b (r500-alu-3-g).
pub fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// a - floor(a), never -0; NaN for what is not finite (r500-alu-3.1-d).
pub fn frc(a: f32) -> f32 {
    // Infinity - infinity is NaN. The sum makes +0 of -0.
    a - a.floor() + 0.0
}

/// The result clamped to 0..1; NaN gives 0 (r500-alu-4-c).
pub fn clamp(a: f32) -> f32 {
    min(max(a, 0.0), 1.0)
}

/// Operations of the alpha half on one operand (r500-alu-3.1-e).
pub fn special(op: Special, a: f32) -> f32 {
    match op {
        Special::Rcp => 1.0 / a,
        Special::Rsq if a == 0.0 => 1.0 / a,
        Special::Rsq if a < 0.0 => f32::NAN,
        Special::Rsq => 1.0 / a.sqrt(),
        // These four in double precision, rounded once.
        Special::Ex2 => f64::from(a).exp2() as f32,
        Special::Ln2 if a == 0.0 => f32::NEG_INFINITY,
        Special::Ln2 => f64::from(a).log2() as f32,
        Special::Sin => (std::f64::consts::TAU * f64::from(a)).sin() as f32,
        Special::Cos => (std::f64::consts::TAU * f64::from(a)).cos() as f32,
    }
}

/// A comparison with zero; of NaN only "not equal" is true (r500-alu-3.1-f).
pub fn compare(op: Compare, a: f32) -> bool {
    match op {
        Compare::Equal => a == 0.0,
        Compare::Less => a < 0.0,
        Compare::GreaterOrEqual => a >= 0.0,
        Compare::NotEqual => a != 0.0,
    }
}
