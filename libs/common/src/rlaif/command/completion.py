"""`rlaif completion`: a script that completes commands and their options in bash and zsh.

`eval "$(rlaif completion)"` enables it in this shell. Options are read from each command's help.
"""

import sys

from rlaif.command.table import SUBCOMMANDS

_SCRIPT = """\
[ -z "$ZSH_VERSION" ] || { autoload -U +X bashcompinit && bashcompinit; }
_rlaif() {
  local words='%s' word="${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -gt 1 ]; then
    words=
    case "$word" in -*)
      words=$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -e '--[a-z][a-z0-9.-]*[a-z0-9]' | sort -u);;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _rlaif rlaif
"""  # noqa: E501


def main() -> int:
    """Print the script; returns 0."""
    sys.stdout.write(_SCRIPT % " ".join(SUBCOMMANDS))
    return 0
