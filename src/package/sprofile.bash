# SPDX-License-Identifier: MIT
#
# sprofile.bash -- bash completion for sprofile. Commands and options come from
# the command itself: its --help pages list them.

# The first words of the second paragraph of `sprofile --help`.
_sprofile_commands() {
    "$1" --help 2>/dev/null | awk '!NF { part++ } NF && part == 1 { print $1 }'
}

_sprofile_options() {
    "$1" "$2" --help 2>/dev/null | grep -oE -- '(^|[ ,[|])--?[a-zA-Z][a-z-]*' |
        tr -d ' ,[|'
}

# The processes that have libsprof.so, as far as one may see; where none is
# seen, all of one's own.
_sprofile_processes() {
    local found
    found=$(grep -l -s '/libsprof\.so' /proc/[1-9]*/maps |
        sed 's|^/proc/\([0-9]*\)/maps$|\1|')
    [ -n "$found" ] || found=$(ps -o pid= 2>/dev/null)
    printf '%s\n' $found
}

_sprofile() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} i
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W \
            "$(_sprofile_commands "$1") help --help --version" -- "$word")
        return
    fi
    # The program behind its options has its own arguments.
    if [ "$command" = record ]; then
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            -[oFmd] | --output | --frequency | --cost | --mode | --duration | --push) ((i++)) ;;
            -*) ;;
            *)
                declare -F _command_offset >/dev/null && _command_offset "$i"
                return
                ;;
            esac
        done
    fi
    if [ "$command" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_sprofile_commands "$1")" -- \
            "$word")
        return
    fi
    case $before in
    help)
        mapfile -t COMPREPLY < <(compgen -W \
            "$(_sprofile_commands "$1") words" -- "$word")
        ;;
    --format)
        mapfile -t COMPREPLY < <(compgen -W "$("$1" convert --help |
            sed -n 's/^  \.\([a-z.]*\) .*/\1/p')" -- "$word")
        ;;
    -m | --mode) mapfile -t COMPREPLY < <(compgen -W 'wall cpu' -- "$word") ;;
    --by)
        mapfile -t COMPREPLY < <(compgen -W 'function line module thread \
            state process exe command label: stack' -- "$word")
        ;;
    --sort)
        mapfile -t COMPREPLY < <(compgen -W \
            'flat cum wall self total time name tid state' -- "$word")
        ;;
    *)
        if [ "${word:0:1}" = - ]; then
            mapfile -t COMPREPLY < <(compgen -W \
                "$(_sprofile_options "$1" "$command")" -- "$word")
        elif [ "$command" = record ]; then
            mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
        elif [[ $command =~ ^(start|stop|dump)$ ]]; then
            mapfile -t COMPREPLY < <(compgen -W \
                "$(_sprofile_processes)" -- "$word")
        elif [ "$command" = stacks ] && [[ $word =~ ^[0-9]*$ ]]; then
            mapfile -t COMPREPLY < <(compgen -W \
                "$(_sprofile_processes)" -f -- "$word")
        elif [ "$command" = top ]; then
            mapfile -t COMPREPLY < <(compgen -f -W "$(_sprofile_processes)" -- \
                "$word")
        else
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        ;;
    esac
}

complete -F _sprofile sprofile
