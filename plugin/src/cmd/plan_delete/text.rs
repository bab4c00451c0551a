//! A plan as people read it.

use super::plan::Plan;
use crate::cmd::why::text::{section, wrapped};
use crate::downstream::{NOT_LOOKED_AT, Presence, Resource};
use crate::output::table::sanitized;

/// How many resources of a fate are shown, unless all are asked for.
const FEW: usize = 10;

/// `offline` says that no cluster can be looked at.
pub(super) fn render(plan: &Plan, show_all: bool, offline: bool) -> Vec<String> {
    let place = if plan.namespace.is_empty() { String::new() } else { format!(" in {}", plan.namespace) };
    let mut lines = vec![sanitized(&format!("{}{place}", plan.resource_name()))];
    lines.extend(wrapped(&format!("--cascade={}: {}", plan.cascade, plan.message), ""));
    let steps = plan.steps.iter().enumerate();
    section(
        &mut lines,
        "In this order",
        steps.flat_map(|(index, step)| numbered(index, &format!("{}: {}", step.what, step.happens))),
    );
    for (title, fate) in
        [("Deleted", &plan.deleted), ("Left behind, by design", &plan.left_behind), ("May be orphaned", &plan.at_risk)]
    {
        section(&mut lines, &format!("{title}: {}", fate.len()), resources(fate, show_all, offline));
    }
    section(&mut lines, "Would wait for", plan.blockers.iter().flat_map(|one| coded(one.code, &one.message)));
    section(&mut lines, "Dangers", plan.dangers.iter().flat_map(|one| coded(one.code(), &one.to_string())));
    let webhook = &plan.webhook;
    let mut answer = wrapped(&format!("{}: {}", webhook.outcome, webhook.message), "  ");
    answer.extend(webhook.warnings.iter().filter(|warning| **warning != webhook.message).flat_map(|warning| {
        let mut lines = wrapped(warning, "    ");
        lines[0].replace_range(..4, "  - ");
        lines
    }));
    section(&mut lines, &format!("eno-webhook, if it is installed ({})", webhook.ground), answer);
    section(&mut lines, "The command", plan.command.iter().map(|command| format!("  {}", sanitized(command))));
    lines
}

fn numbered(index: usize, text: &str) -> Vec<String> {
    let mut lines = wrapped(text, "     ");
    lines[0].replace_range(..5, &format!("{:>3}. ", index + 1));
    lines
}

fn coded(code: &str, message: &str) -> Vec<String> {
    let mut lines = wrapped(message, "      ");
    lines.insert(0, format!("  {code}"));
    lines
}

fn resources(all: &[Resource], show_all: bool, offline: bool) -> Vec<String> {
    let few = if show_all { all.len() } else { FEW };
    let mut lines: Vec<String> =
        all.iter().take(few).map(|resource| format!("  {}", sanitized(&resource.to_string()))).collect();
    if all.len() > few {
        lines.push(format!("  … {} more (--show-all)", all.len() - few));
    }
    if !offline && !all.is_empty() && all.iter().all(|resource| resource.presence == Presence::NotLookedAt) {
        lines.push(format!("  {NOT_LOOKED_AT}"));
    }
    lines
}
