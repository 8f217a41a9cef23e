use async_trait::async_trait;

use crate::planner::{PlanFault, Planner, RunState, Step};

/// The planner that works one field-service ticket without a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scripted;

#[async_trait]
impl Planner for Scripted {
    async fn next(&mut self, state: &RunState) -> Result<Step, PlanFault> {
        Err(PlanFault::Task { task: state.task.clone(), expected: "a ticket number such as SR-20031" })
    }
}
