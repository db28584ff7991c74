//! The attribute `#[needs(..)]` of tests that run programs which `./setup` alone does not install.

use proc_macro::{Group, TokenStream, TokenTree};

/// Names the programs of `tb/optional_tools` that a test runs, itself or by a command of ours: `#[needs(yosys, yosys-abc)]`, above
/// `#[test]`.
///
/// `cargo test` reports the test as ignored, with these names; a build with `RECONVERGE_ALL_TOOLS` set runs it. A test that
/// runs fails if one of them is missing, and finds no other: `tb/common/tool.rs`.
#[proc_macro_attribute]
pub fn needs(tools: TokenStream, test: TokenStream) -> TokenStream {
    let text = tools.to_string().replace(char::is_whitespace, "");
    let tools: Vec<&str> = text.split(',').collect();
    let mut test: Vec<TokenTree> = test.into_iter().collect();
    let has = |name: &str| {
        test.iter().any(|tree| match tree {
            TokenTree::Group(group) => match group.stream().into_iter().next() {
                Some(TokenTree::Ident(first)) => first.to_string() == name,
                _ => false,
            },
            _ => false,
        })
    };
    // Nothing can be added to what #[test] has already read.
    if !has("test") {
        return "compile_error!(\"#[needs(..)] stands above #[test]\");"
            .parse()
            .unwrap();
    }
    let mut all = TokenStream::new();
    // The test's own reason is the stronger one.
    if !has("ignore") {
        let reason = format!("needs {}: ./setup --all", tools.join(", "));
        let ignore = format!("#[cfg_attr(not(all_tools), ignore = {reason:?})]");
        all.extend(ignore.parse::<TokenStream>().unwrap());
    }
    if let Some(TokenTree::Group(body)) = test.pop() {
        let check = format!("let _needs = crate::common::tool::needs(&{tools:?});");
        let mut inside: TokenStream = check.parse().unwrap();
        inside.extend(body.stream());
        let mut with = Group::new(body.delimiter(), inside);
        with.set_span(body.span());
        test.push(TokenTree::Group(with));
    }
    all.extend(test);
    all
}
