//! Registry, implied authority, Cedar policies and rulings, without I/O
