#compdef kubectl-eno
# zsh completion of kubectl-eno. Load it, after compinit, with:
#   source <(kubectl-eno completion zsh)

_kubectl-eno() {
    local -a answer candidates
    local line word about directive=4
    answer=("${(@f)$(kubectl-eno __complete "${(@Q)words[2,CURRENT-1]}" "$PREFIX" < /dev/null 2> /dev/null)}")
    for line in "${answer[@]}"; do
        if [[ $line == :* ]]; then
            directive=${line#:}
            continue
        fi
        word=${line%%$'\t'*}
        about=${${line#"$word"}#$'\t'}
        candidates+=("${word//:/\\:}${about:+:$about}")
    done
    # Of --flag=value, the answer is the value.
    if [[ $PREFIX == --*=* ]]; then compset -P '*='; fi
    if (( $#candidates )); then
        if (( directive & 2 )); then
            _describe 'kubectl-eno' candidates -S ''
        else
            _describe 'kubectl-eno' candidates
        fi
    elif (( ! (directive & 4) )); then
        _files
    fi
}

# Found on fpath it is called, else loaded.
if [[ ${funcstack[1]} == _kubectl-eno ]]; then
    _kubectl-eno
else
    compdef _kubectl-eno kubectl-eno
fi
