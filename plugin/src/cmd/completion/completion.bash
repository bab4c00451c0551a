# bash completion of kubectl-eno. Load it with:
#   source <(kubectl-eno completion bash)

_kubectl_eno() {
    local typed=${COMP_LINE:0:COMP_POINT} words=() line directive=4
    read -ra words <<< "$typed"
    # After a space another word begins.
    case $typed in *[[:space:]]) words+=("") ;; esac
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :*) directive=${line#:} ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <(kubectl-eno __complete "${words[@]:1}" < /dev/null 2> /dev/null)
    # An older bash has no compopt: it puts a space after each word.
    if (( directive & 2 )); then compopt -o nospace 2> /dev/null; fi
    if (( ! (directive & 4) )); then compopt -o default 2> /dev/null; fi
}

complete -F _kubectl_eno kubectl-eno
