// SPDX-License-Identifier: MIT
//
// templates.rs -- a program of generic code for names.py: maps, sets, trait
// objects and iterators, of 6 types of our own each.
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt;
trait Shape { fn area(&self) -> u64; fn name(&self) -> String { format!("shape {}", self.area()) } }
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Square<const N: usize>(u64);
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Value<const N: usize> { Number(u64), Text(String), List(Vec<Value<N>>), Square(Square<N>) }
impl<const N: usize> Shape for Square<N> { fn area(&self) -> u64 { self.0 * self.0 + N as u64 } }
impl<const N: usize> fmt::Display for Value<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self { Value::Number(n) => write!(f, "{}", n + N as u64), Value::Text(t) => f.write_str(t),
            Value::List(l) => { for v in l { write!(f, "{},", v)?; } Ok(()) } Value::Square(s) => write!(f, "{:?}", s) }
    }
}
fn one<const N: usize>(items: &[u64]) -> u64 {
    let mut map: BTreeMap<String, Value<N>> = BTreeMap::new();
    let mut seen: HashMap<Value<N>, HashSet<u64>> = HashMap::new();
    let mut queue = VecDeque::new();
    for &i in items {
        let value = match i % 4 { 0 => Value::Number(i), 1 => Value::Text(i.to_string()), 2 => Value::Square(Square(i)), _ => Value::List(vec![Value::Number(i); N + 1]) };
        seen.entry(value.clone()).or_default().insert(i);
        map.insert(value.to_string(), value.clone());
        queue.push_back(value);
    }
    let mut sorted: Vec<_> = queue.into_iter().collect();
    sorted.sort_by(|a, b| b.cmp(a));
    sorted.dedup();
    let shapes: Vec<Box<dyn Shape>> = items.iter().map(|&i| Box::new(Square::<N>(i)) as Box<dyn Shape>).collect();
    shapes.iter().filter(|s| s.area() % 3 == 0).map(|s| s.name().len() as u64).sum::<u64>()
        + map.range("1".to_string()..).map(|(k, v)| (k.len() + v.to_string().len()) as u64).sum::<u64>()
        + seen.len() as u64 + sorted.len() as u64
}
fn main() {
    let items: Vec<u64> = (0..500).collect();
    let total = one::<0>(&items) + one::<1>(&items) + one::<2>(&items) + one::<3>(&items) + one::<4>(&items) + one::<5>(&items);
    println!("{}", total);
}
