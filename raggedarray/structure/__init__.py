"""What can be worked out on plain arrays and partitions, without knowing `RaggedArray`.

Levels and blocks (which entry lies where), sizes read off them, views of blocks, index maps of moves along rows,
agreement of operands, and the mark of data that does not fit its capacity.
"""
