//! What the real kubectl (1.32) prints for the same templates.

use serde_json::json;

use super::*;

fn render(template: &str) -> Result<String, String> {
    let object = json!({
        "kind": "Config",
        "apiVersion": "v1",
        "contexts": null,
        "data": {"a": "1", "b.c": "2", "empty": ""},
        "clusters": [
            {"name": "a", "cluster": {"server": "https://a", "insecure-skip-tls-verify": true}},
            {"name": "b", "cluster": {"server": "https://b"}},
            {"name": "c", "cluster": {"server": "https://c", "insecure-skip-tls-verify": true}},
        ],
    });
    Template::parse(template)?.render(&object)
}

#[test]
fn prints_what_kubectl_prints() {
    for (template, text) in [
        (".kind", ".kind"),
        ("{.kind}", "Config"),
        ("{ .kind }", "Config"),
        ("{$.kind}", "Config"),
        ("{.nope}", ""),
        ("{.nope[0]}", ""),
        ("{.data}", r#"{"a":"1","b.c":"2","empty":""}"#),
        ("{.data.b\\.c}", "2"),
        ("{.data['b\\.c']}", "2"),
        ("{.data['b.c']}", ""),
        ("{.data.*}", "1 2 "),
        ("{range .data.*}[{@}]{\"\\n\"}{end}", "[1]\n[2]\n[]\n"),
        ("{.data..a}", "1"),
        ("{\"a\\tb\"}", "a\tb"),
        ("{'x\\ny'}", "x\ny"),
        ("{\"{\"}", "{"),
        ("{1}", "1"),
        ("{true}", "true"),
        ("a\\nb", "a\\nb"),
        ("{.data.a}{.data.empty}|", "1|"),
        ("{['kind','apiVersion']}", "Config v1"),
        ("{.clusters[*].name}", "a b c"),
        ("{.clusters[-1].name}", "c"),
        ("{.clusters[1:].name}", "b c"),
        ("{.clusters[0:3:2].name}", "a c"),
        ("{.clusters[-2:].name}", "b c"),
        ("{.clusters[0,2].name}", "a c"),
        ("{.clusters[].name}", "a"),
        ("{.clusters[?(@.cluster.insecure-skip-tls-verify==true)].name}", "a c"),
        ("{.clusters[?(@.cluster.insecure-skip-tls-verify)].name}", "a c"),
        ("{.clusters[?(@.name=='b')].cluster.server}", "https://b"),
        ("{.clusters[?(@.name!='b')].name}", "a c"),
        ("{.clusters[?(@.name > \"a\")].name}", "b c"),
        (
            "{range .clusters[*]}{.name}{\"\\t\"}{.cluster.server}{\"\\n\"}{end}",
            "a\thttps://a\nb\thttps://b\nc\thttps://c\n",
        ),
        ("{range .clusters[*]}{.name} {end}", "a b c "),
        ("{range .clusters[*]}{range .cluster}{.server}{end}{end}", "https://ahttps://bhttps://c"),
        ("{range .nope[*]}x{end}", ""),
        ("{.clusters[*].nope}", ""),
        ("{.clusters.name}", ""),
        ("{.clusters..server}", "https://a https://b https://c"),
        ("{.clusters[*]['name','cluster.server']}", "a b c https://a https://b https://c"),
        ("{.clusters[1]}", r#"{"cluster":{"server":"https://b"},"name":"b"}"#),
        ("{.contexts}", "null"),
    ] {
        assert_eq!(render(template).as_deref(), Ok(text), "{template}");
    }
}

#[test]
fn refuses_what_kubectl_refuses() {
    for (template, error) in [
        ("abc{.kind", "unclosed action"),
        ("{.kind,.apiVersion}", "unrecognized character in action: ','"),
        ("{kind}", "unrecognized character in action: 'k'"),
        ("{.a b}", "unrecognized character in action: 'b'"),
        ("{end}", "not in range, nothing to end"),
        ("{range .clusters[*]}x", "{range} without {end}"),
        ("{.clusters[?(@.name=~/a/)]}", "unrecognized character in filter: '='"),
        ("{.clusters[?(@.name=='a' || @.name=='b')].name}", "unrecognized character in filter: '|'"),
        ("{.clusters[(@.length-1)].name}", "invalid array index (@.length-1)"),
        ("{.clusters[a]}", "invalid array index a"),
        ("{.clusters[0:1", "unterminated array"),
        ("{.clusters[0:1:0]}", "step must be > 0"),
        ("{.clusters[?(@.name==)]}", "compares @.field"),
        ("{\"x}", "unterminated quoted string"),
        ("{.clusters[5].name}", "array index out of bounds: index 5, length 3"),
        ("{.kind[0]}", "is not array or slice"),
        ("{.data[?(@=='1')]}", "cannot be filtered"),
    ] {
        let found = render(template).expect_err(template);
        assert!(found.contains(error), "{template}: {found}");
    }
}

#[test]
fn relaxed_paths_need_neither_braces_nor_dot() {
    for path in ["kind", ".kind", "{kind}", "{.kind}"] {
        let template = Template::relaxed(path).unwrap();
        assert_eq!(template.first(&json!({"kind": "x"})), Ok(Some(json!("x"))), "{path}");
    }
    assert!(Template::relaxed("").is_err() && Template::relaxed("{.a}{.b}").is_err());
}
