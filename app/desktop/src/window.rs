//! The window: eframe around [`App`].

use crate::native::{Native, Waker};
use std::sync::Arc;
use vramlab_shell::App;

struct Window {
    app: App,
    waker: Waker,
    /// Seconds from the start of the process to the end of the first `ui`, printed once when asked for.
    started: Option<std::time::Instant>,
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        if let Some(secs) = frame.info().cpu_usage {
            // Of the frame before this one: layout and tessellation, not painting.
            tracing::debug!("frame {:.2} ms", secs * 1e3);
        }
        if let Ok(mut guard) = self.waker.lock()
            && guard.is_none()
        {
            *guard = Some(ui.ctx().clone());
        }
        self.app.ui(ui);
        if let Some(started) = self.started.take() {
            tracing::info!("first frame after {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
        }
    }

    fn on_exit(&mut self) {
        self.app.save_progress(true);
    }

    fn persist_egui_memory(&self) -> bool {
        false
    }
}

/// Opens the window and returns when it is closed.
pub fn open(native: Native, waker: Waker, started: std::time::Instant) -> anyhow::Result<()> {
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("VRAM Lab · 显存实验台")
            .with_app_id("vramlab")
            .with_inner_size([1440.0, 900.0])
            .with_min_inner_size([320.0, 400.0])
            .with_drag_and_drop(true),
        ..Default::default()
    };
    let window = move |_cc: &eframe::CreationContext<'_>| -> Result<Box<dyn eframe::App>, _> {
        let app = App::new(Box::new(native));
        Ok(Box::new(Window { app, waker: Arc::clone(&waker), started: Some(started) }))
    };
    eframe::run_native("vramlab", options, Box::new(window)).map_err(|error| anyhow::anyhow!("{error}"))
}
