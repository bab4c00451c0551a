//! A source file, taken apart.

use std::fs;

use anyhow::{Context, Result};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprMethodCall, Item, Lit, LitStr, Meta};

use crate::workspace;

/// A parsed file of the workspace.
pub struct Source {
    file: syn::File,
    path: String,
}

impl Source {
    /// Reads one, by its path in the workspace.
    pub fn read(path: &str) -> Result<Self> {
        let text = fs::read_to_string(workspace::root().join(path)).with_context(|| format!("reading {path}"))?;
        let file = syn::parse_file(&text).with_context(|| format!("parsing {path}"))?;
        Ok(Source { file, path: path.to_owned() })
    }

    /// The variants of an enum, with what their comments say.
    pub fn variants(&self, name: &str) -> Result<Vec<(String, String)>> {
        let of = |item: &Item| match item {
            Item::Enum(item) if item.ident == name => {
                Some(item.variants.iter().map(|variant| (variant.ident.to_string(), docs(&variant.attrs))).collect())
            }
            _ => None,
        };
        self.file.items.iter().find_map(of).with_context(|| format!("no enum {name} in {}", self.path))
    }

    /// Its public constants: name, literal value and what their comments say.
    pub fn constants(&self) -> Vec<(String, String, String)> {
        let of = |item: &Item| match item {
            Item::Const(item) if matches!(item.vis, syn::Visibility::Public(_)) => {
                Some((item.ident.to_string(), literal(&item.expr)?, docs(&item.attrs)))
            }
            _ => None,
        };
        self.file.items.iter().filter_map(of).collect()
    }

    /// The structs: name, and each field with its type; a field without a name is `0`, `1`, …
    pub fn structs(&self) -> Vec<(String, Vec<(String, syn::Type)>)> {
        let fields = |item: &syn::ItemStruct| {
            let named = |(index, field): (usize, &syn::Field)| {
                let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
                (name, field.ty.clone())
            };
            (item.ident.to_string(), item.fields.iter().enumerate().map(named).collect())
        };
        let of = |item: &Item| match item {
            Item::Struct(item) => Some(fields(item)),
            _ => None,
        };
        self.file.items.iter().filter_map(of).collect()
    }

    /// The calls of a method.
    pub fn calls(&self, method: &str) -> Vec<ExprMethodCall> {
        struct Calls<'a>(&'a str, Vec<ExprMethodCall>);
        impl Visit<'_> for Calls<'_> {
            fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
                if call.method == self.0 {
                    self.1.push(call.clone());
                }
                visit::visit_expr_method_call(self, call);
            }
        }
        let mut calls = Calls(method, vec![]);
        calls.visit_file(&self.file);
        calls.1
    }

    /// The first arguments of the calls of a method, where they are literals.
    pub fn first_literals_of_calls(&self, method: &str) -> Vec<String> {
        self.calls(method).iter().filter_map(|call| literal(call.args.first()?)).collect()
    }

    /// The literals that a field of this name is set to.
    pub fn literals_of_field(&self, field: &str) -> Vec<String> {
        struct Fields<'a>(&'a str, Vec<String>);
        impl Visit<'_> for Fields<'_> {
            fn visit_field_value(&mut self, value: &syn::FieldValue) {
                if matches!(&value.member, syn::Member::Named(name) if name == self.0) {
                    self.1.extend(literal(&value.expr));
                }
                visit::visit_field_value(self, value);
            }
        }
        let mut fields = Fields(field, vec![]);
        fields.visit_file(&self.file);
        fields.1
    }

    /// Is this text a literal of it?
    pub fn has_literal(&self, text: &str) -> bool {
        struct Literals<'a>(&'a str, bool);
        impl Visit<'_> for Literals<'_> {
            fn visit_lit_str(&mut self, literal: &LitStr) {
                self.1 |= literal.value() == self.0;
            }
        }
        let mut literals = Literals(text, false);
        literals.visit_file(&self.file);
        literals.1
    }
}

/// The value of a literal.
pub fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(expr) => match &expr.lit {
            Lit::Str(text) => Some(text.value()),
            Lit::Int(number) => Some(number.base10_digits().to_owned()),
            _ => None,
        },
        _ => None,
    }
}

/// What the comments of an item say, in one line. Links lose their brackets.
fn docs(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(expr) => match &expr.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let text = attributes.iter().filter_map(line).collect::<Vec<_>>().join(" ");
    text.replace("[`", "`").replace("`]", "`")
}
