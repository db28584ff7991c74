//! Files that no unit reads and that people give all the same: each is named, with what to do instead.
//!
//! A file is recognised by its first bytes, or by its first line that is neither blank nor a comment. A format that a unit
//! reads in some of its versions (a cubin for another GPU, a dump of Evergreen) is recognised by the unit's importer.

use crate::elf::is_elf;

/// Files whose first bytes say what they are, with what to do. None has fewer than three: raw words of spa5 may begin with
/// any two.
const MAGIC: [(&[u8], &str); 17] = [
    (b"\x1f\x8b\x08", "compressed with gzip: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd: unpack it first"),
    (b"\xfd7zXZ\0", "compressed with xz: unpack it first"),
    (b"BZh", "compressed with bzip2: unpack it first"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (
        b"!<arch>\n",
        "an archive of objects: `ar x` takes them out, and each is a file of its own",
    ),
    (b"\x03\x02\x23\x07", SPIRV),
    (b"\x07\x23\x02\x03", SPIRV),
    (b"; SPIR-V", SPIRV),
    (
        b"DXBC",
        "DXBC or DXIL, an intermediate form of Direct3D: what the driver's compiler makes of it is read",
    ),
    (b"BC\xc0\xde", LLVM),
    (b"\xde\xc0\x17\x0b", LLVM),
    (b"\x50\xed\x55\xba", FATBIN),
    (b"\xb1\x43\x62\x46", FATBIN),
    (
        b"\xcf\xfa\xed\xfe",
        "a program of macOS, with no GPU code that is read here",
    ),
    (
        b"\xca\xfe\xba\xbe",
        "a program of macOS, with no GPU code that is read here",
    ),
    (b"\x89PNG", "a picture"),
];

const UTF16: &str = "UTF-16 text; save it as UTF-8";
const SPIRV: &str = "SPIR-V, an intermediate form: what the driver's compiler makes of it is read";
const LLVM: &str = "LLVM IR, an intermediate form: for r700, `llc -march=r600 -mcpu=rv770 -filetype=obj` makes an object of it; for spa5, `llc -march=nvptx64` and then `ptxas -arch=sm_50` a cubin";
const FATBIN: &str = "a fat binary of CUDA: `cuobjdump -xelf all FILE` takes the cubins out, and spa5 runs those of sm_50 to sm_62";
const PTX: &str =
    "PTX, the input of ptxas: `ptxas -arch=sm_50 FILE -o k.cubin` makes a cubin, which spa5 runs";

/// Machines of host programs (`e_machine`): x86, ARM, x86-64, AArch64, RISC-V, POWER, MIPS, S/390.
const HOSTS: [u16; 9] = [3, 40, 62, 183, 243, 20, 21, 8, 22];

/// Machine of AMD's GPUs in LLVM's objects; those of 64 bits are of GCN and later.
const AMDGPU: u16 = 224;

/// Returns what a file is that no unit reads, and what to do; `None` for any other file.
pub fn foreign(bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() {
        return Some("is empty: the command that wrote it may have failed".to_owned());
    }
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(format!("is {what}"));
    }
    if is_elf(bytes) {
        return elf(bytes);
    }
    if windows(bytes).is_some() {
        let program = "a program of Windows";
        return Some(of_host(program, contains(bytes, b".nv_fatb")));
    }
    if bytes.contains(&0) {
        return utf16(bytes).then(|| format!("is {UTF16}"));
    }
    let what = text(str::from_utf8(bytes).ok()?)?;
    Some(format!("is {what}"))
}

fn elf(bytes: &[u8]) -> Option<String> {
    let machine = u16::from_le_bytes([*bytes.get(18)?, *bytes.get(19)?]);
    match machine {
        AMDGPU if bytes[4] == 2 => Some(
            "is an object for AMD's GCN or a later architecture, whose instructions are others; r700 runs those that `llc -march=r600 -mcpu=rv770 -filetype=obj` makes"
                .to_owned(),
        ),
        _ if HOSTS.contains(&machine) => Some(of_host(
            "an object or a program of the host",
            contains(bytes, b".nv_fatbin"),
        )),
        _ => None,
    }
}

fn of_host(program: &str, cubins: bool) -> String {
    match cubins {
        true => format!(
            "is {program} with CUDA code in it: `cuobjdump -xelf all FILE` takes the cubins out, and spa5 runs those of sm_50 to sm_62"
        ),
        false => format!("is {program}, with no GPU code that is read here"),
    }
}

fn contains(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window == what)
}

/// Returns the signature of a program of Windows, to which the word at byte 60 leads.
fn windows(bytes: &[u8]) -> Option<&[u8]> {
    let at = <[u8; 4]>::try_from(bytes.get(60..64)?).ok()?;
    let at = usize::try_from(u32::from_le_bytes(at)).ok()?;
    let signature = bytes.get(at..)?.get(..4)?;
    (bytes.starts_with(b"MZ") && signature == b"PE\0\0").then_some(signature)
}

/// Returns whether `bytes` are UTF-16 text, with a byte order mark or without: of the first bytes of the pairs none is 0 and
/// at least every second of the others, or the other way round.
fn utf16(bytes: &[u8]) -> bool {
    let pairs = bytes.len() / 2;
    let zeros = |from: usize| (bytes.iter().skip(from).step_by(2)).filter(|byte| **byte == 0);
    let text = |high: usize, low: usize| {
        zeros(low).next().is_none() && zeros(high).count() * 2 >= pairs && pairs > 1
    };
    bytes.len().is_multiple_of(2) && (text(1, 0) || text(0, 1))
}

/// Returns what a text is that no unit reads.
fn text(text: &str) -> Option<&'static str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with("//"))?;
    let any = |is: &dyn Fn(&str) -> bool| text.lines().any(|line| is(line.trim()));
    let begins = |what: &str| any(&|line: &str| line.starts_with(what));
    if first.starts_with(".version ") && begins(".target ") {
        return Some(PTX);
    }
    if first.starts_with("; ModuleID") || first.starts_with("source_filename =") {
        return Some(LLVM);
    }
    if first.starts_with("target datalayout") || first.starts_with("define ") && first.contains('@')
    {
        return Some(LLVM);
    }
    // A listing of Mesa's shaders may have the source in it.
    if first.starts_with("#version ") && !begins("# SLOTS") {
        return Some(
            "GLSL, a source text: what the driver's compiler makes of it is read, such as a log of RADEON_DEBUG=fp or R600_DEBUG=ps",
        );
    }
    let tgsi = ["FRAG", "VERT", "GEOM", "COMP", "TESS_CTRL", "TESS_EVAL"].contains(&first);
    if tgsi && begins("DCL ") || first.starts_with("shader: MESA_SHADER_") {
        return Some(
            "TGSI or NIR, intermediate forms of Mesa: what the driver makes of it is read, such as a log of RADEON_DEBUG=fp or R600_DEBUG=ps",
        );
    }
    let kernel = |line: &str| {
        ["__global__ ", "__kernel ", "kernel void "]
            .iter()
            .any(|word| line.starts_with(word))
    };
    if first.starts_with("#include") || first.starts_with("#pragma") || any(&kernel) {
        return Some(
            "CUDA C or OpenCL C, a source text: what a compiler makes of it is read, a cubin of `nvcc -arch=sm_50 -cubin` or an object of LLVM's r600 back end",
        );
    }
    if any(&|line: &str| line.split_whitespace().any(|word| word == "s_endpgm")) {
        return Some(
            "assembly of AMD's GCN or a later architecture, whose instructions are others; r700 reads those of R600 and R700",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(class: u8, machine: u16) -> Vec<u8> {
        let mut bytes = b"\x7fELF".to_vec();
        bytes.extend([class, 1, 1]);
        bytes.resize(18, 0);
        bytes.extend(machine.to_le_bytes());
        bytes.resize(64, 0);
        bytes
    }

    #[test]
    fn files_that_no_unit_reads_are_named() {
        let fat = [header(2, 62), b".nv_fatbin\0".to_vec()].concat();
        let utf16: Vec<u8> = "END\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut windows = b"MZ".to_vec();
        windows.resize(60, 0);
        windows.extend(b"\x40\0\0\0PE\0\0.nv_fatb");
        let big: Vec<u8> = "END\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, what) in [
            (&b""[..], "is empty"),
            (b"\x1f\x8b\x08", "is compressed with gzip"),
            (b"\xff\xfeE\0N\0", "is UTF-16 text"),
            (&utf16, "is UTF-16 text"),
            (&big, "is UTF-16 text"),
            (b"\x03\x02\x23\x07\0\0\x01\0", "is SPIR-V"),
            (b"DXBC\0\0", "is DXBC"),
            (b"BC\xc0\xde\x35", "is LLVM IR"),
            (b"\x50\xed\x55\xba\x01\0", "is a fat binary of CUDA"),
            (&fat, "is an object or a program of the host with CUDA code"),
            (
                &header(2, 62),
                "is an object or a program of the host, with no GPU code",
            ),
            (&header(2, 224), "is an object for AMD's GCN"),
            (&windows, "is a program of Windows with CUDA"),
            (
                b"//\n// made\n.version 7.0\n.target sm_50\n",
                "is PTX, the input of ptxas",
            ),
            (b"; ModuleID = 'k.ll'\n", "is LLVM IR"),
            (b"\ndefine void @k() {\n", "is LLVM IR"),
            (b"#version 150\nvoid main() {}\n", "is GLSL"),
            (b"FRAG\nDCL IN[0]\n", "is TGSI"),
            (b"#include \"kern.h\"\nKERNEL(k) {}\n", "is CUDA C"),
            (b"int n;\n__global__ void k() {}\n", "is CUDA C"),
            (
                b"  s_mov_b32 s0, 0\n  s_endpgm\n",
                "is assembly of AMD's GCN",
            ),
        ] {
            let got = foreign(bytes).unwrap_or_default();
            assert!(got.starts_with(what), "{what}: {got:?}");
        }
    }

    #[test]
    fn files_of_the_units_are_not_foreign() {
        for bytes in [
            &b"END\n"[..],
            b"; a comment\n",
            b".version\n",
            b"\0",
            b"E\0",
            b"MZ\0\0\0\0\0\0",
            // A control word may begin as UTF-16 or gzip do; a NOP follows.
            b"\xfe\xff\xc0\0\xe4\0\x1f\0\0\x0f\x07\0\0\0\xb0\x50",
            b"\x1f\x8b\x0f\0\0\0\0\0",
            b"# SLOTS\n#version 150\n",
            b"#version 150\n# SLOTS\n",
            &header(1, 224),
            &header(2, 190),
            b"\x7fELF",
        ] {
            assert_eq!(foreign(bytes), None, "{bytes:?}");
        }
    }
}
