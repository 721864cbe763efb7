//! The recipes: one trained net, and what is done to it. Everything after the first training has the same number of steps.

use super::net::{Net, Widths, softmax};
use super::squeeze::{Form, Matrix, factors, store_all};
use super::task::{CLASSES, Digits, SIDE};
use crate::device::Trouble;

/// The net that is trained first, and the student.
const WIDTHS: [usize; 4] = [SIDE * SIDE, 64, 32, CLASSES];
const STUDENT: [usize; 4] = [SIDE * SIDE, 24, 16, CLASSES];
/// Rank of the factors of the first layer.
const RANK: usize = 16;
const BATCH: usize = 128;
const N_TRAIN: usize = 4096;
/// Labels that a student has where they are dear.
const N_FEW: usize = 512;
const N_TEST: usize = 4096;
const N_STEPS: usize = 500;
const N_MORE: usize = 250;
const RATE: f64 = 4e-3;
const MORE_RATE: f64 = 1.5e-3;

/// What is done to the trained net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Stored in a form, nothing else: for integers, quantisation after training (PTQ).
    Store(Form),
    /// Trained further with its stored values in the forward pass: for integers, QAT by a straight-through estimator; for
    /// pruned forms, fine-tuning under the mask of the moment.
    Tune(Form),
    /// A narrower net on so many labels, for as many steps as the teacher and the tuning took.
    Student { n_labels: usize },
    /// The same net on the teacher's answers to all pictures, without a label.
    Distilled,
    /// The first layer as two thin factors, then trained further.
    Factors,
}

impl Way {
    /// The recipes by number, as experiments name them; `bits` is for the first two.
    pub fn of(number: u64, bits: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Store(Form::Single),
            1 => Self::Store(Form::Ints(bits)),
            2 => Self::Tune(Form::Ints(bits)),
            3 => Self::Store(Form::TwoOfFour),
            4 => Self::Tune(Form::TwoOfFour),
            5 => Self::Store(Form::Kept(100)),
            6 => Self::Tune(Form::Kept(100)),
            7 => Self::Student { n_labels: N_FEW },
            8 => Self::Student { n_labels: N_TRAIN },
            9 => Self::Distilled,
            10 => Self::Factors,
            11 => Self::Store(Form::Half),
            _ => return None,
        })
    }

    fn form(self) -> Form {
        match self {
            Self::Store(form) | Self::Tune(form) => form,
            Self::Student { .. } | Self::Distilled | Self::Factors => Form::Half,
        }
    }
}

/// What came of a recipe.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Of the stored net: values, scales, indices, biases.
    pub bytes: usize,
    /// On pictures that no training saw: nats, and a share of 1.
    pub loss: f64,
    pub wrong: f64,
    /// Loss of the net as first trained, in single precision.
    pub first_loss: f64,
    /// Every stored value is one that the form can hold: storing it again changes nothing.
    pub is_stored: bool,
}

/// The stored net and pictures that it never saw.
pub struct Stored {
    net: Net,
    test: Digits,
}

impl Stored {
    /// Loss in nats and share of mistakes, by one pass over all pictures.
    pub fn examine(&mut self) -> Result<[f64; 2], Trouble> {
        self.net.examine(&self.test)
    }
}

/// The net as first trained, with the pictures that it was trained and is examined on.
pub struct Teacher {
    train: Digits,
    test: Digits,
    seed: u64,
    matrices: Vec<Matrix>,
    biases: Vec<Vec<f64>>,
    first_loss: f64,
}

/// Shares of the classes that a batch of labels asks for.
fn labels(classes: &[usize]) -> Vec<f64> {
    let mut out = vec![0.0; classes.len() * CLASSES];
    classes.iter().enumerate().for_each(|(row, class)| out[row * CLASSES + class] = 1.0);
    out
}

fn plain(of: &[usize]) -> Widths {
    Widths { of: of.to_vec(), straight: Vec::new() }
}

impl Teacher {
    /// Trains the net of `seed`.
    pub fn train(seed: u64, stop: &mut Stop<'_>) -> Result<Self, Trouble> {
        let mut this = Self {
            train: Digits::draw(seed, 1, N_TRAIN),
            test: Digits::draw(seed, 2, N_TEST),
            seed,
            matrices: Vec::new(),
            biases: Vec::new(),
            first_loss: 0.0,
        };
        let mut net = Net::new(&plain(&WIDTHS), seed)?;
        this.tune(&mut net, Plan { n_steps: N_STEPS, n_labels: N_TRAIN, rate: RATE, form: None, answers: None }, stop)?;
        [this.first_loss, _] = net.examine(&this.test)?;
        for idx in 0..net.n_layers() {
            this.matrices.push(net.matrix(idx)?);
            this.biases.push(net.biases(idx)?);
        }
        Ok(this)
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The net again, with no memory of its steps.
    fn net(&self) -> Result<Net, Trouble> {
        let mut net = Net::new(&plain(&WIDTHS), self.seed)?;
        for (idx, (matrix, biases)) in self.matrices.iter().zip(&self.biases).enumerate() {
            net.set_matrix(idx, matrix)?;
            net.set_biases(idx, biases)?;
        }
        Ok(net)
    }

    /// Steps through the training pictures in order; `form` is what the forward pass sees of the weights, and the gradient
    /// found there moves the weights behind it. `stop` is asked before every step.
    fn tune(&self, net: &mut Net, plan: Plan<'_>, stop: &mut Stop<'_>) -> Result<(), Trouble> {
        let size = SIDE * SIDE;
        for step in 0..plan.n_steps {
            stop()?;
            let first = step % (plan.n_labels / BATCH) * BATCH;
            let x = &self.train.x[first * size..(first + BATCH) * size];
            let wanted = match plan.answers {
                Some(answers) => answers[first * CLASSES..(first + BATCH) * CLASSES].to_vec(),
                None => labels(&self.train.classes[first..first + BATCH]),
            };
            let behind = plan.form.map(|form| held(net, form)).transpose()?;
            net.gradients(x, &wanted, BATCH)?;
            for (idx, matrix) in behind.into_iter().flatten().enumerate() {
                net.set_matrix(idx, &matrix)?;
            }
            let share = step as f64 / plan.n_steps as f64;
            net.update(plan.rate * 0.5 * (1.0 + (std::f64::consts::PI * share).cos()))?;
        }
        Ok(())
    }
}

/// How a net is trained.
#[derive(Clone, Copy)]
struct Plan<'a> {
    n_steps: usize,
    /// Pictures that are gone through.
    n_labels: usize,
    rate: f64,
    form: Option<Form>,
    /// Shares of the classes in the place of labels.
    answers: Option<&'a [f64]>,
}

/// Asked before every step; an error ends the training.
pub type Stop<'a> = dyn FnMut() -> Result<(), Trouble> + 'a;

/// Puts the stored values into the net and returns the ones behind them.
fn held(net: &mut Net, form: Form) -> Result<Vec<Matrix>, Trouble> {
    (0..net.n_layers())
        .map(|idx| {
            let behind = net.matrix(idx)?;
            net.set_matrix(idx, &form.store(&behind))?;
            Ok(behind)
        })
        .collect()
}

/// The trained net with its first layer as two thin ones.
fn thin(net: &mut Net, seed: u64) -> Result<Net, Trouble> {
    let [from, one, two, out] = WIDTHS;
    let mut thin = Net::new(&Widths { of: vec![from, RANK, one, two, out], straight: vec![0] }, seed)?;
    let [first, second] = factors(&net.matrix(0)?, RANK);
    thin.set_matrix(0, &first)?;
    thin.set_matrix(1, &second)?;
    for idx in 0..net.n_layers() {
        if idx > 0 {
            thin.set_matrix(idx + 1, &net.matrix(idx)?)?;
        }
        thin.set_biases(idx + 1, &net.biases(idx)?)?;
    }
    Ok(thin)
}

/// Does `way` to the teacher's net and examines what is stored.
pub fn run(way: Way, teacher: &Teacher, stop: &mut Stop<'_>) -> Result<(Outcome, Stored), Trouble> {
    let mut net = teacher.net()?;
    let seed = teacher.seed;
    let more = Plan { n_steps: N_MORE, n_labels: N_TRAIN, rate: MORE_RATE, form: None, answers: None };
    let whole = Plan { n_steps: N_STEPS + N_MORE, rate: RATE, ..more };
    match way {
        Way::Store(_) => {}
        Way::Tune(form) => teacher.tune(&mut net, Plan { form: Some(form), ..more }, stop)?,
        Way::Student { n_labels } => {
            net = Net::new(&plain(&STUDENT), seed)?;
            teacher.tune(&mut net, Plan { n_labels, ..whole }, stop)?;
        }
        Way::Distilled => {
            let answers = softmax(&net.logits(&teacher.train.x)?, CLASSES);
            net = Net::new(&plain(&STUDENT), seed)?;
            teacher.tune(&mut net, Plan { answers: Some(&answers), ..whole }, stop)?;
        }
        Way::Factors => {
            net = thin(&mut net, seed)?;
            teacher.tune(&mut net, more, stop)?;
        }
    }
    let form = way.form();
    store_all(&mut net, form)?;
    let mut bytes = 4 * net.n_biases();
    let mut is_stored = true;
    for idx in 0..net.n_layers() {
        let [rows, cols] = net.shape(idx);
        bytes += form.bytes(rows, cols);
        let stored = net.matrix(idx)?;
        let again = form.store(&stored);
        is_stored &= stored.values.iter().zip(&again.values).all(|(a, b)| (a - b).abs() <= 1e-5 * a.abs());
    }
    let mut stored = Stored { net, test: teacher.test.clone() };
    let [loss, wrong] = stored.examine()?;
    Ok((Outcome { bytes, loss, wrong, first_loss: teacher.first_loss, is_stored }, stored))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Orders that hold for any seed: after training few bits cost more, training with them less; bytes by hand.
    #[test]
    fn the_ledger_of_one_net() {
        let teacher = Teacher::train(1, &mut || Ok(())).unwrap();
        let of = |number, bits| run(Way::of(number, bits).unwrap(), &teacher, &mut || Ok(())).unwrap().0;
        let wrong = |number, bits| of(number, bits).wrong;
        let whole = of(0, 0);
        assert_eq!(whole.loss, whole.first_loss);
        // 64 · 64 + 64 · 32 + 32 · 10 weights, 106 biases.
        assert_eq!(whole.bytes, 4 * (6464 + 106));
        assert!(whole.wrong < 0.09, "{}", whole.wrong);
        let [four, two] = [of(1, 4), of(1, 2)];
        assert_eq!(four.bytes, 6464 / 2 + 202 * 2 + 4 * 106);
        assert!(whole.wrong < four.wrong && four.wrong < two.wrong && two.wrong > 0.4);
        assert!(wrong(2, 4) < four.wrong && wrong(2, 2) < two.wrong / 2.0);
        assert!(wrong(4, 0) < wrong(3, 0) / 2.0);
        assert!(wrong(9, 0) < wrong(7, 0) && four.is_stored);
    }

    #[test]
    fn a_training_can_be_stopped() {
        let mut n = 0;
        let stopped = Teacher::train(1, &mut || {
            n += 1;
            if n > 3 { Err(Trouble::Device("enough".to_owned())) } else { Ok(()) }
        });
        assert!(stopped.is_err_and(|trouble| trouble.to_string() == "enough"));
    }

    /// Prints the ledger: `cargo test -p vramlab-train ledger -- --ignored --nocapture`.
    #[test]
    #[ignore = "a minute of training, to look at"]
    fn print_the_ledger() {
        for seed in [1, 2, 3] {
            let teacher = Teacher::train(seed, &mut || Ok(())).unwrap();
            let bits = [8, 4, 3, 2].into_iter().flat_map(|bits| [(1, bits), (2, bits)]);
            for (number, bits) in
                [(0, 0), (11, 0)].into_iter().chain(bits).chain([3, 4, 5, 6, 7, 8, 9, 10].map(|n| (n, 0)))
            {
                let way = Way::of(number, bits).unwrap();
                let (got, _) = run(way, &teacher, &mut || Ok(())).unwrap();
                let (loss, wrong) = (got.loss, 100.0 * got.wrong);
                println!("{seed} {way:?}: {} B, loss {loss:.4}, wrong {wrong:.2} %, {}", got.bytes, got.is_stored);
            }
        }
    }
}
