//! The journey of a governed call
