//! Fields that are compared only while a condition holds.

use reconverge_declaration::{Declaration, Operand};

const FIFO: &str = r#"name = "fifo"
doc = "a FIFO."

[[pin]]
name = "data"
width = 8
doc = "Data."

[[state]]
name = "ready"
output = "ready_o"
sampled = true
doc = "Data are taken."

[[state]]
name = "front"
width = 8
output = "front_o"
valid = "ready == 1"
doc = "The oldest entry."

[[state]]
name = "data"
width = 8
output = "data_o"
valid = "front != 0"
doc = "A register."

[[state]]
name = "last"
width = 8
output = "last_o"
valid = "pin.data != 0 && data != 0"
doc = "A register."

[[state]]
name = "free"
width = 8
output = "free_o"
valid = "pin.data != 0"
doc = "A register."
"#;

/// Regression: such a field was compared after the first edge, although the field that hides it was sampled before it and no reset had
/// set what that depends on.
#[test]
fn a_field_that_a_sampled_one_may_hide_is_not_compared_in_the_first_cycle() {
    let fifo = Declaration::parse("x", FIFO).unwrap();
    let first = fifo.state.iter().filter(|field| !fifo.not_first(field));
    let first: Vec<&str> = first.map(|field| field.name.as_str()).collect();
    assert_eq!(first, ["free"]);
    let one = FIFO.replace("sampled = true\n", "");
    let one = Declaration::parse("x", &one).unwrap();
    assert!(!one.state.iter().any(|field| one.not_first(field)));
}

#[test]
fn what_a_falling_field_may_hide_falls_too() {
    let text = FIFO.replace("sampled = true", "falling = true");
    let fifo = Declaration::parse("x", &text).unwrap();
    let falling = fifo.falling(&fifo.probes);
    assert_eq!(falling, ["ready", "front", "data", "last"]);
}

/// A declaration that was written when conditions knew no pins stays as it is.
#[test]
fn a_name_that_a_pin_and_a_field_share_is_the_field() {
    let fifo = Declaration::parse("x", FIFO).unwrap();
    let last = fifo.field("last").unwrap().valid.as_ref().unwrap();
    let left = last.0[0]
        .iter()
        .map(|comparison| comparison.left.of.clone());
    let (pin, field) = (
        Operand::Pin("data".to_owned()),
        Operand::After("data".to_owned()),
    );
    assert_eq!(left.collect::<Vec<_>>(), [pin, field]);
}
