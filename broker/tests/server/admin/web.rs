//! The page for people: its files, and what a browser may do with them.

use super::http::get;
use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn the_page_names_only_files_that_there_are_and_lets_nothing_else_in() {
    let world = World::with_admin(&[]).await;
    let page = get(world.admin(), "/").await;
    assert_eq!(page.status, 200, "{}", page.body);
    for wanted in ["content-type: text/html", "default-src 'none'", "nosniff"] {
        assert!(page.head.contains(wanted), "{wanted}: {}", page.head);
    }
    let named = page.body.split('"').filter(|text| text.starts_with("web/"));
    let mut left: Vec<String> = named.map(str::to_owned).collect();
    let mut seen = 0;
    while let Some(path) = left.pop() {
        let file = get(world.admin(), &format!("/{path}")).await;
        assert_eq!(file.status, 200, "{path}");
        assert!(!file.body.contains("https://"), "{path} names another host");
        seen += 1;
        if path == "web/page.js" {
            let imports = file.body.split('"').filter_map(|text| text.strip_prefix("./"));
            left.extend(imports.map(|name| format!("web/{name}")));
        }
    }
    assert_eq!(seen, 8, "icon, style, page.js and what it imports");
    assert_eq!(get(world.admin(), "/web/none.js").await.status, 404);
}
