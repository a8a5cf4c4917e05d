"""The same tools from a shell, for CI and for people without an MCP client.

Exit status: 0 answered, 1 the tool reported an error (or the polled operation failed, or not all of what was asked was
carried out), 2 the command line is wrong, 3 a long operation still runs, 4 it asked for confirmation and changed
nothing, 130 it was interrupted; with the gates --fail-on-usd AMOUNT and --fail-on-incomplete of a waste scan also 5
(the amount is reached) and 6 (not everything could be looked at). A line on stderr says what the gates found, with the
findings that have no price and so are in no amount.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clouds.errors import Cancelled, CloudError
from tools.reference import reference, switch

if TYPE_CHECKING:
    from clouds.base import Cloud
    from tools.context import Session

COMMANDS = ("call", "tools", "work", "refresh-prices", "help", "version")
ASKING = {"--help": "help", "-h": "help", "--version": "version"}
"""Asked for as an option, beside any command."""
GATED = "scan_waste"
SWITCHES = ("--read-only", "--json", "--bundled", "--fail-on-incomplete")


def _words(text: str) -> tuple[str, ...]:
    """Words separated by commas."""
    return tuple(part for part in text.split(",") if part)


def _folder(text: str) -> str:
    """A folder of recorded answers."""
    return text if Path(text).is_dir() else ""


def _amount(text: str) -> float | None:
    """An amount in US dollars a month."""
    try:
        amount = float(text)
    except ValueError:
        return None
    return amount if 0 <= amount < 1e12 else None


VALUED: dict[str, Callable[[str], Any]] = {"--clouds": _words, "--replay": _folder, "--fail-on-usd": _amount}
WAIT = 24 * 3600.0
REPLAYED = "replay"
"""The folder in the data directory that holds what replays write: ledger, scans, plans, runs."""


@dataclass(frozen=True)
class Options:
    """The command line, read. `error` says what is wrong with it."""

    command: str = "serve"
    rest: tuple[str, ...] = ()
    clouds: tuple[str, ...] = ()
    read_only: bool = False
    as_json: bool = False
    replay: str = ""
    bundled: bool = False
    fail_on_usd: float | None = None
    fail_on_incomplete: bool = False
    error: str = ""


def arguments(argv: list[str]) -> Options:
    """Read the command line by hand: argparse would cost start-up and its errors name no next step."""
    found: dict[str, Any] = {}
    rest: list[str] = []
    items = iter(argv)
    for item in items:
        name, _, value = item.partition("=")
        if name in SWITCHES:
            found[name[2:].replace("-", "_").replace("json", "as_json")] = True
        elif name in VALUED:
            value = value or next(items, "")
            read = VALUED[name](value)
            if not read and read != 0.0:
                wrong = f"does not take {value[:200]!r}" if value else "needs a value"
                return Options(error=f"{name} {wrong}: {VALUED[name].__doc__}")
            found[name[2:].replace("-", "_")] = read
        elif item in ASKING:
            rest = rest if found.get("command") == "call" else []
            return Options(ASKING[item], tuple(rest[:1]))
        elif item in COMMANDS and "command" not in found:
            found["command"] = item
        elif found.get("command") == "call" and rest and (said := switch(rest[0], item)):
            rest.append(said)
        elif item.startswith("--") or "command" not in found:
            return Options(error=f"{item!r} is not known. Usage:\n{usage()}")
        else:
            rest.append(item)
    options = Options(rest=tuple(rest), **found)
    gate = options.fail_on_usd is not None or options.fail_on_incomplete
    if gate and (options.command, *rest[:1]) != ("call", GATED):
        asked = " ".join((options.command, *rest[:1]))
        return Options(error=f"--fail-on-usd and --fail-on-incomplete are gates of `call {GATED}`, not of `{asked}`")
    return options


def usage() -> str:
    """The usage lines of server.py."""
    import __main__

    return (__main__.__doc__ or "").strip()


def helped(options: Options, version: str) -> int:
    """Print the version, the usage, or what the tool takes that was named before --help; returns the exit status."""
    if options.command == "version":
        _out(f"modelrig {version}")
        return 0
    if not options.rest:
        _out(usage())
        return 0
    from tools import NAMES, calling

    name = options.rest[0]
    if name not in NAMES:
        _print(calling.unknown_tool(name, NAMES), options)
        return 2
    _out(reference(name))
    return 0


def session_of(options: Options, known: tuple[str, ...], connect: Callable[[str, Path], Cloud]) -> Session:
    """The session that all calls of this process share.

    Where settings are wrong a command ends with a sentence; a server goes on and answers every call with it, since a
    client that loses its server shows nobody why.
    """
    from tools import faults
    from tools.context import Session
    from tools.home import home
    from tools.settings import Settings

    if options.replay:
        os.environ["MODELRIG_REPLAY"] = str(Path(options.replay).resolve())
    try:
        who = {"serve": "server", "work": "worker"}.get(options.command, "shell")
        session = Session(
            Settings.load(), _place(home(), options), known, connect, options.clouds, options.read_only, who
        )
        _ = session.clouds
        session.settings.export()
    except CloudError as error:
        words = faults.sentence(faults.fault(error))
        print(words, file=sys.stderr)
        if options.command != "serve":
            unknown = [name for name in options.clouds if name not in known]
            raise SystemExit(2 if unknown else 1) from None
        error.fix = f"{error.fix} Then start the server again: reconnect it in your client."
        nowhere = Path(os.devnull)
        return Session(Settings.load({}, nowhere), nowhere, known, connect, read_only=options.read_only, fault=error)
    return session


def _place(home: Path, options: Options) -> Path:
    """The data directory; of a replay a folder in it, so that nothing it writes is taken for real. A worker is told."""
    return home / REPLAYED if os.environ.get("MODELRIG_REPLAY") and options.command != "work" else home


def work(session: Session, rest: tuple[str, ...]) -> int:
    """Carry out one long operation, in this process."""
    from tools import calling, operations

    if len(rest) != 1:
        print("work takes one operation", file=sys.stderr)
        return 2
    return operations.run_worker(
        session.book, rest[0], lambda name, values, progress: calling.work(name, values, progress, session)
    )


def refresh(session: Session, options: Options, rebuild: Callable[..., tuple[str, ...]]) -> int:
    """Rebuild the price table of one cloud; nothing is written unless every section was read."""
    from tools import faults
    from tools.progress import Lines

    if len(options.rest) != 1:
        print("refresh-prices takes one cloud", file=sys.stderr)
        return 2
    saying = Lines()
    try:
        lines = rebuild(
            options.rest[0], session.home, bundled=options.bundled, report=lambda text: saying(text, None, None)
        )
    except CloudError as error:
        print(faults.sentence(faults.fault(error)))
        return 1
    print("\n".join(lines))
    return 0


def run(session: Session, options: Options) -> int:
    """`tools` and `call`."""
    if options.command == "tools":
        return _list_tools(options)
    from tools import NAMES, calling, leaving
    from tools import tool as tool_named
    from tools.progress import CallProgress, Lines
    from tools.registry import Effect

    if not options.rest:
        print("call needs a tool: server.py tools lists them", file=sys.stderr)
        return 2
    name, *pairs = options.rest
    if name not in NAMES:
        _print(calling.unknown_tool(name, NAMES), options)
        return 2
    wrong = [pair for pair in pairs if "=" not in pair]
    if wrong:
        print(f"{wrong[0]!r} is not key=value", file=sys.stderr)
        return 2
    given = dict(pair.split("=", 1) for pair in pairs)
    prepared = calling.prepare(tool_named(name), given, session)
    if isinstance(prepared, calling.Question):
        _print(prepared.outcome, options)
        return 4
    if isinstance(prepared, calling.Outcome):
        return _print(prepared, options)
    progress = CallProgress(Lines() if sys.stderr.isatty() or not options.as_json else None)
    here = prepared.tool.effect is Effect.READ  # what changes something outlives a terminal that is closed
    try:
        outcome = calling.carry_out(prepared, session, progress, wait=WAIT, here=here)
    except (KeyboardInterrupt, Cancelled) as stopped:
        print(leaving.words(prepared.tool, prepared.values, stopped, options.replay), file=sys.stderr)
        return leaving.INTERRUPTED
    state = outcome.structured.get("state") if "operation" in outcome.structured else None
    if state in {"queued", "running"} and not outcome.failed:
        _print(outcome, options)
        return 3
    if state in {"failed", "cancelled"}:
        asked = state == "cancelled" and bool(prepared.values.get("cancel"))  # to stop it was what was wanted
        return _print(outcome, options) if asked else _print(outcome, options) or 1
    printed = _print(outcome, options)
    # A scan that could look at nothing is an error and a gate's failure; what is no scan at all is only an error.
    return (_gate(outcome.structured, options) if "complete" in outcome.structured else 0) or printed


def _gate(answer: Mapping[str, Any], options: Options) -> int:
    """The exit status that the gates give an answer, said in a line; 0 where none is set."""
    from tools.waste.gate import exit_code, verdict

    usd, incomplete = options.fail_on_usd, options.fail_on_incomplete
    if word := verdict(answer, fail_on_usd=usd, fail_on_incomplete=incomplete):
        print(word, file=sys.stderr)
    return exit_code(answer, fail_on_usd=usd, fail_on_incomplete=incomplete)


def _list_tools(options: Options) -> int:
    if options.rest:
        print(f"tools takes no {options.rest[0]!r}", file=sys.stderr)
        return 2
    from tools.registry import FOLLOWS

    listed = (Path(__file__).parent / "tools_list.json").read_text(encoding="utf-8")
    if options.as_json:
        _out(listed)
        return 0
    for tool in json.loads(listed):  # importing the tools themselves takes five times as long
        hints = tool["annotations"]
        effect = "read" if hints["readOnlyHint"] else "destructive" if hints["destructiveHint"] else "write"
        if options.read_only and tool["name"] == FOLLOWS:
            effect = "read"  # here it stops only what reads
        if not options.read_only or effect == "read":
            _out(f"{tool['name']:22} {effect:12} {tool['description'].splitlines()[0]}")
    return 0


def _print(outcome: Any, options: Options) -> int:
    written = _out(json.dumps(outcome.structured, indent=2, ensure_ascii=False) if options.as_json else outcome.whole)
    return 0 if written and not outcome.failed else 1


def _out(text: str) -> bool:
    """False where the answer could not be written; `| head` that has seen enough is no failure."""
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left goes nowhere
        if not isinstance(error, BrokenPipeError):
            print(f"The answer could not be written: {error.strerror}.", file=sys.stderr)
            return False
    return True
