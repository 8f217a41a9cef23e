"""One page as a browser reads it, and what each page must be on which people type passwords."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx2

from check import check, check_equal

Attributes = dict[str, str | None]


@dataclass
class Control:
    """An input, a list or a button of a form."""

    tag: str
    attributes: Attributes
    in_label: Label | None

    def get(self, name: str) -> str:
        return self.attributes.get(name) or ""

    @property
    def name(self) -> str:
        return self.get("name")

    @property
    def value(self) -> str:
        return self.attributes.get("value") or ("on" if self.kind in ("checkbox", "radio") else "")

    @property
    def kind(self) -> str:
        return self.get("type") or {"button": "submit", "input": "text"}.get(self.tag, self.tag)

    def is_typed_or_ticked(self) -> bool:
        """Whether a person fills it in, so that it needs a label."""
        shown = "hidden" not in self.attributes
        return shown and self.kind not in ("hidden", "submit", "button", "reset", "image")

    def is_sent(self, pressed: str) -> bool:
        if self.kind == "submit":
            return bool(self.name and pressed) and self.value == pressed
        return bool(self.name) and (self.kind not in ("checkbox", "radio") or "checked" in self.attributes)


@dataclass
class Label:
    of: str
    text: str = ""


@dataclass
class Form:
    method: str
    action: str
    hidden: bool
    """It waits for a script to show it."""
    controls: list[Control] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        return set(names) <= {control.name for control in self.controls}

    def filled(self, typed: dict[str, str], pressed: str = "") -> dict[str, str]:
        """What a browser sends: all as it stands but for what is typed, and the button that is pressed."""
        check(self.has(*typed), f"a form with {sorted(typed)}", self.controls)
        sent = {control.name: control.value for control in self.controls if control.is_sent(pressed)}
        check(not pressed or pressed in sent.values(), f"a button `{pressed}`", self.controls)
        return sent | typed


class Page(HTMLParser):
    """A page that was read, as a browser shows it that runs no scripts."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(convert_charrefs=True)
        self.url = str(response.url)
        self.forms: list[Form] = []
        self.labels: list[Label] = []
        self.controls: list[Control] = []
        self.links: list[str] = []
        self.scripts: list[str] = []
        self.elements: list[tuple[str, Attributes]] = []
        self.refresh: str | None = None
        self.texts: list[str] = []
        self.title = ""
        self._form: Form | None = None
        self._label: Label | None = None
        self._in: str | None = None
        self.feed(response.text)
        self.close()
        self.forms = [form for form in self.forms if not form.hidden]
        self._check_elements()
        self._check_headers(response.headers)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag == "form":
            method, action = attributes.get("method") or "get", attributes.get("action") or self.url
            self._form = Form(method.lower(), action, hidden="hidden" in attributes)
            self.forms.append(self._form)
        elif tag == "label":
            self._label = Label(attributes.get("for") or "")
            self.labels.append(self._label)
        elif tag in ("input", "select", "textarea", "button"):
            control = Control(tag, attributes, self._label)
            self.controls.append(control)
            if self._form:
                self._form.controls.append(control)
        elif tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"] or "")
        elif tag == "meta" and (attributes.get("http-equiv") or "").lower() == "refresh":
            after, _, target = (attributes.get("content") or "").partition(";")
            name, _, url = target.strip().partition("=")
            check(after.strip() == "0" and name.lower() == "url" and url, f"{self.url} to go on at once", attributes)
            self.refresh = url.strip()
        elif tag == "script":
            self.scripts.append(attributes.get("src") or "")
            self._in = tag
        elif tag == "title":
            self._in = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "label":
            self._label = None
        elif tag == self._in:
            self._in = None

    def handle_data(self, data: str) -> None:
        if self._in == "title":
            self.title += data
        elif self._in == "script":
            check(not data.strip(), f"{self.url} without scripts of its own text", data)
        else:
            self.texts.append(data)
        if self._label:
            self._label.text += data

    def _check_elements(self) -> None:
        for tag, attributes in self.elements:
            handlers = [name for name in attributes if name.startswith("on")]
            check(not handlers, f"{self.url} without handlers of events", (tag, handlers))
        bound = {label.of for label in self.labels if label.of and label.text.strip()}
        ids = [attributes["id"] for _, attributes in self.elements if attributes.get("id")]
        check_equal(len(set(ids)), len(ids), f"the number of ids of {self.url} that differ")
        for control in self.controls:
            if control.is_typed_or_ticked():
                around = control.in_label and control.in_label.text.strip()
                check(around or control.get("id") in bound, f"{self.url} with a label for each input", control)

    def _check_headers(self, headers: httpx2.Headers) -> None:
        told = dict(headers)
        check(headers.get("content-type", "").startswith("text/html"), f"{self.url} to be a page", told)
        check("no-store" in headers.get("cache-control", "").split(", "), f"{self.url} to be kept by no cache", told)
        policy: dict[str, list[str]] = {}
        for directive in filter(str.strip, headers.get("content-security-policy", "").split(";")):
            name, *sources = directive.split()
            policy.setdefault(name, sources)
        for name in ("frame-ancestors", "default-src", "base-uri"):
            check_equal(policy.get(name), ["'none'"], f"`{name}` of the policy of {self.url}")
        scripts = {name: sources for name, sources in policy.items() if name.startswith("script-src")}
        own = all(source.startswith("/") and not source.startswith("//") for source in self.scripts)
        check(own, f"{self.url} with scripts of its own server alone", self.scripts)
        expected = {"script-src": ["'self'"]} if self.scripts else {}
        check_equal(scripts, expected, f"what the policy of {self.url} says of scripts")
