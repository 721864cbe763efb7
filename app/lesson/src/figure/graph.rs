//! Graphs: nodes, edges, and the places of nodes that the author did not place.

use super::parts::list;
use super::scope::Scope;
use super::{Edge, Graph, MAX_EDGES, MAX_NODES, Node};
use crate::read::{tables, text};
use crate::tree::{Data, Table};

pub fn graph(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> Option<Graph> {
    let list = list(scope, table, "node", MAX_NODES, path);
    let (mut nodes, mut places): (Vec<Node>, Vec<Option<(f64, f64)>>) = (Vec::new(), Vec::new());
    for (idx, from) in list.into_iter().enumerate() {
        let path = format!("{path}.node[{idx}]");
        let id = text(from, "id")?;
        if nodes.iter().any(|node| node.id == id) {
            scope.fail("duplicate-id", &format!("{path}.id"), format!("two nodes are called \"{id}\""), None);
        }
        places.push(place(scope, from, &path));
        let value = scope.expr(from, "value", &path);
        let (label, role) = (scope.reader.localized(from, "label"), scope.role(from));
        nodes.push(Node { id, label, value, role, at: (0.0, 0.0) });
    }
    let list = tables(table, "edge");
    scope.is_short(list.len(), MAX_EDGES, "edges", &format!("{path}.edge"));
    let mut edges = Vec::new();
    for (idx, from) in list.into_iter().take(MAX_EDGES).enumerate() {
        edges.extend(edge(scope, from, &nodes, &format!("{path}.edge[{idx}]")));
    }
    let n_placed = places.iter().flatten().count();
    if n_placed != 0 && n_placed != nodes.len() {
        let idx = places.iter().position(Option::is_none).unwrap_or_default();
        let what = format!("{n_placed} of {} nodes have a place", nodes.len());
        scope.fail("missing-field", &format!("{path}.node[{idx}]"), what, Some("give all of them `at`, or none"));
    }
    let by_edges = layers(nodes.len(), &edges);
    for (idx, node) in nodes.iter_mut().enumerate() {
        node.at = places[idx].unwrap_or(by_edges[idx]);
    }
    Some(Graph { nodes, edges })
}

fn place(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> Option<(f64, f64)> {
    let Data::List(list) = &table.get("at")?.data else { return None };
    let numbers: Vec<f64> = list
        .iter()
        .filter_map(|node| match &node.data {
            Data::Number(number) => number.as_f64(),
            _ => None,
        })
        .collect();
    match numbers[..] {
        [column, row] if (0.0..=20.0).contains(&column) && (0.0..=20.0).contains(&row) => Some((column, row)),
        _ => {
            let what = "a place is [column, row], each from 0 to 20".to_owned();
            scope.fail("out-of-range", &format!("{path}.at"), what, None);
            None
        }
    }
}

fn edge(scope: &mut Scope<'_, '_>, table: &Table, nodes: &[Node], path: &str) -> Option<Edge> {
    let mut end = |key: &str| {
        let id = text(table, key)?;
        let found = nodes.iter().position(|node| node.id == id);
        if found.is_none() {
            let known: Vec<&str> = nodes.iter().map(|node| node.id.as_str()).collect();
            let hint = vramlab_units::field::did_you_mean(&id, known.iter().copied());
            let help = hint
                .map_or_else(|| format!("there are {}", known.join(", ")), |hint| format!("did you mean \"{hint}\"?"));
            scope.fail("unknown-symbol", &format!("{path}.{key}"), format!("no node is called \"{id}\""), Some(&help));
        }
        found
    };
    let (from, to) = (end("from")?, end("to")?);
    if from == to {
        scope.fail("out-of-range", &format!("{path}.to"), "an edge joins two different nodes".to_owned(), None);
    }
    let value = scope.expr(table, "value", path);
    Some(Edge { from, to, label: scope.reader.localized(table, "label"), value })
}

/// Columns by the longest way from a beginning, rows by order in the column, each column centred. An edge that closes a
/// circle does not count.
fn layers(n_nodes: usize, edges: &[Edge]) -> Vec<(f64, f64)> {
    let mut column = vec![0_usize; n_nodes];
    // As many rounds as nodes reach every longest way; a circle would push on for ever.
    let forward: Vec<&Edge> = edges.iter().filter(|edge| !reaches(edge.to, edge.from, edges, edge)).collect();
    for _ in 0..n_nodes {
        for edge in &forward {
            column[edge.to] = column[edge.to].max(column[edge.from] + 1).min(n_nodes);
        }
    }
    let count = |wanted: usize| column.iter().filter(|at| **at == wanted).count();
    let most = (0..=n_nodes).map(count).max().unwrap_or_default() as f64;
    let mut seen = vec![0_usize; n_nodes + 1];
    let row = |at: &usize| {
        let row = seen[*at] as f64 + (most - count(*at) as f64) / 2.0;
        seen[*at] += 1;
        (*at as f64, row)
    };
    column.iter().map(row).collect()
}

/// Whether a way leads from `from` to `to` over edges that stand before `before` in the file.
fn reaches(from: usize, to: usize, edges: &[Edge], before: &Edge) -> bool {
    let earlier: Vec<&Edge> = edges.iter().take_while(|edge| !std::ptr::eq(*edge, before)).collect();
    let mut seen = vec![from];
    let mut next = 0;
    while let Some(at) = seen.get(next).copied() {
        next += 1;
        for edge in earlier.iter().filter(|edge| edge.from == at) {
            if !seen.contains(&edge.to) {
                seen.push(edge.to);
            }
        }
    }
    seen.contains(&to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_units::Localized;

    fn edges(pairs: &[(usize, usize)]) -> Vec<Edge> {
        pairs.iter().map(|(from, to)| Edge { from: *from, to: *to, label: Localized::default(), value: None }).collect()
    }

    #[test]
    fn nodes_stand_in_columns_by_their_longest_way() {
        // 0 → 1 → 3, 0 → 2, 2 → 3
        let places = layers(4, &edges(&[(0, 1), (1, 3), (0, 2), (2, 3)]));
        assert_eq!(places, [(0.0, 0.5), (1.0, 0.0), (1.0, 1.0), (2.0, 0.5)]);
    }

    #[test]
    fn a_circle_ends() {
        let places = layers(3, &edges(&[(0, 1), (1, 2), (2, 0)]));
        assert_eq!(places.iter().map(|(column, _)| *column).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
    }
}
