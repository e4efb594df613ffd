"""How operands meet: rows with rows, blocks with blocks, plain arrays with either."""
