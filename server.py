"""modelrig: an MCP server over stdio, and the same tools from a shell.

server.py [--clouds local,aws] [--read-only] [--replay DIR]     serve MCP over stdin and stdout
server.py tools [--json]                                        list the tools
server.py call TOOL key=value ... [--json]                      call one
server.py refresh-prices CLOUD [--bundled]                      rebuild a price table from the public price API
server.py work OPERATION                                        (internal) carry out a long operation
"""

from __future__ import annotations

import gc
import sys

from tools.environment import enter, version


def main(argv: list[str]) -> int:
    """Run what the command line names; returns the exit status."""
    enter(argv)
    import clouds
    from tools.shell import arguments, session_of, usage_printed

    options = arguments(argv)
    if options.error:
        print(options.error, file=sys.stderr)
        return 2
    if options.command == "help":
        return usage_printed()
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
    raise SystemExit(main(sys.argv[1:]))
