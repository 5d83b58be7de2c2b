//! Window-synchronous execution of nodes that meet only through links
