//! What the reader sets: the form and the threads of a block; and the model's lanes and costs.

use vramlab_model::kernels::warp_reduce::{self, Cost, Form, LANES, Round};
use vramlab_units::{Args, FieldKind, FieldSpec, Map, Text, Value};

/// Steps of a warp.
pub const STEPS: usize = 5;
pub const THREADS: [u64; 6] = [32, 64, 128, 256, 512, 1024];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    pub form: Form,
    pub threads: u64,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let forms = Form::ALL.map(|form| form.name().into()).to_vec();
        let threads = THREADS.map(|n| n.to_string().into()).to_vec();
        let form = Text::new("做法", "The way it is added up");
        let count = Text::new("一个 block 的线程数", "Threads of a block");
        let step = Text::new("走到第几步", "Steps that are over");
        vec![
            FieldSpec::new("form", "", FieldKind::Choice { options: forms }, form).default_value("shuffle_down"),
            FieldSpec::new("threads_per_block", "1", FieldKind::Choice { options: threads }, count)
                .default_value("256"),
            FieldSpec::int("step", "1", 1, STEPS as i64, step).default_value(1),
        ]
    }

    pub fn from_args(args: &Args) -> Self {
        let form = Form::from_name(args.text("form")).unwrap_or(Form::ShuffleDown);
        Self { form, threads: args.text("threads_per_block").parse().unwrap_or(256) }
    }

    pub fn params(self, step: usize) -> Map {
        let values: [(&str, Value); 3] = [
            ("form", self.form.name().into()),
            ("threads_per_block", self.threads.to_string().into()),
            ("step", step.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn rounds(form: Form) -> Vec<Round> {
        warp_reduce::rounds(&start(), form)
    }

    pub fn cost(self, form: Form) -> Cost {
        warp_reduce::cost(form, self.threads)
    }

    pub fn warps(self) -> u64 {
        self.threads / LANES as u64
    }
}

/// Every lane begins with its own number.
pub fn start() -> [u64; LANES] {
    std::array::from_fn(|lane| lane as u64)
}
