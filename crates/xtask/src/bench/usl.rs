//! What a measured speed-up says of more cores: the Universal Scalability Law.
//!
//! `C(n) = n / (1 + s (n - 1) + k n (n - 1))`: `s` is the share of the work that only one thread at a
//! time can do (contention), `k` what each pair of threads costs to agree (coherence). One speed-up
//! cannot tell the two apart, so two thread counts give a range: all of the loss is contention, or all
//! of it is coherence. Three or more are fitted.

use super::results::{Point, Ratio, Results};

/// A law, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    pub contention: f64,
    pub coherence: f64,
}

impl Law {
    /// The speed-up of `threads` threads over one.
    pub fn speed_up(self, threads: f64) -> f64 {
        let others = threads - 1.0;
        threads / (1.0 + self.contention * others + self.coherence * threads * others)
    }
}

/// The laws that a speed-up allows: nothing but contention, nothing but coherence. A speed-up above
/// the number of threads (caches do that) counts as no loss.
pub fn extremes(threads: f64, speed_up: f64) -> [Law; 2] {
    let loss = (threads / speed_up - 1.0).max(0.0) / (threads - 1.0);
    [Law { contention: loss, coherence: 0.0 }, Law { contention: 0.0, coherence: loss / threads }]
}

/// The law that fits speed-ups `(threads, speed_up)` of at least two thread counts above 1, by least
/// squares on the loss, with neither part below 0.
pub fn fit(points: &[(f64, f64)]) -> Law {
    // n / C - 1 = s (n - 1) + k n (n - 1), linear in s and k; divided by n - 1.
    let loss = |(threads, speed_up): &(f64, f64)| (threads / speed_up - 1.0) / (threads - 1.0);
    let count = points.len() as f64;
    let mean_threads = points.iter().map(|point| point.0).sum::<f64>() / count;
    let mean_loss = points.iter().map(loss).sum::<f64>() / count;
    let (mut above, mut below) = (0.0, 0.0);
    for point in points {
        above += (point.0 - mean_threads) * (loss(point) - mean_loss);
        below += (point.0 - mean_threads).powi(2);
    }
    let coherence = (above / below).max(0.0);
    let contention = mean_loss - coherence * mean_threads;
    if contention >= 0.0 {
        return Law { contention, coherence };
    }
    // The best on the edge where there is no contention.
    let squares = points.iter().map(|point| point.0.powi(2)).sum::<f64>();
    let product = points.iter().map(|point| point.0 * loss(point)).sum::<f64>();
    Law { contention: 0.0, coherence: (product / squares).max(0.0) }
}

/// The speed-ups of a variant over itself on one thread, on the free-threaded build.
fn speed_ups<'a>(results: &'a Results, variant: &str, workload: &str) -> Vec<&'a Ratio> {
    let of = |ratio: &&Ratio| {
        let (one, other) = (&ratio.faster, &ratio.slower);
        one.variant == variant
            && other.variant == variant
            && one.workload == workload
            && one.build.ends_with('t')
            && one.build == other.build
            && other.threads == 1
            && one.threads > 1
    };
    results.ratios.iter().filter(of).collect()
}

/// The cores that are foretold.
const CORES: [f64; 3] = [8.0, 16.0, 64.0];

/// One line: measured, and from the pessimist's law to the optimist's at more cores.
pub struct Line {
    pub workload: String,
    pub measured: Vec<(usize, f64, [f64; 2])>,
    /// The share of the work that is serial, if all of the loss is; from the spread of the rounds.
    pub serial: [f64; 2],
    pub foretold: Vec<[f64; 2]>,
    pub fitted: bool,
}

/// For a variant and a workload; `None` if it was measured on one thread alone.
pub fn line(results: &Results, variant: &str, workload: &str) -> Option<Line> {
    let ratios = speed_ups(results, variant, workload);
    let most = ratios.iter().max_by_key(|ratio| ratio.faster.threads)?;
    let threads = most.faster.threads as f64;
    let laws: Vec<Law> = if ratios.len() > 1 {
        // The least and the greatest of the rounds each give a law, and so does the median.
        let at = |value: fn(&Ratio) -> f64| {
            fit(&ratios.iter().map(|r| (r.faster.threads as f64, value(r))).collect::<Vec<_>>())
        };
        vec![at(|r| r.spread[0]), at(|r| r.value), at(|r| r.spread[1])]
    } else {
        most.spread.iter().flat_map(|speed_up| extremes(threads, *speed_up)).collect()
    };
    let foretold = CORES.map(|cores| {
        let all = laws.iter().map(|law| law.speed_up(cores));
        [all.clone().fold(f64::INFINITY, f64::min), all.fold(0.0, f64::max)]
    });
    let serial = [most.spread[1], most.spread[0]].map(|c| extremes(threads, c)[0].contention);
    Some(Line {
        workload: workload.into(),
        measured: ratios.iter().map(|r| (r.faster.threads, r.value, r.spread)).collect(),
        serial,
        foretold: foretold.to_vec(),
        fitted: ratios.len() > 1,
    })
}

/// The lines of a lesson: its after, on each workload.
pub fn lines(results: &Results, after: &str) -> Vec<Line> {
    let mut workloads: Vec<&str> = Vec::new();
    for Point { key, .. } in &results.points {
        if !workloads.contains(&key.workload.as_str()) {
            workloads.push(&key.workload);
        }
    }
    workloads.iter().filter_map(|workload| line(results, after, workload)).collect()
}

/// As text, within 80 columns.
pub fn text(lines: &[Line]) -> String {
    let mut out = format!(
        "\n{:<20} {:>9} {:>11} {:>11} {:>11} {:>11}\n",
        "scaling on 3.14t", "measured", "serial %", "8 cores", "16 cores", "64 cores"
    );
    for line in lines {
        let (threads, value, _) = line.measured.last().expect("a line has a measurement");
        let share = line.serial.map(|part| format!("{:.1}", part * 100.0)).join("-");
        out += &format!("{:<20} {:>6.2}@{threads:<2} {share:>11}", line.workload, value);
        for [low, high] in &line.foretold {
            out += &format!(" {:>11}", format!("{low:.1}-{high:.1}"));
        }
        out += "\n";
    }
    let fitted = lines.iter().any(|line| line.fitted);
    out + if fitted {
        "Foretold by a law fitted to all thread counts, over the spread of the rounds.\n"
    } else {
        "Foretold, not measured: one speed-up allows all between pure contention and\n\
         pure coherence. `bench --fit` on a machine with more cores says more.\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_gives_back_what_it_was_fitted_to() {
        let law = Law { contention: 0.02, coherence: 0.0005 };
        let points = [2.0, 4.0, 8.0, 16.0].map(|n| (n, law.speed_up(n)));
        let found = fit(&points);
        assert!((found.contention - 0.02).abs() < 1e-9 && (found.coherence - 0.0005).abs() < 1e-9);
        assert!((law.speed_up(1.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn two_thread_counts_give_a_range_that_holds_the_measurement() {
        for law in extremes(2.0, 1.8) {
            assert!((law.speed_up(2.0) - 1.8).abs() < 1e-12);
        }
        let [contention, coherence] = extremes(2.0, 1.8).map(|law| law.speed_up(64.0));
        // Coherence grows with the square, so the same loss at 2 is far worse at 64.
        assert!(coherence < contention && contention < 64.0);
        assert_eq!(extremes(2.0, 2.1)[0], Law { contention: 0.0, coherence: 0.0 });
    }

    #[test]
    fn no_part_of_a_fit_is_below_zero() {
        for points in
            [[(2.0, 2.1), (4.0, 4.3)], [(2.0, 1.99), (4.0, 3.0)], [(2.0, 1.2), (4.0, 2.0)]]
        {
            let law = fit(&points);
            assert!(law.contention >= 0.0 && law.coherence >= 0.0, "{law:?}");
        }
    }
}
