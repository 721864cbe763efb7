//! ResNet-50 as torchvision builds it.
