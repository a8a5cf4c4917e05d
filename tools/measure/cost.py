"""What tokens cost, from a price per hour or per million tokens. Unknown prices give no figure, never $0."""

from __future__ import annotations

from clouds.models import Record

BUSY = "These costs hold only while the endpoint is kept that busy: it bills by the hour, busy or idle."


class PriceUsed(Record):
    """The price that a run was priced with, its date and source. One of hourly or per-token is there."""

    usd_per_hour: float | None = None
    usd_per_million_input: float | None = None
    usd_per_million_output: float | None = None
    as_of: str = ""
    source: str = ""
    basis: str = ""

    @property
    def hourly(self) -> bool:
        """True when what is paid for is time."""
        return self.usd_per_hour is not None


def per_million(usd_per_hour: float, tokens_per_second: float) -> float:
    """USD per million output tokens of a machine kept at this throughput: price / (tokens/s x 3,600) x 1,000,000."""
    return usd_per_hour / (tokens_per_second * 3600) * 1e6


def rate_per_dollar(usd_per_hour: float, tokens_per_second: float) -> float:
    """The inverse: tokens per second for each dollar an hour."""
    return tokens_per_second / usd_per_hour


def cost_at(price: PriceUsed | None, tokens_per_second: float | None, input_per_output: float | None) -> float | None:
    """USD per million output tokens; `input_per_output` is how many prompt tokens each output token came with.

    Where nobody counted the prompts (None) a price that has a part for them gives no cost.
    """
    if price is None:
        return None
    if price.usd_per_hour is not None:
        return per_million(price.usd_per_hour, tokens_per_second) if tokens_per_second else None
    if price.usd_per_million_output is None or (price.usd_per_million_input and input_per_output is None):
        return None
    return price.usd_per_million_output + (price.usd_per_million_input or 0.0) * (input_per_output or 0.0)


def cost_of_run(price: PriceUsed | None, seconds: float, input_tokens: int | None, output_tokens: int) -> float | None:
    """What the run itself cost, in USD. `input_tokens` None: not all were counted."""
    if price is None:
        return None
    if price.usd_per_hour is not None:
        return price.usd_per_hour * seconds / 3600
    if price.usd_per_million_output is None or (price.usd_per_million_input and input_tokens is None):
        return None
    prompts = (price.usd_per_million_input or 0.0) * (input_tokens or 0)
    return (price.usd_per_million_output * output_tokens + prompts) / 1e6
