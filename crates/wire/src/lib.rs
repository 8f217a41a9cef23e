//! MCP envelopes, headers, the body guard and results, without I/O
