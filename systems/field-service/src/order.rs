//! The decision of a person that an order waits for, when no gateway stands in front: a form, and a sealed state that
//! binds the answer to the caller, the arguments and the terms that were shown.

mod form;
mod seal;

#[cfg(test)]
mod tests;

pub(crate) use form::{Decision, Form, ask, read};
pub use form::{ORDER_FORM_KEY, ORDER_FORM_SCHEMA};
pub(crate) use seal::{Binding, Seal};
