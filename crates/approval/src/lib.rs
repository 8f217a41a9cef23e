//! What an approval binds, its states and the sealing of request states, without I/O
