//! Verilates and compiles the RTL of every unit and links it. Never touches the network.

include!("src/units.rs");

macro_rules! table {
    ($($module:ident $unit:ident [$($lanes:literal $($name:ident=$value:literal)*),+];)+) => {
        const UNITS: &[(&str, &[Model])] =
            &[$((stringify!($module), &[$(($lanes, &[$((stringify!($name), $value)),*])),+])),+];
    };
}
/// Number of lanes, and the parameters whose values are not the default.
type Model = (u32, &'static [(&'static str, u32)]);
for_each_unit!(table);

fn main() {
    if let Err(message) = generate().and_then(|declared| link_models(&declared)) {
        // cargo shows only the standard error of a failed build script.
        eprintln!("\n{message}\n");
        std::process::exit(1);
    }
}

type Done = Result<(), Box<dyn std::error::Error>>;

#[cfg(feature = "rtl")]
fn var(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|e| format!("{name}: {e}"))
}

/// Generates the pins and state of each unit from its declaration, for `src/<unit>/state.rs`; returns the declarations.
fn generate() -> Result<Vec<reconverge_declaration::Declaration>, Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let units = if cfg!(feature = "units") { UNITS } else { &[] };
    let all = units.iter().map(|(unit, _)| {
        let path = format!("rtl/{unit}/design.toml");
        reconverge_declaration::Declaration::generate(&path, "::reconverge_bench")
    });
    Ok(all.collect::<Result<_, _>>()?)
}

#[cfg(not(feature = "rtl"))]
fn link_models(_: &[reconverge_declaration::Declaration]) -> Done {
    Ok(())
}

/// Compiles each unit with each of its lane counts and writes `models.rs`, the list of linked models.
#[cfg(feature = "rtl")]
fn link_models(declared: &[reconverge_declaration::Declaration]) -> Done {
    use std::fmt::Write as _;
    use std::path::PathBuf;

    let root = PathBuf::from(var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(var("OUT_DIR")?);
    for variable in verilate::VARIABLES {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    println!("cargo:rustc-env=RECONVERGE_TARGET={}", var("TARGET")?);

    hash_sources(&root)?;

    embed(&root, &out)?;

    // A packaged crate records the commit that it was made from.
    let vcs = std::fs::read_to_string(root.join(".cargo_vcs_info.json")).unwrap_or_default();
    let commit = vcs
        .split('"')
        .find(|word| word.len() == 40 && word.bytes().all(|b| b.is_ascii_hexdigit()));
    if let Some(commit) = commit {
        println!("cargo:rustc-env=RECONVERGE_COMMIT={commit}");
    }

    // docs.rs has no Verilator, and the documentation needs no model; nor does the bench of another design.
    if std::env::var_os("DOCS_RS").is_some() || !cfg!(feature = "linked") {
        println!("cargo:rustc-env=RECONVERGE_BUILT_WITH=");
        std::fs::write(
            out.join("models.rs"),
            "reconverge_bench::linked_models! {}\n",
        )?;
        return Ok(());
    }

    // The same settings as in crates/bench/src/dut, so that what is built here is used there too.
    let target = var("TARGET")?;
    let mut build = verilate::cc::Build::new();
    let debug = var("PROFILE")? == "debug";
    build.target(&target).host(&var("HOST")?);
    build.opt_level(if debug { 1 } else { 3 });
    let tools = verilate::Tools::new(&root, build, &target);
    let (verilator, compiler) = (tools.verilator_found()?.1, tools.compiler_found()?.1);
    println!("cargo:rustc-env=RECONVERGE_BUILT_WITH=Verilator {verilator}, {compiler}");
    let store = verilate::Store::trusted(&out)?;
    let mut benches = Vec::new();
    for ((unit, models), declaration) in UNITS.iter().zip(declared) {
        let assertions = declaration.probes.assertions.as_ref();
        let bench = verilate::Bench {
            text: declaration.bench_top(&declaration.probes),
            preloads: !declaration.probes.loads.is_empty(),
            from: PathBuf::from("design.toml"),
            assertions: assertions.map(|a| PathBuf::from(&a.file)),
            design: verilate::Module {
                name: declaration.top.clone(),
                lanes: declaration.lanes.as_ref().map(|l| l.parameter.clone()),
                ports: declaration.ports(),
            },
            traced: declaration.traced(),
        };
        let sources = verilate::Sources::of(
            unit,
            verilate::shim::folder(),
            &root.join("rtl").join(unit),
            bench,
        )?;
        benches.push((*unit, sources, *models));
    }
    let jobs = benches.iter().flat_map(|(unit, sources, models)| {
        models.iter().map(move |&(lanes, parameters)| {
            let named = parameters.iter().map(|(n, v)| ((*n).to_owned(), *v));
            let job = verilate::Job {
                sources,
                lanes,
                parameters: named.collect(),
                counting: false,
                assertions: debug,
            };
            (unit, job, parameters)
        })
    });
    let jobs: Vec<_> = jobs.collect();
    // The runtime takes among the longest, and needs no other job: it comes first.
    let runtime = benches.first().map(|(_, sources, _)| sources);
    let build = |number: usize| match number.checked_sub(1) {
        Some(number) => jobs[number].1.archive(&tools, &store).map(Some),
        None => runtime
            .map(|sources| verilate::archive_of_runtime(sources, &tools, &store))
            .transpose(),
    };
    let mut built = side_by_side(1 + jobs.len(), &build).into_iter();
    let runtime = built.next().transpose()?.flatten();

    let mut list = String::new();
    for ((unit, job, parameters), archive) in jobs.iter().zip(built) {
        let Some(archive) = archive? else { continue };
        let (lanes, symbol, contents) = (job.lanes, job.symbol(), archive.contents);
        println!("cargo:rustc-link-search=native={}", archive.dir.display());
        println!("cargo:rustc-link-lib=static={symbol}");
        writeln!(
            list,
            "    {unit:?} {lanes} {parameters:?}, {contents:?} {symbol};"
        )?;
        for file in archive.files.iter().chain(&job.sources.files()) {
            println!("cargo:rerun-if-changed={}", file.display());
        }
    }
    // After the models, which need the runtime: linkers read from left to right.
    if let Some(runtime) = runtime {
        println!("cargo:rustc-link-search=native={}", runtime.dir.display());
        println!("cargo:rustc-link-lib=static={}", verilate::RUNTIME);
    }
    for library in tools.libraries(&out)? {
        println!("cargo:rustc-link-lib={library}");
    }
    // Only files that changed are rewritten, so cargo rebuilds no more than necessary.
    let text = format!("reconverge_bench::linked_models! {{\n{list}}}\n");
    verilate::write_if_changed(&out.join("models.rs"), &text)?;
    Ok(())
}

/// Sets `RECONVERGE_SOURCES` to a hash of all units and of the engine, and `RECONVERGE_SOURCES_<unit>` to one of a unit and of the engine.
///
/// Besides its RTL, a unit's campaigns depend on these sources: results of a program with others are not merged. On the command they
/// do not depend.
#[cfg(feature = "rtl")]
fn hash_sources(root: &std::path::Path) -> Done {
    let src = std::fs::read_dir(root.join("src"))?;
    let src: Vec<_> = src
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    let engine = ["bench", "campaign", "declaration", "program"];
    let engine = engine.map(|name| root.join("crates").join(name).join("src"));
    for path in src.iter().chain(engine.iter().filter(|dir| dir.is_dir())) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    let hash = |units: &[&str]| {
        let wanted = |path: &&std::path::PathBuf| {
            let name = path.file_stem().unwrap_or_default();
            let of_other = UNITS
                .iter()
                .any(|(unit, _)| name == *unit && !units.contains(unit));
            name != "tests" && !of_other
        };
        let files: Vec<_> = src.iter().filter(wanted).chain(&engine).cloned().collect();
        verilate::rust_contents(&files, &root.join("Cargo.lock"))
    };
    let all: Vec<_> = UNITS.iter().map(|(unit, _)| *unit).collect();
    println!("cargo:rustc-env=RECONVERGE_SOURCES={}", hash(&all)?);
    for unit in all {
        println!(
            "cargo:rustc-env=RECONVERGE_SOURCES_{unit}={}",
            hash(&[unit])?
        );
    }
    Ok(())
}

/// Calls `work` for each number below `count`, as many in parallel as cargo has jobs; returns the results in order.
///
/// Nothing else can run while models are built, because everything that depends on this package waits for them.
#[cfg(feature = "rtl")]
fn side_by_side<T: Send>(count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    use std::sync::atomic::{AtomicUsize, Ordering};

    let jobs = std::env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok());
    let next = AtomicUsize::new(0);
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let worker = || {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            let mine = numbers.take_while(|number| *number < count);
            mine.map(|number| (number, work(number)))
                .collect::<Vec<_>>()
        };
        let workers: Vec<_> = (0..jobs.unwrap_or(1).clamp(1, count.max(1)))
            .map(|_| scope.spawn(worker))
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, done)| done).collect()
}

/// Writes `embedded.rs`: the RTL from which models are built at run time and the formal files, for use when their folder is
/// missing.
#[cfg(feature = "rtl")]
fn embed(root: &std::path::Path, out: &std::path::Path) -> Done {
    use std::fmt::Write as _;

    let mut files: Vec<String> = Vec::new();
    let units = if cfg!(feature = "units") { UNITS } else { &[] };
    for dir in units.iter().map(|(unit, _)| format!("rtl/{unit}")) {
        println!("cargo:rerun-if-changed={}", root.join(&dir).display());
        for entry in std::fs::read_dir(root.join(&dir))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let wanted = [".sv", ".f", ".toml", ".json"];
            if entry.file_type()?.is_file() && wanted.iter().any(|end| name.ends_with(end)) {
                files.push(format!("{dir}/{name}"));
            }
        }
    }
    files.sort();
    let mut text = "static FILES: &[(&str, &str)] = &[\n".to_owned();
    for file in &files {
        writeln!(
            text,
            "    ({file:?}, include_str!({:?})),",
            root.join(file).display().to_string()
        )?;
    }
    text.push_str("];\n");
    Ok(verilate::write_if_changed(&out.join("embedded.rs"), &text)?)
}
