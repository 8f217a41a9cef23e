//! Forms of a page of the authorization server's own, which are well formed: no page of anybody else's is read.

#[cfg(test)]
mod tests;

/// A page as far as somebody who signs in needs it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) title: String,
    /// Where it leads by itself.
    pub(super) refresh: Option<String>,
    pub(super) forms: Vec<Form>,
}

/// A form and where it is sent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) action: String,
    pub(super) fields: Vec<Field>,
}

/// An input or a button that has a name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: String,
    /// A box that is not ticked.
    pub(super) left_out: bool,
}

impl Form {
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }
}

impl Page {
    pub(super) fn read(text: &str) -> Self {
        let mut page = Self::default();
        for part in text.split('<').skip(1) {
            let (tag, after) = part.split_once('>').unwrap_or((part, ""));
            let name = tag.split_whitespace().next().unwrap_or_default();
            let attribute = |wanted: &str| attribute(tag, wanted);
            match name {
                "title" => page.title = unescaped(after),
                "meta" if attribute("http-equiv").as_deref() == Some("refresh") => {
                    let content = attribute("content").unwrap_or_default();
                    page.refresh = content.split_once("url=").map(|(_, url)| url.to_owned());
                }
                "form" => {
                    let action = attribute("action").unwrap_or_default();
                    page.forms.push(Form { action, fields: Vec::new() });
                }
                "input" | "button" => {
                    let Some((form, name)) = page.forms.last_mut().zip(attribute("name")) else { continue };
                    let is_box = attribute("type").as_deref() == Some("checkbox");
                    let left_out = is_box && !tag.split_whitespace().any(|word| word == "checked");
                    form.fields.push(Field { name, value: attribute("value").unwrap_or_default(), left_out });
                }
                _ => {}
            }
        }
        page
    }
}

/// The value of an attribute of a tag, `name="value"`.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, after) = tag.split_once(&format!(" {name}=\""))?;
    Some(unescaped(after.split('"').next()?))
}

fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}
