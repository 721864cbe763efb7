//! Convolutional nets.
