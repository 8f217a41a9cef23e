//! Registry, implied authority, Cedar policies and rulings, without I/O.
//!
//! A call of a tool, a read of a resource, a prompt, a completion and a subscription are ruled by what the **host**
//! wrote: first the [`Registry`], then Cedar policies under its ceiling. What a server says of its own tools
//! ([`implied()`]) is shown beside the ruling, never used.
//!
//! The order of a ruling (each step can only make the answer stricter, but for `policy_may_relax`):
//!
//! 1. not in the registry, or `prohibited` there: prohibited, Cedar is not asked;
//! 2. a URI that is not the template's, arguments that cannot be read, or that a policy reads and Cedar cannot
//!    represent: prohibited;
//! 3. Cedar action `call` (`read`, `get_prompt`, `complete`, `listen`): an error or no permit: prohibited;
//! 4. `complete` and `listen`, which cannot wait for a person: automatic where the registry says so, else prohibited;
//! 5. Cedar action `call_unattended`: an error: prohibited; allowed and the registry says automatic: automatic;
//! 6. everything else: requires approval.
//!
//! To listen to changes of the gateway's own lists, the Cedar action `listen` on the gateway is enough.
//!
//! Nothing here does I/O, logs, or asks for the time.

mod action;
mod aliases;
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
mod template;

pub use action::{Action, Argument, Concern, Item, Kind, Question, Target};
pub use aliases::{AliasFault, Aliases};
pub use authorizer::{Authorizer, AuthorizerFault};
pub use check::{PolicyFinding, PromptContract, Severity, ToolContract};
pub use decide::Decide;
pub use implied::{Hints, implied};
pub use matrix::{Cell, Column, MatrixRow, RoleRuling, Surveyed};
pub use policy::{PolicyFault, PolicySet};
pub use principal::{Principal, PrincipalKind};
pub use registry::{
    Answer, Authority, Entry, Label, Prompts, Registry, RegistryFault, ResourceMatch, Resources, Substitutes,
};
pub use ruling::{Decision, Explanation, Guardrail, PolicyRef, Reason, RegistryRef, Ruling, Verdict};
pub use template::{Overlap, Template, TemplateFault, Uri, UriFault, Variables, overlaps};
