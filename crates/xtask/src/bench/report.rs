//! Results for the eye: an SVG chart of each lesson and one HTML page.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use lesson_kit::lesson::Lesson;
use plotters::prelude::*;

use super::results::{Point, Results};
use super::table;

const STOCK: RGBColor = RGBColor(0x8a, 0x8f, 0x98);
const FREE: RGBColor = RGBColor(0x1f, 0x77, 0xb4);
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);

/// Bars on a logarithmic axis: the variants differ by two orders of magnitude.
pub fn chart(lesson: &Lesson, results: &Results, workload: &str) -> Result<String> {
    let points: Vec<&Point> =
        results.points.iter().filter(|point| point.key.workload == workload).collect();
    let least = points.iter().map(|p| p.rows_per_s).fold(f64::INFINITY, f64::min);
    let most = points.iter().map(|p| p.rows_per_s).fold(1.0, f64::max);
    let low = 10f64.powf(least.log10().floor());
    const ROW: i32 = 20;
    let height = points.len() as i32 * ROW + 70;
    let mut svg = String::new();
    {
        let (left, right) = (250, 760);
        let root = SVGBackend::with_string(&mut svg, (880, height as u32)).into_drawing_area();
        let failed = |error: DrawingAreaErrorKind<_>| anyhow!("drawing: {error}");
        root.fill(&WHITE).map_err(failed)?;
        let text = |size: i32, color: &RGBColor| ("sans-serif", size).into_font().color(color);
        let title = format!("{}: rows per second ({workload})", lesson.name);
        root.draw(&Text::new(title, (10, 8), text(17, &INK))).map_err(failed)?;
        let x = |value: f64| {
            left + ((value / low).log10() / (most / low).log10() * f64::from(right - left)) as i32
        };
        let mut tick = low;
        while tick <= most {
            let line =
                PathElement::new(vec![(x(tick), 34), (x(tick), height - 30)], STOCK.mix(0.3));
            root.draw(&line).map_err(failed)?;
            let label = Text::new(table::rate(tick), (x(tick) - 18, height - 24), text(12, &INK));
            root.draw(&label).map_err(failed)?;
            tick *= 10.0;
        }
        for (index, point) in points.iter().enumerate() {
            let top = 38 + index as i32 * ROW;
            let color = if point.key.build.ends_with('t') { FREE } else { STOCK };
            let label =
                format!("{}  {} x{}", point.key.variant, point.key.build, point.key.threads);
            root.draw(&Text::new(label, (10, top + 1), text(13, &INK))).map_err(failed)?;
            let bar = [(left, top), (x(point.rows_per_s), top + ROW - 5)];
            root.draw(&Rectangle::new(bar, color.filled())).map_err(failed)?;
            let whisker = point.spread.map(|ns| x((1e9 / ns).max(low)));
            let middle = top + (ROW - 5) / 2;
            let line = PathElement::new(vec![(whisker[1], middle), (whisker[0], middle)], INK);
            root.draw(&line).map_err(failed)?;
            let value = table::rate(point.rows_per_s);
            let after = x(point.rows_per_s).max(whisker[0]) + 6;
            root.draw(&Text::new(value, (after, top + 1), text(13, &INK))).map_err(failed)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

pub fn workloads(results: &Results) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for point in &results.points {
        if !names.contains(&point.key.workload) {
            names.push(point.key.workload.clone());
        }
    }
    names
}

/// Writes the charts and `report.html` into `folder`; gives the page.
pub fn write(lesson: &Lesson, results: &Results, folder: &Path) -> Result<PathBuf> {
    let mut charts = String::new();
    for workload in workloads(results) {
        let svg = chart(lesson, results, &workload)?;
        std::fs::write(folder.join(format!("{}-{workload}.svg", lesson.name)), &svg)?;
        charts += &format!("<figure>{svg}</figure>\n");
    }
    let environment = &results.environment;
    let processes: String =
        environment.processes.iter().map(|p| format!("<li>{}</li>", escape(p))).collect();
    let not_run: String =
        environment.not_run.iter().map(|p| format!("<li>not run: {}</li>", escape(p))).collect();
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{name}</title>\n\
         <style>body{{font:15px/1.5 sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;\
         color:#222;background:#fff}}svg{{max-width:100%;height:auto}}figure{{margin:1rem 0}}\
         table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}\
         td,th{{padding:.15rem .6rem;text-align:right;border-bottom:1px solid #ddd}}\
         td:first-child,th:first-child{{text-align:left}}div{{overflow-x:auto}}</style>\n\
         <h1>{name}</h1>\n<p>{title}</p>\n<ul><li>{cpu}, {cores} cores, {kernel}, {date}, commit \
         {commit}, {profile} profile</li>{processes}{not_run}</ul>\n{charts}<div>{table}</div>\n\
         <p>Bars are medians over the rounds, lines from the least to the greatest round. Grey is \
         the GIL-enabled build, blue the free-threaded one.</p></html>\n",
        name = lesson.name,
        title = escape(&lesson.title),
        cpu = escape(&environment.cpu),
        cores = environment.cores,
        kernel = escape(&environment.kernel),
        date = environment.date,
        commit = escape(&environment.commit),
        profile = environment.profile,
        table = html_table(lesson, results),
    );
    let file = folder.join("report.html");
    std::fs::write(&file, page)?;
    Ok(file)
}

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

pub fn html_table(lesson: &Lesson, results: &Results) -> String {
    // Every cell is closed: mdBook's parser does not close them itself, and the rest of the page
    // would become the last cell.
    const HEADS: [&str; 10] = [
        "variant",
        "data",
        "build",
        "threads",
        "rows/s",
        "ns/row",
        "x 1 thread",
        "after is",
        "first row",
        "peak PSS",
    ];
    let heads: String = HEADS.iter().map(|head| format!("<th>{head}</th>")).collect();
    let mut out = format!("<table><thead><tr>{heads}</tr></thead><tbody>\n");
    for point in &results.points {
        let ratio = |r: Option<&super::results::Ratio>| {
            r.map_or(String::new(), |r| format!("{:.2}x", r.value))
        };
        let cells = [
            point.key.variant.clone(),
            point.key.workload.clone(),
            point.key.build.clone(),
            point.key.threads.to_string(),
            table::rate(point.rows_per_s),
            format!("{:.1}", point.ns_per_row),
            ratio(table::scaling(results, point)),
            ratio(table::after_over(lesson, results, point)),
            point.first_row_ns.map_or(String::new(), table::time),
            table::mebibytes(point.peak_pss),
        ];
        let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        out += &format!("<tr>{cells}</tr>\n");
    }
    out + "</tbody></table>"
}
