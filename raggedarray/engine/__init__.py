"""How families of ops run: machinery that knows `RaggedArray`, and imports no op.

An op has a host part (axes, validation, errors that depend on data) and a body on arrays, called through
`Kernels.call`: one dispatch and one compiled program when eager, inlined when traced. What several ops need of either
part stands here; public functions that the engine itself needs do too, and the chapters of `ops` export them.
"""
