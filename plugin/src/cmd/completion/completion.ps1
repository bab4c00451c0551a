# PowerShell completion of kubectl-eno. Load it with:
#   kubectl-eno completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName 'kubectl-eno' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    # An empty word would be dropped by older versions; kubectl-eno knows this one for it.
    $words += if ($wordToComplete) { $wordToComplete } else { '""' }
    # Of --flag=value, the answer is the value.
    $before = if ($wordToComplete -match '^(--[^=]*=)') { $Matches[1] } else { '' }
    $null | kubectl-eno __complete @words 2>$null | Where-Object { $_ -notmatch '^:' } | ForEach-Object {
        $word, $about = $_ -split "`t", 2
        if (-not $about) { $about = $word }
        [System.Management.Automation.CompletionResult]::new("$before$word", $word, 'ParameterValue', $about)
    }
}
