"""modelrig: an MCP server over stdio, and the same tools from a shell.

server.py [--clouds local,aws] [--read-only] [--replay DIR]     serve MCP over stdin and stdout
server.py tools [--json]                                        list the tools
server.py call TOOL key=value ... [--json]                      call one; call TOOL --help says what it takes
server.py call scan_waste ... [--fail-on-usd AMOUNT] [--fail-on-incomplete]    a scan as a gate, for CI
server.py refresh-prices CLOUD [--bundled]                      rebuild a price table from the public price API
server.py work OPERATION                                        (internal) carry out a long operation
server.py --version                                             the version

Exit status of a call: 0 answered, 1 an error (also when it carried out not all that was asked), 2 a wrong command
line, 3 a long operation still runs, 4 it asks for confirmation and changed nothing, 130 it was interrupted. A gate of
scan_waste, with either option: 5 the findings cost AMOUNT a month or more, 6 not everything could be looked at; stderr
says why.
"""

from __future__ import annotations

import gc
import os
import sys

from tools.environment import enter, version


def main(argv: list[str]) -> int:
    """Run what the command line names; returns the exit status."""
    for name in ("stdout", "stderr"):  # what the caller closed goes nowhere
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    enter(argv)
    import clouds
    from tools.shell import arguments, helped, session_of

    options = arguments(argv)
    if options.error:
        print(options.error, file=sys.stderr)
        return 2
    if options.command in {"help", "version"}:
        return helped(options, version())
    session = session_of(options, clouds.names(), clouds.connect)
    if options.command == "work":
        from tools.shell import work

        return work(session, options.rest)
    if options.command == "refresh-prices":
        from tools.shell import refresh

        return refresh(session, options, clouds.refresh_prices)
    if options.command in {"call", "tools"}:
        from tools.shell import run

        return run(session, options)
    gc.disable()  # a collection finds nothing among imports and costs a tenth of the start; serve() turns it on again
    from tools.registry.serving import serve

    serve(session, version())
    return 0


if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        status = 130
    raise SystemExit(status)
