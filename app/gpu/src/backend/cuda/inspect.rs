//! The compiler's findings about an edited source, with what the driver says of the loaded code.

use super::driver::Function;
use super::{Cuda, compile, content, point};
use crate::backend::PointCx;
use crate::build::{Build, Taken, for_readers};
use crate::error::RunError;
use crate::launch::Launch;
use crate::plan::PointPlan;
use crate::protocol::Job;
use std::rc::Rc;

/// Compiles `source` for the launches of a kernel, without a device: every number is the compiler's or the model's.
pub fn build(name: &str, source: &str, cc: u32, own: Option<&str>, launches: &[Launch]) -> Result<Build, RunError> {
    let mut build = Build::default();
    for launch in launches {
        let made = compile::inspect(name, source, cc, own, &defines(launch), true)?;
        if build.ptx.is_empty() {
            (build.arch, build.log) = (made.image.arch.clone(), for_readers(&made.log));
            build.ptx.clone_from(&made.ptx);
        }
        let taken = Taken::from_log(&made.log, launch).ok_or_else(|| no_entry(&launch.entry))?;
        build.entries.push(taken.with_occupancy(cc));
    }
    Ok(build)
}

/// The same for a job that asks what the compiler says, with the architecture of the facts that it was planned with.
pub fn of_job(job: &Job) -> Result<Build, RunError> {
    let (point, name, source, own) = source(job)?;
    let cc = point.vars.get("device.cc").copied().unwrap_or_default() as u32;
    build(name, source, cc, own, &point::resolve(job, point)?)
}

/// The point of a job, its source by name, and the architecture whose own instructions it uses.
fn source(job: &Job) -> Result<(&PointPlan, &str, &String, Option<&str>), RunError> {
    let point = job.plan.points.first().ok_or_else(|| content("nothing is to be launched".to_owned()))?;
    let cuda = job.kernel.cuda.as_ref().ok_or_else(|| content(format!("{} has no [cuda]", job.kernel.slug)))?;
    let source = job.sources.get(&cuda.source).ok_or_else(|| content(format!("no source {}", cuda.source)))?;
    Ok((point, &cuda.source, source, cuda.arch.as_deref()))
}

fn no_entry(entry: &str) -> RunError {
    content(format!("the kernel's source has no extern \"C\" `{entry}`"))
}

fn defines(launch: &Launch) -> Vec<String> {
    launch.define.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

impl Cuda {
    pub(super) fn inspect(&mut self, job: &Job, cx: &PointCx) -> Result<Build, RunError> {
        let (point, name, source, own) = source(job)?;
        let mut build = Build::default();
        for launch in point::resolve(job, point)? {
            cx.check()?;
            let defines = defines(&launch);
            let made = compile::inspect(name, source, self.cc, own, &defines, true)?;
            let function = Rc::new(Function::load(&made.image.bytes, &launch.entry)?);
            if launch.shared_bytes > 48 << 10 {
                function.allow_shared(launch.shared_bytes)?;
            }
            build.entries.push(self.taken(&made.log, &launch, &function)?);
            if build.ptx.is_empty() {
                (build.arch, build.log, build.ptx) = (made.image.arch, for_readers(&made.log), made.ptx);
            }
            self.functions.insert((source.clone(), launch.entry.clone(), defines), function);
        }
        Ok(build)
    }

    /// The driver's word goes before the compiler's: it is the code that runs.
    fn taken(&self, log: &str, launch: &Launch, function: &Function) -> Result<Taken, RunError> {
        let [registers, local_bytes, static_bytes] = function.takes()?;
        let threads = launch.block[0] * launch.block[1];
        let taken = Taken {
            entry: launch.entry.clone(),
            registers,
            static_bytes,
            dynamic_bytes: launch.shared_bytes,
            local_bytes,
            threads,
            spilled: Taken::from_log(log, launch).and_then(|found| found.spilled),
            driver_blocks: Some(function.blocks_per_sm(threads, launch.shared_bytes)?),
            ..Taken::default()
        };
        Ok(taken.with_occupancy(self.cc))
    }
}
