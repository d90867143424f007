//! What a bench found: rounds in, points and ratios out. Ratios are taken inside one round.

use serde::{Deserialize, Serialize};

/// One measured point of one round: the least of its samples, since on a shared machine whatever
/// disturbs a sample makes it longer.
#[derive(Clone, Debug)]
pub struct Raw {
    pub round: usize,
    pub key: Key,
    pub ns_per_row: f64,
    pub gil_enabled: [bool; 2],
    pub first_block_ns: Option<u64>,
    pub collections_per_s: f64,
    pub peak_pss: u64,
    pub rows: usize,
}

/// What tells points apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    pub variant: String,
    pub build: String,
    pub workload: String,
    pub threads: usize,
}

/// A line of `--json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Point {
    pub lesson: String,
    #[serde(flatten)]
    pub key: Key,
    /// Rows of one query.
    pub rows: usize,
    pub rows_per_s: f64,
    /// The median over the rounds.
    pub ns_per_row: f64,
    /// The least and the greatest of the rounds, in ns a row.
    pub spread: [f64; 2],
    pub rounds: usize,
    pub gil_enabled: [bool; 2],
    /// From the start of a query to its first block, in ns.
    pub first_row_ns: Option<u64>,
    /// Garbage collections a second while it was measured: the median over the rounds.
    #[serde(default)]
    pub collections_per_s: f64,
    /// Peak proportional set size of the process and its children, in bytes.
    pub peak_pss: u64,
}

/// How much faster `faster` is than `slower`: above 1 it is, whatever it was hoped to be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ratio {
    pub faster: Key,
    pub slower: Key,
    /// The median over the rounds.
    pub value: f64,
    pub spread: [f64; 2],
    pub rounds: usize,
}

/// Where the numbers come from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Environment {
    pub date: String,
    pub commit: String,
    pub cpu: String,
    pub cores: usize,
    pub kernel: String,
    pub profile: String,
    /// Each measured process: its label, its Python, whether its constants were immortal.
    pub processes: Vec<String>,
    /// What was not run, and why.
    pub not_run: Vec<String>,
}

/// A result file: `results/<lesson>.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Results {
    pub lesson: String,
    pub environment: Environment,
    pub points: Vec<Point>,
    pub ratios: Vec<Ratio>,
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

fn bounds(values: &[f64]) -> [f64; 2] {
    [
        values.iter().copied().fold(f64::INFINITY, f64::min),
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    ]
}

/// Points in the order in which they were first measured.
pub fn points(lesson: &str, raw: &[Raw]) -> Vec<Point> {
    let mut keys: Vec<&Key> = Vec::new();
    for one in raw {
        if !keys.contains(&&one.key) {
            keys.push(&one.key);
        }
    }
    keys.into_iter()
        .map(|key| {
            let of_key: Vec<&Raw> = raw.iter().filter(|one| one.key == *key).collect();
            let mut values: Vec<f64> = of_key.iter().map(|one| one.ns_per_row).collect();
            let ns_per_row = median(&mut values);
            Point {
                lesson: lesson.into(),
                key: key.clone(),
                rows: of_key[0].rows,
                rows_per_s: 1e9 / ns_per_row,
                ns_per_row,
                spread: bounds(&values),
                rounds: values.len(),
                gil_enabled: of_key[0].gil_enabled,
                collections_per_s: median(
                    &mut of_key.iter().map(|one| one.collections_per_s).collect::<Vec<_>>(),
                ),
                first_row_ns: of_key.iter().filter_map(|one| one.first_block_ns).min(),
                peak_pss: of_key.iter().map(|one| one.peak_pss).max().unwrap_or(0),
            }
        })
        .collect()
}

/// The ratio of two points, over the rounds that have both; `None` if no round has.
pub fn ratio(raw: &[Raw], faster: &Key, slower: &Key) -> Option<Ratio> {
    let at = |key: &Key, round: usize| {
        raw.iter().find(|one| one.round == round && one.key == *key).map(|one| one.ns_per_row)
    };
    let last = raw.iter().map(|one| one.round).max()?;
    let mut values: Vec<f64> =
        (0..=last).filter_map(|round| Some(at(slower, round)? / at(faster, round)?)).collect();
    if values.is_empty() {
        return None;
    }
    let value = median(&mut values);
    let (faster, slower) = (faster.clone(), slower.clone());
    Some(Ratio { faster, slower, value, spread: bounds(&values), rounds: values.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(round: usize, variant: &str, ns: f64) -> Raw {
        let (build, workload) = ("3.14t".to_owned(), "ints".to_owned());
        Raw {
            round,
            key: Key { variant: variant.into(), build, workload, threads: 1 },
            ns_per_row: ns,
            gil_enabled: [false; 2],
            first_block_ns: Some(round as u64 + 5),
            collections_per_s: 0.0,
            peak_pss: round as u64,
            rows: 10,
        }
    }

    #[test]
    fn a_ratio_is_taken_inside_a_round_and_not_between_medians() {
        // The machine was twice as slow in round 1, for both: the ratio does not see it.
        let all = [
            raw(0, "a", 10.0),
            raw(0, "b", 30.0),
            raw(1, "a", 20.0),
            raw(1, "b", 60.0),
            raw(2, "a", 10.0),
        ];
        let ratio = ratio(&all, &all[0].key, &all[1].key).unwrap();
        assert_eq!((ratio.value, ratio.spread, ratio.rounds), (3.0, [3.0, 3.0], 2));
        let points = points("x", &all);
        assert_eq!((points[0].ns_per_row, points[0].spread), (10.0, [10.0, 20.0]));
        assert_eq!((points[1].ns_per_row, points[1].rounds), (45.0, 2));
        assert_eq!((points[0].first_row_ns, points[0].peak_pss), (Some(5), 2));
    }

    #[test]
    fn what_was_never_measured_together_has_no_ratio() {
        let all = [raw(0, "a", 10.0), raw(1, "b", 30.0)];
        assert!(ratio(&all, &all[0].key, &all[1].key).is_none());
    }
}
