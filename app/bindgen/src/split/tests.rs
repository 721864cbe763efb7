//! The cut on a program of four functions: what each part holds, and what they have in common. That both run together is
//! what the walk in the browser shows.

use super::*;

const START: u32 = 1024;

/// `run`, exported, calls `late 1` by name and `late 2` over the table; `late 1` calls `first 3`.
fn whole() -> Vec<u8> {
    let mut module = Module::default();
    let memory = module.memories.add_local(false, false, 1, None, None);
    module.exports.add("memory", memory);
    let function = |module: &mut Module, name: &str, calls: &[FunctionId]| {
        let mut builder = FunctionBuilder::new(&mut module.types, &[], &[]);
        builder.name(name.to_owned());
        for call in calls {
            builder.func_body().call(*call);
        }
        builder.finish(Vec::new(), &mut module.funcs)
    };
    let shared = function(&mut module, "first 3", &[]);
    let by_name = function(&mut module, "late 1", &[shared]);
    let by_table = function(&mut module, "late 2", &[]);
    let run = function(&mut module, "first 0", &[by_name]);
    module.exports.add("run", run);
    let table = module.tables.add_local(false, 3, Some(3), walrus::RefType::FUNCREF);
    module.exports.add("table", table);
    add_places(&mut module, table, 1, vec![shared, by_table]);
    let offset = ConstExpr::Value(Value::I32(START as i32));
    let data = module.data.add(DataKind::Active { memory, offset }, b"first words, late words".to_vec());
    module.memories.get_mut(memory).data_segments.insert(data);
    module.emit_wasm()
}

fn parts() -> (Module, Module) {
    let late = START + 13..START + 23;
    let parts = split(&whole(), &[late]).unwrap();
    (Module::from_buffer(&parts.first).unwrap(), Module::from_buffer(&parts.late).unwrap())
}

fn data(module: &Module) -> Vec<(u32, String)> {
    let place = |data: &walrus::Data| match &data.kind {
        DataKind::Active { offset: ConstExpr::Value(Value::I32(at)), .. } => *at as u32,
        other => panic!("{other:?}"),
    };
    module.data.iter().map(|data| (place(data), String::from_utf8(data.value.clone()).unwrap())).collect()
}

/// How many functions stand in the table, by their first place.
fn places(module: &Module) -> Vec<(i32, usize)> {
    let place = |element: &walrus::Element| match (&element.kind, &element.items) {
        (ElementKind::Active { offset: ConstExpr::Value(Value::I32(at)), .. }, ElementItems::Functions(ids)) => {
            (*at, ids.len())
        }
        other => panic!("{other:?}"),
    };
    module.elements.iter().map(place).collect()
}

#[test]
fn each_part_has_its_own_words_and_places() {
    let (first, late) = parts();
    assert_eq!(data(&first), [(START, "first words, ".to_owned())]);
    assert_eq!(data(&late), [(START + 13, "late words".to_owned())]);
    assert_eq!(places(&first), [(1, 1)]);
    // Place 2 as before; place 3 is new, for the function that is called by name.
    assert_eq!(places(&late), [(2, 1), (3, 1)]);
}

#[test]
fn the_first_part_calls_a_late_function_through_the_table() {
    let (first, _) = parts();
    assert_eq!(first.tables.iter().map(|table| (table.initial, table.maximum)).collect::<Vec<_>>(), [(4, Some(4))]);
    assert_eq!(first.funcs.iter_local().count(), 3, "run, the stand-in, and what both parts need");
    assert_eq!(first.imports.iter().count(), 0);
}

#[test]
fn the_late_part_takes_from_the_first_what_they_share() {
    let (first, late) = parts();
    let exports: BTreeSet<&str> = first.exports.iter().map(|export| export.name.as_str()).collect();
    let imports: Vec<&str> = late.imports.iter().map(|import| import.name.as_str()).collect();
    assert_eq!(imports.len(), 3, "a function, the memory, the table: {imports:?}");
    assert!(imports.iter().all(|name| exports.contains(name)), "{imports:?} of {exports:?}");
    assert!(late.imports.iter().all(|import| import.module == FROM));
    assert_eq!(late.exports.iter().count(), 0);
    assert_eq!(late.funcs.iter_local().count(), 2);
}

#[test]
fn short_names_differ() {
    let names: BTreeSet<String> = (0..2_000).map(short).collect();
    assert_eq!(names.len(), 2_000);
    assert!(names.iter().all(|name| name.len() <= 4));
}
