//! Embedded targets that really do the work, with scripted faults.
