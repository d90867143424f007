//! Every link of the built book leads to a page that exists and to an id that is on it, and no
//! table has swallowed the page after it (an unclosed cell does).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use scraper::{Html, Selector};
use walkdir::WalkDir;

struct Page {
    ids: BTreeSet<String>,
    links: Vec<String>,
    /// Elements of a page's flow that are inside a table.
    swallowed: usize,
}

/// Gives the number of links; an error lists the broken ones, page by page.
pub fn check(folder: &Path) -> Result<usize> {
    let mut pages = BTreeMap::new();
    for entry in WalkDir::new(folder) {
        let entry = entry?;
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "html") {
            pages.insert(path.to_owned(), read(&std::fs::read_to_string(path)?));
        }
    }
    let mut broken = Vec::new();
    let mut count = 0;
    for (path, page) in &pages {
        // These two are made by mdBook: one holds every chapter again, one is served from anywhere.
        if path.ends_with("print.html") || path.ends_with("404.html") {
            continue;
        }
        for link in &page.links {
            count += 1;
            if let Some(why) = broken_link(path, link, &pages) {
                let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
                broken.push(format!("{name}: {link} {why}"));
            }
        }
        if page.swallowed > 0 {
            let name = path.strip_prefix(folder).unwrap_or(path).display();
            bail!(
                "{name}: {} figures, headings or code blocks are in a table cell that is not closed",
                page.swallowed
            );
        }
    }
    if !broken.is_empty() {
        bail!("{} broken links:\n{}", broken.len(), broken.join("\n"));
    }
    Ok(count)
}

fn read(html: &str) -> Page {
    let document = Html::parse_document(html);
    let attribute = |selector: &str, name: &str| -> Vec<String> {
        let selector = Selector::parse(selector).expect("the selectors are constants");
        document.select(&selector).filter_map(|e| e.value().attr(name).map(String::from)).collect()
    };
    let mut links = attribute("a[href]", "href");
    links.extend(attribute("img[src]", "src"));
    let flow = Selector::parse("table figure, table h2, table h3, table pre, table table")
        .expect("the selectors are constants");
    let swallowed = document.select(&flow).count();
    Page { ids: attribute("[id]", "id").into_iter().collect(), links, swallowed }
}

fn broken_link(from: &Path, link: &str, pages: &BTreeMap<PathBuf, Page>) -> Option<String> {
    if link.starts_with("http://") || link.starts_with("https://") || link.starts_with("mailto:") {
        return None; // checked by readers, not offline
    }
    let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() {
        from.to_owned()
    } else {
        let mut path = from.parent().unwrap_or(Path::new("")).to_owned();
        for part in Path::new(file).components() {
            match part {
                std::path::Component::ParentDir => drop(path.pop()),
                other => path.push(other),
            }
        }
        path
    };
    let Some(page) = pages.get(&target) else {
        return (!target.is_file()).then(|| "leads to no file".into());
    };
    (!fragment.is_empty() && !page.ids.contains(fragment)).then(|| "leads to no such id".into())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_link_needs_its_page_and_its_id() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write("a.html", "<h1 id=top>A</h1><a href='b.html#one'>b</a><a href='#top'>up</a>");
        write(
            "b.html",
            "<h2 id=one>B</h2><img src='c.svg'><a href='https://example.org/x#y'>x</a>",
        );
        write("c.svg", "<svg/>");
        assert_eq!(check(dir.path()).unwrap(), 4);
        write("b.html", "<h2 id=two>B</h2><a href='absent.html'>x</a>");
        let error = format!("{:#}", check(dir.path()).unwrap_err());
        assert!(error.contains("2 broken links"), "{error}");
        assert!(error.contains("a.html: b.html#one leads to no such id"), "{error}");
        assert!(error.contains("b.html: absent.html leads to no file"), "{error}");
    }

    #[test]
    fn a_table_that_is_not_closed_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let page = |text: &str| std::fs::write(dir.path().join("a.html"), text).unwrap();
        page("<table><tr><td>1</td></tr></table><h2 id=x>after</h2><figure></figure>");
        assert_eq!(check(dir.path()).unwrap(), 0);
        page("<table><tr><td>1<div><h2 id=x>after</h2><figure></figure></div></td></tr></table>");
        let error = format!("{:#}", check(dir.path()).unwrap_err());
        assert!(error.contains("a.html: 2 figures, headings or code blocks"), "{error}");
    }
}
