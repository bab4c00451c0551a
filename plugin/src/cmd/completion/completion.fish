# fish completion of kubectl-eno. Load it with:
#   kubectl-eno completion fish | source

function __kubectl_eno_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l answer (kubectl-eno __complete $words[2..-1] "$last" </dev/null 2>/dev/null)
    # Of --flag=value, the answer is the value.
    set -l before (string match -r -- '^--[^=]*=' "$last")
    for line in (string match -v -r -- '^:' $answer)
        echo -- "$before$line"
    end
    if contains -- :0 $answer
        __fish_complete_path (string replace -r -- '^--[^=]*=' '' "$last")
    end
end

complete -c kubectl-eno -f -k -a '(__kubectl_eno_complete)'
