//! Evidence rows: intent before a call, outcome after it
