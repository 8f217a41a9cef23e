//! Registry, implied authority, Cedar policies and rulings, without I/O.
//!
//! A tool call is ruled by what the **host** wrote: first the [`Registry`], then Cedar policies under its
//! ceiling. What a server says of its own tools ([`implied()`]) is shown beside the ruling, never used.
//!
//! The order of a ruling (each step can only make the answer stricter, but for `policy_may_relax`):
//!
//! 1. not in the registry, or `prohibited` there: prohibited, Cedar is not asked;
//! 2. arguments that cannot be read, or that a policy reads and Cedar cannot represent: prohibited;
//! 3. Cedar action `call`: an error or no permit: prohibited;
//! 4. Cedar action `call_unattended`: an error: prohibited; allowed and the registry says automatic: automatic;
//! 5. everything else: requires approval.
//!
//! Nothing here does I/O, logs, or asks for the time.

mod action;
mod authorizer;
mod check;
mod context;
mod decide;
mod digest;
mod entity;
mod implied;
mod matrix;
mod policy;
mod principal;
mod reads;
mod registry;
mod rule;
mod ruling;
mod shape;
mod slice;

pub use action::{Action, Question, Target};
pub use authorizer::{Authorizer, AuthorizerFault};
pub use check::{PolicyFinding, Severity, ToolContract};
pub use decide::Decide;
pub use implied::{Hints, implied};
pub use matrix::{Cell, Column, MatrixRow, RoleRuling, Surveyed};
pub use policy::{PolicyFault, PolicySet};
pub use principal::{Principal, PrincipalKind};
pub use registry::{Answer, Authority, Entry, Label, Registry, RegistryFault, Substitutes};
pub use ruling::{Decision, Explanation, Guardrail, PolicyRef, Reason, RegistryRef, Ruling, Verdict};
