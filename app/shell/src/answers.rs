//! How answers are judged. The truth is asked of the models at that moment; grading itself is `vramlab_lesson::answer`.

pub use vramlab_lesson::answer::{Given, Values, draw, substitute_both};
use vramlab_lesson::answer::{is_right, value_of};
use vramlab_lesson::{Form, Question, Registry};

/// A judged answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub is_right: bool,
    /// The true number, for number questions.
    pub truth: Option<f64>,
}

/// Judges `given` for the drawn parameters. An answer of another kind than the question asks for is wrong.
pub fn judge(question: &Question, given: &Given, draw: &Values, registry: &dyn Registry) -> Result<Judged, String> {
    let truth = match &question.form {
        Form::Number { answer, .. } => {
            let eval = |id: &str, set: &vramlab_units::Map| registry.eval(id, set);
            Some(value_of(answer, draw, &eval).map_err(|error| error.to_string())?)
        }
        _ => None,
    };
    Ok(Judged { is_right: is_right(&question.form, given, truth.unwrap_or_default()), truth })
}
