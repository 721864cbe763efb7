//! Chapters on a phone: no card is wider than the page, also those whose last steps are long rows of words.

use super::{Desk, settings};
use egui_kittest::kittest::NodeT as _;
use vramlab_shell::settings::ThemeChoice;
use vramlab_units::Lang;

const WIDTH: f32 = 390.0;

/// Card headings, labels and controls all end within the page; a label that does not wrap widens every card below it.
#[test]
fn no_card_is_wider_than_a_phone() {
    for chapter in ["08_cases", "10_capstone"] {
        for lang in Lang::ALL {
            let desk = Desk::with(&format!("/ch/{chapter}"), &settings(lang, ThemeChoice::Light), [WIDTH, 60_000.0]);
            let controls = desk.controls();
            let beside = |rect: &egui::Rect| rect.left() < -1.0 || rect.right() > WIDTH + 1.0;
            let mut found: Vec<String> = controls
                .iter()
                .filter(|(_, rect)| beside(rect))
                .map(|(name, rect)| format!("{name} at {:.0} to {:.0}", rect.left(), rect.right()))
                .collect();
            let headings =
                desk.harness.root().children_recursive().filter(|node| {
                    node.accesskit_node().role() == egui::accesskit::Role::Heading && beside(&node.rect())
                });
            found.extend(headings.map(|node| format!("heading {:?}", node.accesskit_node().value())));
            assert!(controls.len() > 100, "{chapter}: only {} controls", controls.len());
            assert!(found.is_empty(), "{chapter} {}: {}", lang.code(), found.join("; "));
        }
    }
}
