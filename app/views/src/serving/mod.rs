//! Figures of chapter 21 beside the KV laboratory: speculative decoding, a deployment that died, engines and what they leave,
//! a start-up log read line by line. The machines behind them are `vramlab-serve`'s and the models'.

pub mod engine_compare;
pub mod engine_log;
pub mod serving_case;
pub mod speculation;
