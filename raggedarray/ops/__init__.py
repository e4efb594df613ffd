"""Operations: plain functions on RaggedArrays, one family a file.

An op has a host part (axes, validation, errors that depend on data) and a body on arrays, called through
`Kernels.call`: one dispatch and one compiled program when eager, inlined when traced.
"""
