use serde::Serialize;

/// What happens while a model is asked. A turn begins with `Asked` and ends with `Answered` or `Failed`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelEvent {
    /// A request is about to be sent.
    Asked {
        /// The number of the turn, from 1.
        turn: usize,
        /// `anthropic` or `openai`.
        provider: &'static str,
        /// The model that is asked for.
        model: String,
        /// How many tokens its answer may have.
        max_tokens: u32,
        /// The host of the service.
        server_address: String,
        /// Its port.
        server_port: u16,
    },
    /// A piece of the model's text, as it comes.
    Said {
        /// The number of the turn.
        turn: usize,
        /// The piece.
        text: String,
    },
    /// The request will be sent again after a pause.
    Retried {
        /// The number of the turn.
        turn: usize,
        /// The number of the attempt to come, from 2.
        attempt: usize,
        /// The pause before it, in milliseconds.
        after_ms: u64,
        /// What failed.
        cause: String,
    },
    /// The model's answer came to its end.
    Answered(Answered),
    /// There is no usable answer; the run ends.
    Failed {
        /// The number of the turn.
        turn: usize,
        /// The stable code, `AG-MODEL-…`.
        code: &'static str,
        /// Why.
        text: String,
    },
}

/// One answer of a model, and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered {
    /// The number of the turn, from 1.
    pub turn: usize,
    /// `anthropic` or `openai`.
    pub provider: &'static str,
    /// The model that was asked for.
    pub request_model: String,
    /// The model that answered, as the service names it.
    pub response_model: Option<String>,
    /// The service's id of the answer.
    pub response_id: Option<String>,
    /// Why the answer ended, in the service's words.
    pub finish_reasons: Vec<String>,
    /// Tokens that went in, cached ones included, as the service reports them.
    pub input_tokens: Option<u64>,
    /// Tokens that came out, as the service reports them.
    pub output_tokens: Option<u64>,
    /// What counts against the run's budget: the reported tokens or, where one of the two is not reported, a token for
    /// every three bytes of the request or the answer.
    pub counted_tokens: u64,
    /// How many tools it calls.
    pub calls: usize,
    /// From the first attempt to the end of the answer, in milliseconds.
    pub took_ms: u64,
}
