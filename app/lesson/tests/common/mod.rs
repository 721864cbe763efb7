//! A small registry: tables instead of the program's slices.

use vramlab_lesson::{Registry, Shape};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

const DOC: Text = Text::new("", "");

/// One visualizer, one model, two experiments, and a font without a few characters.
pub struct Small;

fn stride() -> Vec<FieldSpec> {
    vec![
        FieldSpec::int("stride_bytes", "B", 1, 4096, DOC).default_value(4),
        FieldSpec::int("elem_bytes", "B", 1, 16, DOC).default_value(4),
    ]
}

impl Registry for Small {
    fn visualizers(&self) -> Vec<&str> {
        vec!["sector_map", "bank_grid"]
    }

    fn models(&self) -> Vec<&str> {
        vec!["coalescing"]
    }

    fn experiments(&self) -> Vec<&str> {
        vec!["strided_read/sweep", "strided_read/no_effect"]
    }

    fn check_visualizer(&self, _: &str, params: &Map) -> Result<(), FieldError> {
        Args::check(&stride(), params).map(drop)
    }

    fn check_experiment(&self, _: &str, set: &Map) -> Result<(), FieldError> {
        Args::check(&stride(), set).map(drop)
    }

    fn has_effect(&self, id: &str) -> bool {
        id == "strided_read/sweep"
    }

    fn shape_of(&self, id: &str) -> Option<Shape> {
        let series = vec!["read".to_owned(), "write".to_owned()];
        (id == "strided_read/sweep").then_some(Shape { series, n_places: 7, is_log: true })
    }

    /// Sectors of 32 aligned lanes: the 32-byte cells that the addresses `lane × stride` fall into.
    fn eval(&self, _: &str, set: &Map) -> Result<Map, FieldError> {
        let args = Args::check(&stride(), set)?;
        let cells: std::collections::BTreeSet<u64> =
            (0..32).map(|lane| lane * args.uint("stride_bytes") / 32).collect();
        Ok(Map::from_iter([
            ("sectors".to_owned(), cells.len().into()),
            ("bytes_moved".to_owned(), (32 * cells.len()).into()),
        ]))
    }

    fn answer_unit(&self, _: &str, field: &str) -> Option<String> {
        match field {
            "sectors" => Some("1".to_owned()),
            "bytes_moved" => Some("B".to_owned()),
            _ => None,
        }
    }

    fn has_glyph(&self, c: char) -> bool {
        !matches!(c, '鿫' | '🜁')
    }

    fn has_file(&self, _: &str, path: &str) -> bool {
        path == "figures/sectors.png"
    }

    fn chapters(&self) -> Vec<&str> {
        vec!["01_bottleneck", "02_access_patterns"]
    }

    fn kernels(&self) -> Vec<&str> {
        vec!["exercise_coalesce", "transpose"]
    }
}
