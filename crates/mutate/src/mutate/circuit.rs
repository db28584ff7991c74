//! A flat netlist as Yosys writes it (`write_json`), converted bit by bit into a graph.
//!
//! What Yosys leaves undefined (`x`, a part beyond the end of its vector) is a free input here. So what is proved
//! holds for any value that a simulator or a synthesis tool chooses.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;

use super::aig::{Aig, Lit};

mod cells;
mod numbers;
mod order;
mod registers;
use cells::is_number;
pub(crate) use cells::unlike;
pub(super) use cells::{differ, extended, less, sum};
use numbers::{number, understood};

/// What `write_json` writes.
#[derive(Deserialize)]
pub(super) struct Json {
    pub modules: BTreeMap<String, Module>,
}

#[derive(Deserialize)]
pub(super) struct Module {
    #[serde(default)]
    pub ports: BTreeMap<String, JsonPort>,
    #[serde(default)]
    pub cells: BTreeMap<String, JsonCell>,
    #[serde(default)]
    memories: BTreeMap<String, JsonMemory>,
    #[serde(default)]
    netnames: BTreeMap<String, JsonName>,
}

#[derive(Deserialize)]
pub(super) struct JsonPort {
    direction: String,
    pub bits: Vec<Value>,
}

#[derive(Deserialize)]
pub(super) struct JsonCell {
    #[serde(rename = "type")]
    pub kind: String,
    parameters: HashMap<String, Value>,
    #[serde(default)]
    attributes: HashMap<String, Value>,
    #[serde(default)]
    pub port_directions: HashMap<String, String>,
    pub connections: HashMap<String, Vec<Value>>,
}

#[derive(Deserialize)]
struct JsonMemory {
    width: usize,
    start_offset: usize,
    size: usize,
}

#[derive(Deserialize)]
struct JsonName {
    hide_name: u32,
    bits: Vec<Value>,
    #[serde(flatten)]
    form: Form,
}

/// How the bits of a net are numbered in the text, and whether it is a number with a sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Form {
    /// Number of the lowest bit.
    pub offset: i64,
    /// 1: numbers fall from the lowest bit up, as in `[0:7]`.
    pub upto: u32,
    /// 1: it has a sign.
    pub signed: u32,
}

/// Bits by name.
pub type Named = Vec<(String, Vec<Lit>)>;

/// A bit: a constant, or the value of the wire with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bit {
    Is(bool),
    Wire(usize),
}

impl Bit {
    /// Returns the number of its wire, if it is not a constant.
    fn wire(self) -> Option<usize> {
        match self {
            Bit::Wire(wire) => Some(wire),
            Bit::Is(_) => None,
        }
    }
}

/// Returns the wires that a cell or a register drives with these bits.
fn driven(bits: &[Bit]) -> Result<Vec<usize>, String> {
    let wires: Option<_> = bits.iter().map(|bit| bit.wire()).collect();
    wires.ok_or_else(|| "drives a constant".to_owned())
}

#[derive(Clone, Debug, Default)]
struct Cell {
    kind: String,
    a: Vec<Bit>,
    b: Vec<Bit>,
    s: Vec<Bit>,
    y: Vec<usize>,
    /// Both operands are signed; the first is; the second is.
    signed: bool,
    a_signed: bool,
    b_signed: bool,
    /// For a read, the number of the memory.
    memory: usize,
    /// Free bits for an index beyond the vector or memory.
    beyond: Vec<Bit>,
}

impl Cell {
    /// Returns a cell without signs and without a memory.
    fn new(kind: &str, [a, b, s]: [Vec<Bit>; 3], y: Vec<usize>) -> Self {
        Cell {
            kind: kind.to_owned(),
            a,
            b,
            s,
            y,
            ..Cell::default()
        }
    }
}

#[derive(Debug)]
struct Memory {
    name: String,
    width: usize,
    size: usize,
    /// Address, enable and data of each write port, in the order in which they take effect.
    writes: Vec<(Vec<Bit>, Vec<Bit>, Vec<Bit>)>,
}

/// A flat netlist.
#[derive(Debug, Default)]
pub struct Circuit {
    /// Names of inputs and their wires.
    inputs: BTreeMap<String, Vec<usize>>,
    outputs: BTreeMap<String, Vec<Bit>>,
    names: HashMap<String, Vec<Bit>>,
    /// Those of the names whose [`Form`] is not the usual one.
    forms: HashMap<String, Form>,
    /// Cells in an order in which each comes after the cells that it needs.
    cells: Vec<Cell>,
    registers: Vec<Register>,
    memories: Vec<Memory>,
    /// Clocks of the registers and of the writes to memories, without duplicates, each with the place in the text of one that has
    /// it.
    clocks: Vec<(Bit, String)>,
    /// Asynchronous resets in the same way, and whether each is active high.
    resets: Vec<(Bit, bool, String)>,
    /// Wires that neither a cell nor a register drives.
    free: Vec<usize>,
    /// Those of them whose value Yosys leaves undefined.
    pub undefined: Vec<usize>,
    wires: usize,
    /// Immediate assertions and assumptions.
    checks: Vec<Check>,
}

/// One bit of a register.
#[derive(Debug)]
struct Register {
    /// Its output.
    q: usize,
    /// What it holds: `q` itself, unless an asynchronous reset gives `q` another value in the cycle that asserts it.
    held: usize,
    /// What it holds after the cycle.
    d: Bit,
}

/// An assertion or assumption as written in the text, without a register in between (`chformal -early`).
#[derive(Debug)]
struct Check {
    name: String,
    assumed: bool,
    holds: Bit,
    enabled: Bit,
}

/// An assertion or assumption in one cycle.
pub struct Checked<'c> {
    /// Its label.
    pub name: &'c str,
    /// It is an assumption.
    pub assumed: bool,
    pub holds: Lit,
}

/// One write port of a memory in one cycle.
#[derive(Clone)]
pub struct Write {
    pub address: Vec<Lit>,
    /// Write enable of each bit of the word.
    pub enable: Vec<Lit>,
    pub data: Vec<Lit>,
}

/// All bits of a circuit in one cycle.
#[derive(Clone)]
pub struct TimeFrame {
    values: Vec<Lit>,
    memories: Vec<Vec<Lit>>,
    /// The state after the cycle.
    pub next: Vec<Lit>,
    /// Address, enable and data of every write port of every memory.
    pub writes: Vec<Write>,
}

impl TimeFrame {
    fn get(&self, bit: Bit) -> Lit {
        match bit {
            Bit::Is(value) => value.into(),
            Bit::Wire(n) => self.values[n],
        }
    }
    fn all(&self, bits: &[Bit]) -> Vec<Lit> {
        bits.iter().map(|bit| self.get(*bit)).collect()
    }
}

struct Reader {
    wires: usize,
    /// Those that stand for `x`, and for a part beyond the end of its vector.
    undefined: Vec<usize>,
}

impl Reader {
    fn fresh_wire(&mut self) -> usize {
        self.wires += 1;
        self.wires - 1
    }
    fn fresh(&mut self) -> Bit {
        Bit::Wire(self.fresh_wire())
    }
    fn undefined(&mut self) -> Bit {
        self.undefined.push(self.wires);
        self.fresh()
    }
    fn bit(&mut self, value: &Value) -> Bit {
        match value {
            Value::Number(n) => Bit::Wire(n.as_u64().unwrap_or_default() as usize),
            Value::String(s) if s == "0" => Bit::Is(false),
            Value::String(s) if s == "1" => Bit::Is(true),
            _ => self.undefined(),
        }
    }
    fn bits(&mut self, values: &[Value]) -> Vec<Bit> {
        values.iter().map(|v| self.bit(v)).collect()
    }
    /// Returns the bits at `port` of `cell`; none if it has no such port.
    fn port(&mut self, cell: &JsonCell, port: &str) -> Vec<Bit> {
        let bits = cell.connections.get(port);
        bits.map_or(Vec::new(), |bits| self.bits(bits))
    }
}

/// Kinds of cells that [`Circuit::cell`] knows.
const KINDS: &str = "$not $pos $buf $neg $and $or $xor $xnor $add $sub $mul $eq $ne $eqx $nex $lt $le $gt $ge \
    $logic_not $logic_and $logic_or $reduce_and $reduce_or $reduce_xor $reduce_xnor $reduce_bool \
    $mux $pmux $shl $sshl $shr $sshr $shift $shiftx $memrd $memrd_v2";

impl Circuit {
    /// Reads module `top`.
    ///
    /// # Errors
    /// `text` is not the output of `write_json`; a cell is of an unknown kind; the logic has a loop.
    pub fn read(text: &str, top: &str) -> Result<Self, String> {
        let json: Json = serde_json::from_str(text).map_err(|e| format!("netlist: {e}"))?;
        let module = json.modules.get(top);
        let module = module.ok_or_else(|| format!("netlist: no module {top}"))?;
        let ports = module.ports.values().map(|port| &port.bits);
        let names = module.netnames.values().map(|net| &net.bits);
        let cells = module.cells.values().flat_map(|c| c.connections.values());
        let used = ports.chain(names).chain(cells).flatten();
        let most = used.filter_map(Value::as_u64).max();
        let mut reader = Reader {
            wires: most.map_or(0, |most| most as usize + 1),
            undefined: Vec::new(),
        };
        let mut circuit = Circuit::default();
        for (name, port) in &module.ports {
            let bits = reader.bits(&port.bits);
            if port.direction == "input" {
                let wires = bits.into_iter().filter_map(Bit::wire).collect();
                circuit.inputs.insert(name.clone(), wires);
            } else {
                circuit.outputs.insert(name.clone(), bits);
            }
        }
        for (name, net) in module.netnames.iter().filter(|(_, n)| n.hide_name == 0) {
            let bits = reader.bits(&net.bits);
            circuit.names.insert(name.clone(), bits);
            if net.form != Form::default() {
                circuit.forms.insert(name.clone(), net.form);
            }
        }
        let mut index = HashMap::new();
        for (name, memory) in &module.memories {
            if memory.start_offset != 0 {
                return Err(format!("netlist: memory {name} does not begin at 0"));
            }
            index.insert(name.clone(), circuit.memories.len());
            circuit.memories.push(Memory {
                name: name.clone(),
                width: memory.width,
                size: memory.size,
                writes: Vec::new(),
            });
        }
        circuit.cells(module, &index, &mut reader)?;
        circuit.wires = reader.wires;
        circuit.forget_unread();
        circuit.sort()?;
        circuit.load_from_before(&mut reader)?;
        circuit.undefined = reader.undefined;
        Ok(circuit)
    }

    fn cells(
        &mut self,
        module: &Module,
        memories: &HashMap<String, usize>,
        reader: &mut Reader,
    ) -> Result<(), String> {
        let mut writes = Vec::new();
        for (name, cell) in &module.cells {
            let bad = |why: &str| format!("netlist: cell {name} of kind {}: {why}", cell.kind);
            understood(cell).map_err(|why| bad(&why))?;
            let mut of = |port: &str| reader.port(cell, port);
            let memory = || {
                let id = cell.parameters.get("MEMID").and_then(Value::as_str);
                let id = id.unwrap_or_default().trim_start_matches('\\');
                let memory = memories.get(id).copied();
                memory.ok_or_else(|| bad("no such memory"))
            };
            let clocked = registers::KINDS.contains(&cell.kind.as_str());
            if clocked || matches!(cell.kind.as_str(), "$memwr" | "$memwr_v2") {
                // There is one model of a cycle for all registers and memories.
                if number(cell, "CLK_POLARITY") != 1 {
                    return Err(bad("acts at the falling edge"));
                }
                for bit in of("CLK") {
                    if !self.clocks.iter().any(|(other, _)| *other == bit) {
                        let place = cell.attributes.get("src").and_then(Value::as_str);
                        let place = place.unwrap_or(name).to_owned();
                        self.clocks.push((bit, place));
                    }
                }
            }
            match cell.kind.as_str() {
                _ if clocked => self.register(name, cell, reader).map_err(|why| bad(&why))?,
                "$assert" | "$assume" => {
                    let ([holds], [enabled]) = (&of("A")[..], &of("EN")[..]) else {
                        return Err(bad("not of one bit"));
                    };
                    self.checks.push(Check {
                        name: name.clone(),
                        assumed: cell.kind == "$assume",
                        holds: *holds,
                        enabled: *enabled,
                    });
                }
                "$memwr" | "$memwr_v2" => {
                    let order = number(cell, "PORTID").max(number(cell, "PRIORITY"));
                    writes.push((memory()?, order, (of("ADDR"), of("EN"), of("DATA"))));
                }
                kind if KINDS.split(' ').any(|known| known == kind) => {
                    let read = kind.starts_with("$memrd");
                    let [a, b, y] = if read {
                        if number(cell, "CLK_ENABLE") != 0 {
                            return Err(bad("a clocked read"));
                        }
                        [of("ADDR"), Vec::new(), of("DATA")]
                    } else {
                        [of("A"), of("B"), of("Y")]
                    };
                    let s = of("S");
                    let y = driven(&y).map_err(|why| bad(&why))?;
                    let [a_signed, b_signed] =
                        ["A_SIGNED", "B_SIGNED"].map(|p| number(cell, p) == 1);
                    let beyond = y.iter().map(|_| reader.undefined()).collect();
                    self.cells.push(Cell {
                        kind: kind.to_owned(),
                        a,
                        b,
                        s,
                        y,
                        signed: a_signed && b_signed,
                        a_signed,
                        b_signed,
                        memory: if read { memory()? } else { 0 },
                        beyond,
                    });
                }
                _ => return Err(bad("not known to the referee")),
            }
        }
        writes.sort_by_key(|(memory, order, _)| (*memory, *order));
        for (memory, _, write) in writes {
            self.memories[memory].writes.push(write);
        }
        Ok(())
    }

    /// Drops registers that nothing reads and that have no name in the text. Yosys makes some for what a clocked block
    /// writes into a memory, and no reset reaches them.
    fn forget_unread(&mut self) {
        let of_cells = self.cells.iter().flat_map(Cell::operands);
        let of_names = self.outputs.values().chain(self.names.values()).flatten();
        let of_registers = self.registers.iter().map(|r| &r.d);
        let bits = of_cells.chain(self.written()).chain(of_names);
        let mut read = vec![false; self.wires];
        for wire in bits.chain(of_registers).filter_map(|bit| bit.wire()) {
            read[wire] = true;
        }
        self.registers.retain(|r| read[r.q]);
    }

    /// Returns the bits at all write ports of memories.
    fn written(&self) -> impl Iterator<Item = &Bit> {
        let ports = self.memories.iter().flat_map(|memory| &memory.writes);
        ports.flat_map(|(address, enable, data)| address.iter().chain(enable).chain(data))
    }

    /// Returns the number of bits of the state: registers, then memories word by word.
    pub fn state_bits(&self) -> usize {
        let words = self.memories.iter().map(|m| m.width * m.size);
        self.registers.len() + words.sum::<usize>()
    }

    /// Returns how many bits of the state are registers. The bits of the memories follow them.
    pub fn register_bits(&self) -> usize {
        self.registers.len()
    }

    /// Returns which bits of the state the net or memory called `name` is; `None` if any bit of it is not state.
    pub fn places(&self, name: &str) -> Option<Vec<usize>> {
        let mut first = self.registers.len();
        for memory in &self.memories {
            let bits = memory.width * memory.size;
            if memory.name == name {
                return Some((first..first + bits).collect());
            }
            first += bits;
        }
        let register = |bit: &Bit| {
            let mut registers = self.registers.iter();
            registers.position(|r| *bit == Bit::Wire(r.q))
        };
        self.names.get(name)?.iter().map(register).collect()
    }

    /// Returns the names of all state. State with several names is listed once, under the name that lies deepest in the hierarchy.
    /// Names of ports and names that Yosys made are used only if there is no other.
    pub fn state_names(&self) -> Vec<&str> {
        let place: HashMap<usize, usize> = self.registers.iter().map(|r| r.q).zip(0..).collect();
        let place = |bit: &Bit| place.get(&bit.wire()?).copied();
        let mut found: BTreeMap<Vec<usize>, &str> = BTreeMap::new();
        let rank = |name: &str| {
            let port = self.inputs.contains_key(name) || self.outputs.contains_key(name);
            (!name.contains('$'), !port, name.matches('.').count())
        };
        for (name, bits) in &self.names {
            let places: Option<Vec<usize>> = bits.iter().map(place).collect();
            let Some(places) = places.filter(|places| !places.is_empty()) else {
                continue;
            };
            let known = found.entry(places).or_insert(name);
            // Of two equally good names, always choose the same.
            if (rank(name), std::cmp::Reverse(name.as_str()))
                > (rank(known), std::cmp::Reverse(*known))
            {
                *known = name;
            }
        }
        let memories = self.memories.iter().map(|memory| memory.name.as_str());
        found.into_values().chain(memories).collect()
    }

    /// Returns a free input for each bit of the state.
    pub fn anything(&self, aig: &mut Aig) -> Vec<Lit> {
        (0..self.state_bits()).map(|_| aig.input()).collect()
    }

    /// Returns a value for each wire, as [`Circuit::step`] takes them: free inputs for the wires that nothing drives.
    pub fn open(&self, aig: &mut Aig) -> Vec<Lit> {
        let mut free = vec![Lit::FALSE; self.wires];
        for wire in &self.free {
            free[*wire] = aig.input();
        }
        free
    }

    /// As [`Circuit::open`], with these bits on the inputs of these names.
    pub fn open_but(&self, aig: &mut Aig, inputs: &[(String, Vec<Lit>)]) -> Vec<Lit> {
        let mut free = self.open(aig);
        for (name, bits) in inputs {
            for (wire, bit) in self.input(name).into_iter().flatten().zip(bits) {
                free[*wire] = *bit;
            }
        }
        free
    }

    /// Returns the wires of input `name`.
    pub fn input(&self, name: &str) -> Option<&[usize]> {
        self.inputs.get(name).map(Vec::as_slice)
    }

    /// Returns the names of the inputs with their wires.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.inputs.iter().map(|(n, w)| (n.as_str(), w.as_slice()))
    }

    /// Returns the wire of net `name`, if it has one bit.
    pub fn wire(&self, name: &str) -> Option<usize> {
        match self.names.get(name)?[..] {
            [bit] => bit.wire(),
            _ => None,
        }
    }

    /// Returns the wires of all nets whose name ends in `ending`, each with its bit number in the net.
    pub fn ending(&self, ending: &str) -> Vec<(usize, usize)> {
        let names = self.names.iter().filter(|(n, _)| n.ends_with(ending));
        let bits = names.flat_map(|(_, bits)| bits.iter().enumerate());
        bits.filter_map(|(i, bit)| Some((bit.wire()?, i))).collect()
    }

    /// Returns the name and width of every output.
    pub fn output_widths(&self) -> impl Iterator<Item = (&str, usize)> {
        self.outputs.iter().map(|(n, b)| (n.as_str(), b.len()))
    }

    /// Returns the name and value of every output.
    pub fn outputs(&self, frame: &TimeFrame) -> Named {
        let outputs = self.outputs.iter();
        outputs
            .map(|(name, bits)| (name.clone(), frame.all(bits)))
            .collect()
    }

    /// Returns every assertion and assumption in a frame.
    pub fn checks(&self, aig: &mut Aig, frame: &TimeFrame) -> Vec<Checked<'_>> {
        let mut all = Vec::new();
        for check in &self.checks {
            let [holds, enabled] = [check.holds, check.enabled].map(|bit| frame.get(bit));
            all.push(Checked {
                name: &check.name,
                assumed: check.assumed,
                holds: aig.or(holds, !enabled),
            });
        }
        all
    }

    /// Returns the value of the net, register or memory called `name` in a frame that began in `state`.
    pub fn value(&self, name: &str, state: &[Lit], frame: &TimeFrame) -> Option<Vec<Lit>> {
        if let Some(bits) = self.names.get(name) {
            return Some(frame.all(bits));
        }
        let places = self.places(name)?;
        Some(places.iter().map(|place| state[*place]).collect())
    }

    /// Returns the names of all nets and memories.
    pub fn nets_and_memories(&self) -> impl Iterator<Item = &str> {
        let memories = self.memories.iter().map(|memory| memory.name.as_str());
        self.names.keys().map(String::as_str).chain(memories)
    }

    /// Returns how the bits of a net are numbered.
    pub fn form(&self, name: &str) -> Form {
        self.forms.get(name).copied().unwrap_or_default()
    }

    /// Returns a frame with `state` alone, before any logic is computed.
    fn still(&self, state: &[Lit]) -> TimeFrame {
        let (registers, mut words) = state.split_at(self.registers.len());
        let mut frame = TimeFrame {
            values: vec![Lit::FALSE; self.wires],
            memories: Vec::new(),
            next: Vec::new(),
            writes: Vec::new(),
        };
        for (register, value) in self.registers.iter().zip(registers) {
            frame.values[register.held] = *value;
        }
        for memory in &self.memories {
            let (own, rest) = words.split_at(memory.width * memory.size);
            frame.memories.push(own.to_vec());
            words = rest;
        }
        frame
    }

    /// Computes one cycle from `state`; `free` has a value for every wire that nothing drives.
    pub fn step(&self, aig: &mut Aig, state: &[Lit], free: &[Lit]) -> TimeFrame {
        self.step_given(aig, state, free, &HashMap::new())
    }

    /// As [`Circuit::step`], but each wire in `given` carries its value there instead of the output of the cell that drives it.
    pub fn step_given(
        &self,
        aig: &mut Aig,
        state: &[Lit],
        free: &[Lit],
        given: &HashMap<usize, Lit>,
    ) -> TimeFrame {
        let mut frame = self.still(state);
        for wire in &self.free {
            frame.values[*wire] = free[*wire];
        }
        for cell in &self.cells {
            let y = self.cell(aig, &frame, cell);
            for (wire, value) in cell.y.iter().zip(y) {
                frame.values[*wire] = given.get(wire).copied().unwrap_or(value);
            }
        }
        let mut next: Vec<Lit> = self.registers.iter().map(|r| frame.get(r.d)).collect();
        for (i, memory) in self.memories.iter().enumerate() {
            let mut words = frame.memories[i].clone();
            for (address, enable, data) in &memory.writes {
                let [address, enable, data] = [address, enable, data].map(|bits| frame.all(bits));
                // While nothing is written, the address is often unknown.
                let whole = enable.first();
                let whole = whole.filter(|first| enable.iter().all(|bit| bit == *first));
                let known = |bit: &Lit| whole.map_or(*bit, |enable| aig.where_holds(*enable, *bit));
                let place: Vec<Lit> = address.iter().map(known).collect();
                for (i, word) in words.chunks_mut(memory.width).enumerate() {
                    let here = is_number(aig, &place, i);
                    for ((bit, enable), data) in word.iter_mut().zip(&enable).zip(&data) {
                        let writes = aig.and(here, *enable);
                        *bit = aig.mux(writes, *data, *bit);
                    }
                }
                frame.writes.push(Write {
                    address,
                    enable,
                    data,
                });
            }
            next.extend(words);
        }
        frame.next = next;
        frame
    }

    /// Returns the clocks of all registers and memories in a frame.
    pub fn clocks(&self, frame: &TimeFrame) -> Vec<Lit> {
        self.clocks.iter().map(|(bit, _)| frame.get(*bit)).collect()
    }

    /// Tells whether the wires `told` make a difference where they first meet other logic, in two cycles with the same state
    /// and the same inputs except `told`. If they make none, everything else is the same in both cycles.
    ///
    /// A cell that reads nothing but `told` and constants is not compared; the cells that read its output beside other wires are.
    pub fn parted(&self, aig: &mut Aig, told: &[usize], a: &TimeFrame, b: &TimeFrame) -> Lit {
        let mut alone = vec![false; self.wires];
        for wire in told {
            alone[*wire] = true;
        }
        let is_alone = |alone: &[bool], bit: &Bit| matches!(bit, Bit::Wire(wire) if alone[*wire]);
        let mut parted = Vec::new();
        for cell in &self.cells {
            let bits = || cell.operands().chain(&cell.beyond);
            if !bits().any(|bit| is_alone(&alone, bit)) {
                continue;
            }
            let only = |bit: &Bit| matches!(bit, Bit::Is(_)) || is_alone(&alone, bit);
            if bits().all(only) && !cell.kind.starts_with("$memrd") {
                for wire in &cell.y {
                    alone[*wire] = true;
                }
            } else {
                for wire in &cell.y {
                    parted.push(aig.xor(a.values[*wire], b.values[*wire]));
                }
            }
        }
        // `told` may also reach a register, an output or a write port without meeting other wires.
        let ends = self.registers.iter().map(|r| &r.d);
        let ends = ends.chain(self.outputs.values().flatten());
        for bit in ends.chain(self.written()) {
            if is_alone(&alone, bit) {
                parted.push(aig.xor(a.get(*bit), b.get(*bit)));
            }
        }
        aig.any(parted)
    }
}
