//! The field-service system: ticket history, parts and manuals as MCP servers
