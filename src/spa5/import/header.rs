//! The header that a graphics shader has before its code.
//!
//! Source: NVIDIA's "Shader Program Header Specification" (open-gpu-doc): 80 bytes; word 0 has SphType in bits 4:0 (1 for
//! vertex, tessellation and geometry shaders, 2 for pixel shaders), Version in 9:5, ShaderType in 13:10 (1 to 5, in this
//! order), SassVersion in 20:17 and bits 25:21 reserved; bits 31:24 of words 1 to 4 hold no more than a byte.

/// Bytes of the header.
pub(super) const BYTES: usize = 80;

/// Version of the headers that are known.
const VERSION: u32 = 3;

/// Returns what a shader is whose header these bytes begin with; `None` if they are not a header.
///
/// Raw bundles begin with a control word, which may look like word 0. Then bits 31:24 of word 3, reserved here, would be the top
/// byte of an instruction, of which none is 0.
pub(super) fn shader(bytes: &[u8]) -> Option<&'static str> {
    let (header, code) = bytes.split_at_checked(BYTES)?;
    let mut words = header
        .chunks_exact(4)
        .map(|word| super::number(word) as u32);
    let (word, word3) = (words.next()?, words.nth(2)?);
    let field = |high: u32, low: u32| word >> low & ((1 << (high - low + 1)) - 1);
    let stage = match (field(4, 0), field(13, 10)) {
        // ShaderType is left 0 by some tools.
        (1, 0) => "graphics shader",
        (1, 1) => "vertex shader",
        (1, 2) => "tessellation control shader",
        (1, 3) => "tessellation evaluation shader",
        (1, 4) => "geometry shader",
        (2, 0 | 5) => "fragment shader",
        _ => return None,
    };
    let sound = field(9, 5) == VERSION && field(25, 21) == 0 && word3 >> 24 == 0;
    (sound && !code.is_empty()).then_some(stage)
}
