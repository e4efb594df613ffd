"""Kaldi's text form of a model: ``<Nnet3>``, node lines, then each component with its options and numbers in tags."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Final

import numpy as np

from .._errors import error_text
from .._typing import Array
from ._definition import Definition
from .components import TYPES, Component, Params, make_component
from .components._files import parse
from .components.composite import Composite
from .components.temporal import Tdnn, TimeHeightConvolution

TOKEN: Final = re.compile(r"<[^<>\s]+>")
HEADER: Final = ("LearningRateFactor?", "MaxChange?", "L2Regularize?", "LearningRate")
ALIASES: Final = {
    "include_varinance": "include_variance",  # as it is spelled in models
    "spec_augment_max_proportion": "specaugment_max_proportion",
    "spec_augment_max_regions": "specaugment_max_regions",
}


@dataclass
class Item:
    """One component as text: its tags with what follows them, and components inside it."""

    kind: str
    tags: dict[str, str] = field(default_factory=dict)
    inside: "list[Item]" = field(default_factory=list)


def params_from_text(text: str, /) -> dict[str, Params]:
    """The numbers of a model in Kaldi's text form: ``{component: {tag in snake case: float32 array}}``.

    Anything before ``<Nnet3>``, such as a transition model, is skipped. Components without numbers have no entry.

    >>> component = "<ComponentName> a <FixedBiasComponent> <Bias>  [ 1 2 ]\\n</FixedBiasComponent> "
    >>> params_from_text(f"<Nnet3> \\n<NumComponents> 1 \\n{component}</Nnet3> ")
    {'a': {'bias': array([1., 2.], dtype=float32)}}
    """
    by_name = {name: _params(item) for name, item in _model(text)[1].items()}
    return {name: params for name, params in by_name.items() if params}


def lines_and_components(text: str) -> tuple[str, dict[str, Component]]:
    """The node lines of a model, and its components."""
    lines, items = _model(text)
    return lines, {name: _component(item, name) for name, item in items.items()}


def to_text(net: Definition, params: Mapping[str, Params]) -> str:
    """A model as text that Kaldi reads."""
    nodes = "".join(f"{node}\n" for node in net.nodes)
    texts = [f"<ComponentName> {name} {_written(c, params.get(name, {}))}\n" for name, c in net.components.items()]
    return f"<Nnet3> \n{nodes}\n<NumComponents> {len(texts)} \n{''.join(texts)}</Nnet3> \n"


def _error(expected: str, got: object) -> ValueError:
    return ValueError(
        error_text(expected, got, "Write the model with nnet3-copy --binary=false.", op="params_from_text")
    )


def _model(text: str) -> tuple[str, dict[str, Item]]:
    start, end = text.find("<Nnet3>"), text.find("</Nnet3>")
    count = re.compile(r"<NumComponents>\s*(\d+)").search(text, max(start, 0))
    if start < 0 or end < start or count is None:
        raise _error("<Nnet3> ... <NumComponents> ... </Nnet3>", repr(text[:40]))
    tokens = _tokens(text[count.end() : end])
    items = {}
    for tag, rest in tokens:
        if tag != "ComponentName":
            raise _error("<ComponentName>", f"<{tag}>")
        kind, _ = next(tokens, ("", ""))
        items[rest.strip()] = _item(kind, tokens)
    if len(items) != int(count[1]):
        raise _error(f"{count[1]} components", len(items))
    return text[start + len("<Nnet3>") : count.start()].strip() + "\n", items


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Each tag with the text up to the next one."""
    tags = list(TOKEN.finditer(text))
    ends = [m.start() for m in tags[1:]] + [len(text)] * bool(tags)
    return iter([(m[0][1:-1], text[m.end() : end]) for m, end in zip(tags, ends, strict=True)])


def _item(kind: str, tokens: Iterator[tuple[str, str]]) -> Item:
    if kind not in TYPES and kind != "ConvolutionModel":
        raise _error("a component type", f"<{kind}>")
    item = Item(kind)
    for tag, value in tokens:
        if tag == f"/{kind}":
            return item
        if tag in TYPES or tag == "ConvolutionModel":
            item.inside.append(_item(tag, tokens))
        else:
            item.tags[_snake(tag)] = value.strip()
    raise _error(f"</{kind}>", "the end of the model")


def _snake(tag: str) -> str:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", tag).lower()
    return ALIASES.get(name, name)


def _params(item: Item) -> Params:
    if item.kind == Composite.kind:
        parts = {f"component{k}": _params(part) for k, part in enumerate(item.inside, start=1)}
        return {name: params for name, params in parts.items() if params}
    params: Params = {}
    for name in TYPES[item.kind].leaves:
        text = item.tags.get(name)
        if text is not None:
            try:
                params[name] = parse(text) if text.startswith("[") else np.asarray(float(text), np.float32)
            except ValueError:
                raise _error(f"numbers for {name} of {item.kind}", repr(text[:40])) from None
    return {name: value for name, value in params.items() if value.shape != (0,)}


def _component(item: Item, name: str) -> Component:
    cls = TYPES[item.kind]
    if cls is Composite:
        parts = tuple(_component(part, name) for part in item.inside)
        rows, count = item.tags.get("max_rows_process", "2048"), str(len(parts))
        keys = {f"component{k}": part.text() for k, part in enumerate(parts, start=1)}
        return Composite(components=parts, keys={"max-rows-process": rows, "num-components": count, **keys})
    accepted = {f.name.replace("_", "-") for f in fields(cls)} | cls.ignored
    of_component = accepted - {"keys"} - {leaf.replace("_", "-") for leaf in cls.leaves}
    tags = dict(item.tags, **{k: v for model in item.inside for k, v in model.tags.items()})
    texts = {tag.replace("_", "-"): _key_text(text) for tag, text in tags.items()}
    keys = {key: text for key, text in texts.items() if key in of_component}
    if "self-repair-config" in texts:
        keys["self-repair-scale"] = texts["self-repair-config"].split(",")[5]
    params = _params(item)
    keys |= {key: str(value) for key, value in cls.keys_of(params).items()}
    if cls is Tdnn:
        taps = len(keys["time-offsets"].split(","))
        keys["input-dim"] = str(params["linear_params"].shape[1] // taps)
        keys["output-dim"] = str(params["linear_params"].shape[0])
        keys["use-bias"] = "true" if "bias_params" in params else "false"
    if cls is TimeHeightConvolution:
        keys["offsets"] = ";".join(item.inside[0].tags["offsets"].strip("[] ").split())
    return make_component(item.kind, keys)


def _key_text(text: str) -> str:
    if text.startswith("["):
        return ",".join(text.strip("[] ").split())
    return {"T": "true", "F": "false", "": "true"}.get(text, text)


def _written(component: Component, params: Params) -> str:
    if isinstance(component, Composite):
        parts = (_written(p, params.get(f"component{k}", {})) for k, p in enumerate(component.components, start=1))
        body = [_tag(component, params, tag) for tag in HEADER]
        rows = component.keys.get("max-rows-process", "2048")
        body += [f"<MaxRowsProcess> {rows} ", f"<NumComponents> {len(component.components)} \n", *parts]
    else:
        header = HEADER if hasattr(component, "learning_rate") else ()
        body = [_tag(component, params, tag) for tag in (*header, *component.tags)]
    return f"<{component.kind}> {''.join(body)}</{component.kind}> "


def _tag(component: Component, params: Params, tag: str) -> str:
    bare = tag.rstrip("?!")
    name = _snake(bare)
    if tag.endswith("!"):
        return f"<{bare}> " if getattr(component, name) else ""
    if name in component.leaves:
        return f"<{bare}> {_numbers(params.get(name, np.zeros(0)))}"
    if bare == "Model":
        assert isinstance(component, TimeHeightConvolution)
        return _convolution(component)
    value = _value(component, bare, name)
    if tag.endswith("?") and value in (_default(component, name), *_as_whole(component, name)):
        return ""
    return f"<{bare}> {value if isinstance(value, str) else _plain(value)} "


def _value(component: Component, tag: str, name: str) -> object:
    if hasattr(component, name):
        value: object = getattr(component, name)
        return value
    written = component.keys.get(name.replace("_", "-"))
    if written is not None:
        return _plain_text(written)
    return FIXED[tag] if tag in FIXED else BY_COMPONENT[tag](component)


def _plain_text(text: str) -> str:
    return {"true": "T", "false": "F"}.get(text, text)


def _default(component: Component, name: str) -> object:
    defaults = [f.default for f in fields(component) if f.name == name and f.default is not MISSING]
    return defaults[0] if defaults else None


def _as_whole(component: Component, name: str) -> tuple[int, ...]:
    return (component.input_dim,) if name == "block_dim" else ()


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "T" if value else "F"
    if isinstance(value, tuple):
        return f"[ {''.join(f'{v} ' for v in value)}]\n"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _numbers(values: Array) -> str:
    values = np.asarray(values)
    if values.ndim == 0:
        return f"{float(values):.9g} "
    rows = [" ".join(f"{float(v):.9g}" for v in row) for row in values.reshape(-1, values.shape[-1] or 1)]
    if values.ndim == 1:
        return f" [ {rows[0] + ' ' if rows else ''}]\n"
    return " [" + "".join(f"\n  {row}" for row in rows) + " ]\n"


def _convolution(c: TimeHeightConvolution) -> str:
    pairs, required = " ".join(f"{t},{h}" for t, h in c.pairs), " ".join(str(t) for t in c.required)
    return (
        f"<Model> <ConvolutionModel> <NumFiltersIn> {c.num_filters_in} <NumFiltersOut> {c.num_filters_out} "
        f"<HeightIn> {c.height_in} <HeightOut> {c.height_out} <HeightSubsampleOut> {c.height_subsample_out} "
        f"<Offsets> [ {pairs} ]\n<RequiredTimeOffsets> [ {required} ]\n</ConvolutionModel> "
    )


def _ranks(component: Component) -> tuple[int, int]:
    count = len(component.time_offsets) if isinstance(component, Tdnn) else 1
    bias = 0 if component.leaves == ("params",) else 1
    return min(20, (component.input_dim * count + bias) // 2), min(80, (component.output_dim + 1) // 2)


def _zeros(rows: int) -> Callable[[Component], str]:
    def text(component: Component) -> str:
        width = getattr(component, "cell_dim", 0)
        return _numbers(np.zeros((rows, width))) if width else "[ ]\n"

    return text


FIXED: Final = {
    **dict.fromkeys(("Count", "OderivCount", "NumDimsSelfRepaired", "NumDimsProcessed"), "0"),
    **dict.fromkeys(("NumElementsClipped", "NumElementsZeroed", "NumElementsProcessed"), "0"),
    **dict.fromkeys(("NumZeroingBoundaries", "NumSelfRepaired", "NumBackpropped", "SelfRepairTarget"), "0"),
    "OderivRms": "[ ]\n",
    "SelfRepairProb": "[ 0 0 0 0 0 ]\n",
    "SelfRepairClippedProportionThreshold": "0.01",
    "SelfRepairScale": "1",
    "AlphaInOut": "4 4",
    "Alpha": "4",
    "Rank": "20",
    "UpdatePeriod": "4",
    "NumSamplesHistory": "2000",
    "NumMinibatchesHistory": "4",
    "UseNaturalGradient": "T",
    "MaxMemoryMb": "200",
}
"""Tags of Kaldi's own trainer, with what they hold before the first step: nothing here changes them."""

BY_COMPONENT: Final[dict[str, Callable[[Component], str]]] = {
    **dict.fromkeys(("ValueAvg", "DerivAvg"), _zeros(5)),
    "SelfRepairConfig": lambda c: f"[ 0.05 0.05 0.2 0.05 0.2 {5 * (c.keys.get('self-repair-scale', '1e-05') + ' ')}]\n",
    "RankIn": lambda c: str(_ranks(c)[0]),
    "RankOut": lambda c: str(_ranks(c)[1]),
    "RankInOut": lambda c: "{} {}".format(*_ranks(c)),
}
"""The same, where what they hold follows from the component."""
