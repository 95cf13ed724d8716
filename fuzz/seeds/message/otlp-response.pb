
too many