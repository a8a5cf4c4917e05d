"""The plan as a shell script: the very calls that apply_cleanup sends, in the cloud's own CLI. We never run it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from clouds.models import Call, Scope
from clouds.models.removal import From
from tools.cleanup.records import CleanupPlan, PlannedFinding, PlannedStep, needed, words
from tools.inert import NAME, one_line
from tools.waste.report.words import plan_words

Command = Callable[[Call, Scope], tuple[Any, ...]]
Query = Callable[[str], tuple[str, ...]]
_HEAD = """#!/usr/bin/env bash
# Cleanup plan {plan} of scan {scan}, made {created}.
#
# READ EVERY LINE BEFORE RUNNING THIS.
# modelrig wrote this file and did not run it. It does not read the resources again before it removes them, as
# apply_cleanup does: what has come into use since {created} is removed all the same.
# Findings: {findings}. {saving}{refused}
set -euo pipefail

# wait_until SECONDS DONE FAILED COMMAND...: until the command prints DONE ("*": anything); for "gone", nothing or
# that it is not found.
wait_until() {{
  local missing='NotFound|NOT_FOUND|NoSuch|[Nn]ot found|ould not find|annot find|does not exist'
  local seconds="$1" wanted="$2" bad="$3" said="" ok="" end
  shift 3
  end=$(( $(date +%s) + seconds ))
  while :; do
    ok=""
    if said="$("$@" 2>&1)"; then ok=1; else
      if [[ "$wanted" == gone* && "$said" =~ $missing ]]; then
        return 0
      fi
      said=""
    fi
    [[ "$said" == "None" ]] && said=""
    if [[ "$wanted" == gone* ]]; then
      [[ -z "$said" && -n "$ok" ]] && return 0
      [[ -n "$said" && "|${{wanted#gone}}|" == *"|$said|"* ]] && return 0
    elif [[ -n "$said" && ( "$wanted" == "*" || "|$wanted|" == *"|$said|"* ) ]]; then
      return 0
    fi
    if [[ -n "$said" && -n "$bad" && "|$bad|" == *"|$said|"* ]]; then
      echo "failed: $said" >&2
      return 1
    fi
    (( $(date +%s) < end )) || {{ echo "still '$said' after $seconds s" >&2; return 1; }}
    sleep 15
  done
}}
"""


def render(
    plan: CleanupPlan,
    commands: Mapping[str, Command],
    queries: Mapping[str, Query],
    accounts: Mapping[str, Callable[[str], str]],
) -> str:
    """The whole script, by cloud: `commands` renders a call, `queries` what makes the CLI print one value, `accounts` a
    line that stops the script in any other account."""
    several = "finding was refused and is" if len(plan.refused) == 1 else "findings were refused and are"
    refused = f" {len(plan.refused)} {several} not in here." if plan.refused else ""
    parts = [
        _HEAD.format(
            plan=plan.id,
            scan=plan.scan,
            created=plan.created,
            findings=len(plan.findings),
            saving=_saving(plan),
            refused=refused,
        )
    ]
    for cloud, account in dict.fromkeys((each.cloud, each.account) for each in plan.findings):
        parts += ["", f"# Only in account {_comment(account)}.", _only(account, accounts[cloud](account))]
    for number, finding in enumerate(plan.findings, 1):
        parts += _finding(number, finding, commands[finding.cloud], queries[finding.cloud])
    if not plan.findings:
        parts.append('echo "Nothing to clean."')
    return "\n".join(parts) + "\n"


def _saving(plan: CleanupPlan) -> str:
    backups = f" {plan.backups}." if plan.backups.count else ""
    if plan.findings and plan.unpriced == len(plan.findings):
        return f"What it saves is not known.{backups}"
    unpriced = f", besides {plan.unpriced} without a price" if plan.unpriced else ""
    return f"Saves {plan_words(plan.findings)}{unpriced}.{backups}"


def _only(account: str, line: str) -> str:
    """The cloud's own question, and a sentence where its answer is no: a script that ends silently tells nobody why."""
    words = shlex.quote(f"Stopped: this shell is not signed in to {account}. Nothing was changed.")
    return f"{line} || {{ echo {words} >&2; exit 1; }}"


def _finding(number: int, finding: PlannedFinding, command: Command, query: Query) -> list[str]:
    cost = "no price is known" if finding.usd_per_month is None else plan_words((finding,))
    lines = [
        "",
        f"# {number}. {_comment(one_line(finding.name, NAME))} ({finding.check}, {_comment(finding.resource)}): {cost}",
        f"#    {_comment(finding.reason)}",
    ]
    if finding.owner:
        lines.append(f"#    It belongs to {_comment(finding.owner)}: removing it here makes that drift.")
    for step in finding.steps:
        lines += [f"# {_comment(words(step))}", *_step(number, finding, step, command, query)]
    return lines


def _step(number: int, finding: PlannedFinding, step: PlannedStep, command: Command, query: Query) -> list[str]:
    shown = [*command(step.call.call(), finding.scope)]
    wanted = sorted(needed(finding, step))
    lines = []
    if wanted:
        for path in wanted:
            lines.append(f'{_variable(number, step.name, path)}="$({_line(number, [*shown, *query(path)])})"')
            break  # one answer is enough: a call must not be sent once a path
    else:
        lines.append(_line(number, shown))
    if step.wait is not None:
        until = step.wait.until()
        goal = "gone" + "|".join(_spelt(until.gone_on)) if until.gone else "|".join(_spelt(until.done))
        look = [*command(until.call, finding.scope), *query(until.path)]
        lines.append(
            f"wait_until {int(until.seconds)} {shlex.quote(goal)} {shlex.quote('|'.join(until.failed))} "
            + _line(number, look)
        )
    return lines


def _spelt(values: tuple[str, ...]) -> list[str]:
    """Truth as the APIs say it, and as the clouds' commands print it."""
    return [each for value in values for each in ([value, value.title()] if value in ("true", "false") else [value])]


def _line(number: int, shown: list[Any]) -> str:
    return " ".join(
        f'"${_variable(number, word.step, word.path)}"' if isinstance(word, From) else _quoted(str(word))
        for word in shown
    )


def _quoted(word: str) -> str:
    """One word for the shell, on one line whatever is in it."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = "".join(
        char
        if char.isprintable() and char not in "\\'"
        else f"\\x{char.encode()[0]:02x}"
        if ord(char) < 128
        else "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "replace"))
        for char in word
    )
    return f"$'{escaped}'"


def _variable(number: int, step: str, path: str) -> str:
    return re.sub(r"\W+", "_", f"f{number}_{step}_{path}").strip("_")


def _comment(text: str) -> str:
    """Text from outside in a comment: one line, nothing that could end it."""
    return "".join(char if char.isprintable() else " " for char in text)[:500]
