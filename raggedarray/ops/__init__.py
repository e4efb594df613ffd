"""Operations: plain functions on RaggedArrays, by the chapters of the array API standard, one family a file.

Only public functions and their bodies stand here; how they run stands in `engine`. A chapter's ``__all__`` is that of
its files, so that a new op touches the file of its family and no other.
"""
