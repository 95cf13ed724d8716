//! How many rows of a list are shown.

/// How many of so many rows are shown in that many lines, and how many others a line behind them names. A single line is a row, and names none.
pub(super) const fn listed(all: usize, room: usize) -> (usize, usize) {
    match room {
        _ if all <= room => (all, 0),
        0 => (0, 0),
        1 => (1, 0),
        room => (room - 1, all - (room - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_says_that_there_are_more_without_a_row_before_it() {
        for (all, room, shown) in
            [(3, 3, (3, 0)), (3, 9, (3, 0)), (3, 2, (1, 2)), (3, 1, (1, 0)), (3, 0, (0, 0)), (0, 0, (0, 0))]
        {
            assert_eq!(listed(all, room), shown, "{all} in {room}");
        }
    }
}
