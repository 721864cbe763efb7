//! Does a model fit a card, what fills it, and what to change first.
