//! Reconciling.
