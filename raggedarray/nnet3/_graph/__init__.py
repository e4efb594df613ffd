"""The graph of rows that a request spans: what each node needs, which rows exist, in which order they are computed."""
